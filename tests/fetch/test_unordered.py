"""`unordered`: results as they come, from a few threads, over items that are taken as needed."""

from __future__ import annotations

import threading
from itertools import count

import pytest

from tfstream.fetch.unordered import unordered


def running():
    """The threads of this kind."""
    return [each for each in threading.enumerate() if each.name.startswith("tfstream-unordered-")]


def ended():
    """Whether all of them end."""
    for each in running():
        each.join(20)
    return running() == []


@pytest.mark.parametrize("items", [0, 1, 3, 1000])
def test_all_results(items):
    """There is one result for each item, and afterwards there are no threads."""
    assert [2 * item for item in range(items)] == sorted(
        unordered(lambda item: 2 * item, range(items), threads=3)
    )
    assert ended()


def test_as_they_come():
    """A result comes before that of an earlier item that takes longer."""
    gate = threading.Event()

    def job(item):
        assert item != 0 or gate.wait(20)
        return item

    results = unordered(job, range(5), threads=2)
    first = [next(results) for _ in range(4)]
    gate.set()
    assert ([1, 2, 3, 4], [0]) == (sorted(first), list(results))


def test_so_many_threads():
    """All threads work at the same time, and no more."""
    together = threading.Barrier(4)
    assert [0] * 8 == [0 for _ in unordered(lambda _: together.wait(20), range(8), threads=4)]


def test_items_are_taken_as_needed():
    """Of endless items only as many are taken as results are wanted, and a few for each thread."""
    numbers = count()
    results = unordered(lambda item: item, numbers, threads=3)
    assert 10 == len([next(results) for _ in range(10)])
    results.close()
    assert ended()
    assert next(numbers) <= 10 + 3 * 3


def test_an_error_ends_it():
    """What the function raises comes out, and no more items are taken."""

    def job(item):
        if item == 5:
            raise KeyError(item)
        return item

    numbers = count()
    with pytest.raises(KeyError, match="5"):
        for _ in unordered(job, numbers, threads=1):
            pass
    assert ended()
    assert next(numbers) <= 5 + 1 + 3


def test_an_error_of_the_items_ends_it():
    """So does what comes instead of the next item."""

    def items():
        yield 1
        raise OSError("no more")

    results = unordered(lambda item: item, items(), threads=2)
    assert 1 == next(results)
    with pytest.raises(OSError, match="no more"):
        next(results)
    assert ended()


def test_nobody_looks():
    """Left in the middle, it ends its threads although nobody takes their results."""
    results = unordered(lambda item: item, count(), threads=4)
    next(results)
    results.close()
    assert ended()
