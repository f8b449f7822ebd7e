"""Shards: each is read once, kept while there is room, and never trusted."""

from __future__ import annotations

import gc
import gzip
import struct
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tfstream.errors import RetriesExhaustedError, ShardError
from tfstream.fetch.columns import Objects
from tfstream.fetch.lifetime import ShuttingDownError
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.shards import ShardCache, shard_cache
from tfstream.fetch.stats import FailedKeys
from tfstream.options import ReadOptions

RECORDS, WIDTH = 10, 100
SIZE = RECORDS * WIDTH


def idx(values):
    """An IDX file of bytes."""
    values = np.asarray(values, np.uint8)
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def images(shard):
    return (np.arange(SIZE).reshape(RECORDS, WIDTH) + shard) % 251


class Shards:
    """Some shards of ten records of 100 bytes, and how often each was read."""

    def __init__(self, files, count, *, labels=False, budget_bytes=1 << 20, attempts=1):
        self.files = files
        for shard in range(count):
            files.put_all(f"{shard}-images", data=gzip.compress(idx(images(shard))))
            files.put_all(f"{shard}-labels", data=idx(np.arange(RECORDS) + shard))
        options = ReadOptions(budget_bytes=budget_bytes, attempts=attempts, backoff=0)
        self.reading = files.reading(options=options)
        listed = {info.path: info for info in self.reading.store.list_page("").objects}
        self.manifest = Manifest(
            Objects.of([listed[f"{shard}-images"] for shard in range(count)]),
            records=np.full(count, RECORDS, np.int64),
            partners=Objects.of([listed[f"{shard}-labels"] for shard in range(count)])
            if labels
            else None,
        )
        self.cache = ShardCache(self.reading, self.manifest)

    def reads(self, shard):
        return self.files.reads.count(f"/data/{shard}-images")

    def get(self, *records):
        data, labels = self.cache.records(np.array(records))
        return np.frombuffer(data, np.uint8).reshape(len(records), WIDTH), labels


@pytest.fixture(autouse=True)
def own_budget(budget):
    """Each test has a budget of its own."""
    return budget


def test_records_in_any_order(files):
    """Records come in the order asked for, from several shards, also the same one twice."""
    shards = Shards(files, 3, labels=True)
    wanted = [25, 3, 10, 9, 29, 3]
    data, labels = shards.get(*wanted)
    expected = [images(record // RECORDS)[record % RECORDS] for record in wanted]
    assert np.array(expected, np.uint8).tolist() == data.tolist()
    assert [record // RECORDS + record % RECORDS for record in wanted] == labels.tolist()
    assert labels.dtype == np.int32


def test_without_labels(files):
    """Without labels files the labels are zeros."""
    assert [0, 0] == Shards(files, 1).get(1, 2)[1].tolist()


def test_each_is_read_once(files):
    """Many calls at once for the same shards read each of them once."""
    shards = Shards(files, 4)
    together = threading.Barrier(8)

    def call(_):
        together.wait(20)
        return shards.get(*range(0, 40, 3))[0].tolist()

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(call, range(8)))
    assert [found[0]] * 8 == found
    assert [1, 1, 1, 1] == [shards.reads(shard) for shard in range(4)]
    stats = shards.reading.counts.snapshot()
    assert (4, 28) == (stats.objects, stats.cache_hits)


def test_the_least_recently_used_goes(files, own_budget):
    """What is kept fits in half of the budget; the shard that waited longest is read again."""
    shards = Shards(files, 4, budget_bytes=2 * 3 * SIZE)
    for record in (0, 10, 20, 5):  # shards 0, 1, 2, and 0 again
        shards.get(record)
    assert own_budget.kept == 3 * SIZE
    shards.get(30)
    assert own_budget.kept == 3 * SIZE
    shards.get(0)
    shards.get(20)
    assert [1, 1, 1, 1] == [shards.reads(shard) for shard in range(4)]
    shards.get(10)
    assert shards.reads(1) == 2


def test_never_more_than_half(files, own_budget):
    """Whatever is asked for, what is kept stays within half of the budget."""
    shards = Shards(files, 12, budget_bytes=2 * 3 * SIZE)
    random = np.random.default_rng(0)
    for _ in range(200):
        shards.get(*random.integers(0, 12 * RECORDS, 3))
        assert own_budget.kept <= 3 * SIZE
        assert own_budget.used == 0


def test_a_shard_larger_than_that(files, own_budget):
    """One shard is kept in any case: else it would be read for each call."""
    shards = Shards(files, 2, budget_bytes=10)
    for _ in range(3):
        shards.get(1)
    assert shards.reads(0) == 1
    shards.get(11)
    assert own_budget.kept == SIZE


def test_nothing_is_held_after_its_dataset(files, own_budget):
    """When a dataset is gone, its shards are, and their share of the budget is free."""
    shards = Shards(files, 3)
    shards.get(0, 10, 20)
    assert own_budget.kept == 3 * SIZE
    del shards
    gc.collect()
    assert own_budget.kept == 0


def test_both_parts_of_a_split(files):
    """Datasets of one listing with the same way to read share what is unpacked."""
    shards = Shards(files, 2)
    same = Manifest(shards.manifest.objects, records=shards.manifest.records)
    cache = shard_cache(shards.reading, shards.manifest)
    assert cache is shard_cache(shards.reading, same)
    less = Manifest(Objects.of(shards.manifest.objects[:1]), records=same.records[:1])
    assert cache is not shard_cache(shards.reading, less)
    assert cache is not shard_cache(files.reading(), same)


def test_a_failed_load(files):
    """A shard that could not be read is tried again by the next call."""
    shards = Shards(files, 1)
    files.meets = lambda path: (_ for _ in ()).throw(ConnectionResetError())
    with pytest.raises(RetriesExhaustedError, match="mine://data/0-images"):
        shards.get(0)
    files.meets = lambda path: None
    assert images(0)[0].tolist() == shards.get(0)[0][0].tolist()


def test_a_failed_load_that_others_wait_for(files):
    """All calls that wait for a shard get its error; none waits for ever."""
    shards = Shards(files, 2)
    reading, leave = threading.Event(), threading.Event()

    def meets(path):
        reading.set()
        assert leave.wait(20)
        raise ConnectionResetError

    files.meets = meets
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(shards.get, 0, 10) for _ in range(4)]
        assert reading.wait(20)
        leave.set()
        for call in calls:
            assert isinstance(call.exception(20), RetriesExhaustedError)


def test_one_of_two_fails(files):
    """A shard that was read beside one that failed is kept."""
    shards = Shards(files, 2)
    files.put_all("0-images", data=b"x" * shards.manifest.objects[0].size)
    for _ in range(2):
        with pytest.raises(ShardError, match="0-images"):
            shards.get(0, 10)
    assert images(1)[0].tolist() == shards.get(10)[0][0].tolist()
    assert (2, 1) == (shards.reads(0), shards.reads(1))


@pytest.mark.parametrize("records", [9, 11])
def test_another_number_of_records(files, records):
    """A shard of more or fewer records than were pinned is an error with both numbers."""
    shards = Shards(files, 1)
    shards.manifest.records[0] = records
    cache = ShardCache(shards.reading, shards.manifest)
    with pytest.raises(ShardError, match=rf"0-images: has 10 records where {records} belong"):
        cache.records(np.array([0]))


def test_another_number_of_labels(files):
    """So are labels that are not as many as the records."""
    shards = Shards(files, 1)
    files.put_all("0-labels", data=idx(np.arange(RECORDS - 1)))
    partner = shards.reading.store.list_page("0-labels").objects[0]
    manifest = Manifest(
        shards.manifest.objects, records=shards.manifest.records, partners=Objects.of([partner])
    )
    with pytest.raises(ShardError, match=r"0-labels: has 9 records where 10 belong"):
        ShardCache(shards.reading, manifest).records(np.array([0]))


def test_a_truncated_shard(files):
    """A shard that is cut is named with its URL and the offset, and counted."""
    files.put_all("0-images", data=gzip.compress(idx(images(0)))[:-20])
    reading = files.reading("0-images")
    info = reading.store.list_page("0-images").objects[0]
    manifest = Manifest(Objects.of([info]), records=np.array([RECORDS]))
    with pytest.raises(ShardError, match="mine://data/0-images: truncated") as error:
        ShardCache(reading, manifest).records(np.array([0]))
    assert (info.path, info.size) == (error.value.path, error.value.offset)
    assert {"ShardError": FailedKeys([info.path])} == reading.counts.snapshot().errors


def test_names_of_records(files):
    """A record is named by its shard and its number there."""
    cache = Shards(files, 2).cache
    assert cache.url(0) == "mine://data/0-images record 0"
    assert cache.url(17) == "mine://data/1-images record 7"


def test_the_end_of_the_process(files, closing):
    """Who reads a shard and who waits for another's reading ends when the interpreter does."""
    shards = Shards(files, 1)
    reading, leave = threading.Event(), threading.Event()

    def meets(path):
        reading.set()
        assert leave.wait(20)

    files.meets = meets
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(shards.get, 0)
        assert reading.wait(20)
        second = threads.submit(shards.get, 0)
        closing.set()
        for call in (first, second):
            assert isinstance(call.exception(20), ShuttingDownError)
        leave.set()


@pytest.mark.slow
def test_memory(files):
    """Unpacking takes the packed bytes, the unpacked ones once, and a few megabytes."""
    size = 40_000_000
    noise = np.random.default_rng(0).integers(0, 255, size // 8, np.uint8)
    packed = gzip.compress(idx(np.tile(noise, 8).reshape(1000, -1)), 1)
    files.put_all("0-images", data=packed)
    del noise
    reading = files.reading("0-images", ReadOptions(budget_bytes=10 * size))
    info = reading.store.list_page("0-images").objects[0]
    cache = ShardCache(reading, Manifest(Objects.of([info]), records=np.array([1000])))
    tracemalloc.start()
    try:
        cache.records(np.array([0, 999]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < size + len(packed) + 5_000_000
