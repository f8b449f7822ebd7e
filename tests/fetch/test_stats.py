"""Statistics: exact with many threads, and a snapshot that stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import pytest

from tfstream.fetch.stats import Counts, Stats


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
    counts.error("503")
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
        errors={"503": 1},
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

    def work(_):
        counts.request(repeat=True)
        counts.read(size=3, seconds=1)
        counts.error("503")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(2000)))
    stats = counts.snapshot()
    assert (2000, 2000, 2000, 6000) == (stats.requests, stats.retries, stats.objects, stats.bytes)
    assert ({"503": 2000}, 2000.0) == (stats.errors, stats.reading_seconds)
