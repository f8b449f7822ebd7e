"""How many requests a dataset makes: no more than it must, and together where it can."""

from __future__ import annotations

import threading

import pytest
from places import classes, examples, expected, gray_idx, picture

from tfstream import ReadOptions
from tfstream.testing.proxy import Fault


def test_one_request_for_each_picture(place):
    """After the listing each epoch makes one request for each picture, and no others."""
    place.put(classes(2))
    data = place.open("train/**")
    for _ in range(2):
        place.proxy.clear()
        assert expected(2) == sorted(examples(data))
        assert 8 == len(place.reads()) == len(place.proxy.requests)
    stats = data.stats()
    assert (16, 0, 0, {}) == (stats.objects, stats.retries, stats.cache_hits, stats.errors)
    assert 2 * sum(map(len, classes(2).values())) == stats.bytes


@pytest.mark.slow
def test_a_shard_is_read_once(place):
    """A shard that fits into memory is read by one request for all epochs; so are its labels."""
    images, labels = gray_idx([0, 1, 50, 51])
    place.put({"t-images-idx3-ubyte.gz": images, "t-labels-idx1-ubyte.gz": labels})
    data = place.open("t-*", image_size=None)
    place.proxy.clear()
    assert [[(0, 0), (1, 0), (50, 1), (51, 1)]] * 2 == [sorted(examples(data)) for _ in range(2)]
    assert 2 == len(place.proxy.requests)


def test_the_prefix_is_pushed_down(place):
    """The server is asked for what begins with the pattern's literal text, not for everything."""
    place.put({**classes(2), "other/0.png": picture(0)})
    place.open("train/**/*.png")
    (listing,) = place.listings()
    assert "prefix=train%2F" in listing.target


@pytest.mark.slow
def test_pages_of_a_listing(many):
    """2,500 objects are listed by three requests, and none is lost."""
    many.proxy.clear()
    data = many.open("many/**", labels=None, shuffle=False, batch_size=500)
    assert 3 == len(many.listings())
    assert [f"many/{number:04}.png" for number in range(2500)] == data.file_paths
    assert 5 == len(data)


@pytest.mark.slow
def test_the_first_batch_comes_in_three_rounds(place):
    """After the listing's last page come at most two single requests, then the batch at once."""
    place.put(classes(2, 16))
    options = ReadOptions(attempts=1, read_timeout=20)
    data = place.open("train/**", batch_size=32, options=options)
    after = place.proxy.requests[place.proxy.requests.index(place.listings()[-1]) + 1 :]
    assert len(after) <= 2
    place.proxy.clear()
    place.proxy.add(Fault("delay", match=place.is_read, times=None, seconds=3))
    batches = []
    reader = threading.Thread(target=lambda: batches.extend(data.take(1)))
    reader.start()
    place.proxy.wait_for(32)
    answered = [request for request in place.proxy.requests if request.status is not None]
    reader.join()
    assert [] == answered  # so all 32 were asked for before the first answer
    assert 32 == len(place.reads()) == len(place.proxy.requests)
    assert [32] == [len(images) for images, _ in batches]
