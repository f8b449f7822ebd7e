"""Statistics: exact with many threads, and a snapshot that stays."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError

import pytest

from tfstream.fetch.stats import Counts, FailedKeys, Stats


def test_nothing_yet():
    """A dataset that has read nothing has zeros."""
    assert Stats() == Counts().snapshot()


def test_each_count():
    """Each event is counted where it belongs."""
    counts = Counts()
    counts.read(size=10, seconds=0.5)
    counts.read(size=20, seconds=0.25)
    counts.waited(2.0)
    counts.request(repeat=False)
    counts.request(repeat=True)
    counts.hit()
    counts.error("503", "a/x.jpg")
    counts.leave_out({"hidden": 2})
    counts.leave_out({"hidden": 1, "ignored": 1})
    counts.decoded({"jpeg": 3, "pillow": 1})
    counts.decoded({"jpeg": -1, "pillow": 1})
    expected = Stats(
        objects=2,
        bytes=30,
        requests=2,
        retries=1,
        cache_hits=1,
        errors={"503": FailedKeys(("a/x.jpg",))},
        left_out={"hidden": 3, "ignored": 1},
        decode_paths={"jpeg": 2, "pillow": 2},
        waiting_seconds=2.0,
        reading_seconds=0.75,
    )
    assert expected == counts.snapshot()


def test_a_snapshot_stays():
    """What is counted later does not change a snapshot, and nobody else can."""
    counts = Counts()
    before = counts.snapshot()
    counts.error("503")
    counts.read(size=1, seconds=0)
    assert Stats() == before
    with pytest.raises(FrozenInstanceError):
        before.objects = 7


def test_many_threads():
    """No event is lost when many threads count."""
    counts = Counts()

    def work(number):
        counts.request(repeat=True)
        counts.read(size=3, seconds=1)
        counts.error("503", f"{number % 3}.jpg")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(2000)))
    stats = counts.snapshot()
    assert (2000, 2000, 2000, 6000) == (stats.requests, stats.retries, stats.objects, stats.bytes)
    assert (2000, 2000.0) == (stats.errors["503"].total, stats.reading_seconds)
    assert ["0.jpg", "1.jpg", "2.jpg"] == sorted(stats.errors["503"])


def test_the_first_ten_keys_are_kept():
    """Each once, in the order in which they failed first; the total counts on."""
    counts = Counts()
    for number in (*range(12), 3, 11):
        counts.error("timeout", f"{number}.jpg")
    expected = FailedKeys([f"{number}.jpg" for number in range(10)], total=14)
    assert {"timeout": expected} == counts.snapshot().errors


@pytest.mark.parametrize("key", [None, ""])
def test_what_has_no_key_is_counted(key):
    """A request that is for no object has a total only."""
    counts = Counts()
    counts.error("503", key)
    assert {"503": FailedKeys((), total=1)} == counts.snapshot().errors


def test_failed_keys_are_a_tuple_with_a_total():
    """They compare with tuples by their keys, and with each other by both."""
    keys = FailedKeys(["a", "b"], total=7)
    assert ("a", "b") == keys
    assert keys != FailedKeys(["a", "b"])
    assert keys != ("a",)
    assert keys != 7
    assert hash(keys) == hash(("a", "b"))
    assert "FailedKeys(('a', 'b'), total=7)" == repr(keys)


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda keys: pickle.loads(pickle.dumps(keys))])
def test_failed_keys_can_be_copied(copied):
    """And sent to another process, with their total."""
    keys = FailedKeys(["a", "b"], total=7)
    assert keys == copied(keys)
    assert 7 == copied(keys).total
