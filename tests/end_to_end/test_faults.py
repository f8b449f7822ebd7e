"""What goes wrong on the way: mended within the limits, or an error within bounded time."""

from __future__ import annotations

import gc
import gzip
import weakref
from collections import Counter
from pathlib import Path

import pytest
from places import classes, examples, expected, gray_idx, picture, values

from tfstream import (
    ObjectGoneError,
    ReadOptions,
    RefNotFoundError,
    RetriesExhaustedError,
    SourceError,
)
from tfstream.fetch.stats import FailedKeys
from tfstream.testing.proxy import Fault

KEY = "train/1/2.png"
PATIENT = ReadOptions(attempts=4, backoff=0.001, backoff_max=0.01, read_timeout=10)
FAULTS = [
    ("reset", {}, "connection"),
    ("cut", {"after": 9}, "cut body"),
    ("length", {"by": -3}, "cut body"),
    ("length", {"by": 3}, "cut body"),
    ("status", {"status": 429}, "429"),
    ("status", {"status": 500}, "500"),
    ("status", {"status": 502}, "502"),
    ("status", {"status": 503}, "503"),
    ("status", {"status": 504}, "504"),
]


@pytest.mark.slow
def test_what_passes_is_mended(place):
    """Each kind of fault, three times for one object, loses nothing and is counted by kind."""
    place.put(classes(2))
    data, total = place.open("train/**", options=PATIENT), Counter()
    for kind, fields, counted in FAULTS:
        place.proxy.clear()
        place.proxy.add(place.fault(kind, KEY, times=3, **fields))
        assert expected(2) == sorted(examples(data)), kind
        total[counted] += 3
        named = {name: FailedKeys([KEY], total=count) for name, count in total.items()}
        assert (total.total(), named) == (data.stats().retries, data.stats().errors), kind
        assert 8 + 3 == len(place.reads())


@pytest.mark.slow
def test_what_stays_is_an_error(place):
    """A fault without end is `RetriesExhaustedError` after so many attempts, with the cause."""
    place.put(classes(2))
    for kind, fields, counted in [*FAULTS[:2], FAULTS[-2]]:
        data = place.open("train/**")
        place.proxy.clear()
        place.proxy.add(place.fault(kind, KEY, times=None, **fields))
        with pytest.raises(RetriesExhaustedError, match=rf"{KEY}: gave up after 3 att") as error:
            examples(data)
        assert (KEY, 3) == (error.value.path, error.value.attempts)
        assert 0 < error.value.seconds < 60
        assert counted == error.value.__cause__.kind
        assert str(error.value.__cause__) in str(error.value)
        assert 3 == sum(request.fault == kind for request in place.reads())


@pytest.mark.slow
def test_a_server_that_hangs(place):
    """Where no answer comes, each attempt ends by the read timeout."""
    place.put(classes(2))
    data = place.open("train/**").with_read_options(
        ReadOptions(attempts=2, backoff=0, read_timeout=0.4)
    )
    place.proxy.add(Fault("hang", match=place.is_read, times=None))
    with pytest.raises(RetriesExhaustedError, match="gave up after 2 attempts") as error:
        examples(data)
    assert "timeout" == error.value.__cause__.kind
    assert 0.8 <= error.value.seconds < 60


def test_an_error_keeps_nothing_alive(place):
    """What the code that met an error had in its hands is free again when the error is."""

    class Held:
        """Something large."""

    def read(data, held):
        with pytest.raises(RetriesExhaustedError):
            examples(data)
        return weakref.ref(held)

    place.put({"train/0/0.png": picture(0), "train/1/1.png": picture(50)})
    place.proxy.add(Fault("reset", match=place.is_read, times=None))
    last = read(place.open("train/**"), Held())
    gc.collect()
    assert last() is None


def test_a_closed_port(place):
    """Where nobody listens, making a dataset ends after its attempts and says where it looked."""
    options = ReadOptions(attempts=2, backoff=0, connect_timeout=2, read_timeout=2)
    with pytest.raises(RetriesExhaustedError, match=f"{place.name}.* after 2 attempts in") as error:
        place.open("train/**", endpoint="http://127.0.0.1:1", options=options)
    assert 2 == error.value.attempts
    assert "connection" == error.value.__cause__.kind


def test_the_server_is_given_the_time_it_asks_for(place, monkeypatch):
    """`Retry-After` is waited for, where it is longer than the back-off and not too long."""
    waits = []
    monkeypatch.setattr("tfstream.fetch.retry.pause", waits.append)
    place.put({KEY: picture(0)})
    options = ReadOptions(attempts=5, backoff=0.001, backoff_max=50)
    data = place.open("train/**", labels=None, options=options)
    for seconds in ("7", "99"):
        place.proxy.add(place.fault("status", KEY, status=429, retry_after=seconds, times=2))
    assert [0] == values(data)
    assert [7, 50, 50] == waits[1:]  # the first answer came to obstore, which tells no headers


@pytest.mark.slow
def test_a_listing_is_tried_again(place):
    """Faults while a dataset is made are mended as those of objects are."""
    place.put(classes(2))
    for fault in (
        Fault("reset", match=place.is_listing),
        Fault("status", match=place.is_listing, status=503),
        Fault("cut", match=place.is_listing, after=40),
    ):
        place.proxy.clear()
        place.proxy.add(fault)
        data = place.open("train/**", options=PATIENT)
        assert expected(2) == sorted(examples(data))
        assert 1 == data.stats().retries
        assert 2 == len(place.listings())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reset", "status", "cut", "html"])
def test_a_listing_that_breaks_off(many, kind):
    """A page that cannot be had is an error, never a shorter dataset."""
    many.proxy.clear()
    many.proxy.add(Fault(kind, match=many.is_listing, skip=1, times=None, after=99))
    final = many.store == "lakefs" and kind == "html"  # a page for people: no lakeFS, no retry
    with pytest.raises(SourceError if final else RetriesExhaustedError):
        many.open("many/*.png", labels=None)
    assert (2 if final else 4) == len(many.listings())


def test_a_ref_that_cannot_be(lakefs_place):
    """lakeFS answers 500 to an invalid ref: that is asked for once, and is no fault."""
    with pytest.raises(RefNotFoundError, match="main~x"):
        lakefs_place.open(ref="main~x")
    asked = [request for request in lakefs_place.proxy.requests if "/commits/" in request.target]
    assert [500] == [request.status for request in asked]


def test_ranges_that_are_ignored(place):
    """A server that answers a part with the whole object changes nothing."""
    images, labels = gray_idx([0, 1, 50, 51])
    place.put({"t-images-idx3-ubyte": gzip.decompress(images), "t-labels-idx1-ubyte.gz": labels})
    place.proxy.add(place.ignored_ranges("t-images-idx3-ubyte", gzip.decompress(images)))
    data = place.open("t-*", image_size=None)
    assert [(0, 0), (1, 0), (50, 1), (51, 1)] == sorted(examples(data))
    assert "ignore_range" in {request.fault for request in place.reads()}


@pytest.mark.parametrize("key", [KEY, "train/1//odd.png"])
def test_collected_garbage(lakefs_place, key):
    """An object whose data lakeFS no longer has is `ObjectGoneError`, at once, by either way."""
    lakefs_place.put({key: picture(0)})
    data = lakefs_place.open("train/**", labels=None)
    stat = lakefs_place.server.request(
        "GET", f"/repositories/{lakefs_place.name}/refs/main/objects/stat", query={"path": key}
    )
    Path(stat["physical_address"].removeprefix("local://")).unlink()
    with pytest.raises(ObjectGoneError, match=f"{data.commit}/{key}") as error:
        values(data)
    assert key == error.value.path
    assert {"ObjectGoneError": FailedKeys([key])} == data.stats().errors
