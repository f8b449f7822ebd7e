"""
Shards of fixed-length records: what they hold, and the unpacked ones that are kept.

A gzip'd shard cannot be entered in the middle, so it is unpacked whole and kept while there
is room: at most half of the process's byte budget, the least recently used go first.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from tfstream.errors import ShardError
from tfstream.fetch.budget import process_budget
from tfstream.fetch.lifetime import pause
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.reading import Reading
from tfstream.forks import Lock, after_fork
from tfstream.readers.idx import IdxHeader, label_values, unpack
from tfstream.sources.base import ObjectInfo

Array = np.ndarray[Any, np.dtype[Any]]
_TURN_SECONDS = 0.1
"""How often a waiting call looks whether the process ends."""


class Shard(NamedTuple):
    """
    One shard, unpacked.

    Fields:
        records: uint8 of shape (records, bytes of one).
        labels: int32, one a record; None where there are none.
    """

    records: Array
    labels: Array | None


class ShardCache:
    """The shards of one dataset, by their row in the manifest."""

    def __init__(self, reading: Reading, manifest: Manifest) -> None:
        if manifest.records is None:
            raise ValueError("a manifest of shards has their record counts")
        self._reading = reading
        self._manifest = manifest
        self._ends = np.cumsum(manifest.records)
        self._shards: OrderedDict[int, Future[Shard]] = OrderedDict()
        self._renew()
        after_fork(self._renew)
        self._kept: dict[int, int] = {}
        weakref.finalize(self, _forget, self._kept).atexit = False

    def _renew(self) -> None:
        """Without what is being read: in a forked process nobody does."""
        self._lock = threading.Lock()
        done = [(row, future) for row, future in self._shards.items() if future.done()]
        self._shards = OrderedDict(done)

    def records(self, records: Array) -> tuple[bytes, Array]:
        """
        So many records as one run of bytes, and their labels as int32.

        Errors:
            SourceError, ShardError: a shard cannot be read, or is not what it says.
        """
        rows = np.searchsorted(self._ends, records, side="right")
        offsets = records - (self._ends[rows] - self._counts[rows])
        wanted = [int(row) for row in np.unique(rows)]
        shards = dict(zip(wanted, self._shards_at(wanted), strict=True))
        width = max(shard.records.shape[1] for shard in shards.values())
        data = np.empty((len(records), width), np.uint8)
        labels = np.zeros(len(records), np.int32)
        for row, shard in shards.items():
            here = rows == row
            data[here] = shard.records[offsets[here]]
            if shard.labels is not None:
                labels[here] = shard.labels[offsets[here]]
        return data.tobytes(), labels

    def url(self, record: int) -> str:
        """The record as people write it: its shard, and its number there."""
        row = int(np.searchsorted(self._ends, record, side="right"))
        first = int(self._ends[row] - self._counts[row])
        url = self._reading.source.url(self._manifest.objects.paths[row])
        return f"{url} record {record - first}"

    @property
    def _counts(self) -> Array:
        counts: Array = self._manifest.records  # type: ignore[assignment]
        return counts

    def _shards_at(self, rows: Sequence[int]) -> list[Shard]:
        """Unpacked shards; each is read by whoever asks first, the others wait for that."""
        mine: list[int] = []
        with self._lock:
            for row in rows:
                if row not in self._shards:
                    self._shards[row] = Future()
                    mine.append(row)
                else:
                    self._reading.counts.hit()
                self._shards.move_to_end(row)
            futures = [self._shards[row] for row in rows]
        self._reading.workers.run([partial(self._load, row) for row in mine])
        while wait(futures, _TURN_SECONDS).not_done:
            pause(0)
        return [future.result() for future in futures]

    def _load(self, row: int) -> None:
        future = self._shards[row]
        try:
            shard = self._read(row)
        except BaseException as error:
            with self._lock:  # the next one who asks tries again
                del self._shards[row]
            future.set_exception(error)
            return
        future.set_result(shard)
        with self._lock:
            self._kept[row] = shard.records.nbytes
            process_budget().keep(shard.records.nbytes)
            self._make_room()

    def _read(self, row: int) -> Shard:
        info = self._manifest.objects[row]
        count = int(self._counts[row])
        asked = time.monotonic()
        with process_budget().reserved(info.size):
            self._reading.counts.waited(time.monotonic() - asked)
            header, data = unpacked(self._reading, info)
        _same_count(self._reading, info, header.records, count)
        records = np.frombuffer(data, np.uint8).reshape(count, header.record_bytes)
        partners = self._manifest.partners
        if partners is None:
            return Shard(records, None)
        labels = labels_of(self._reading, partners[row])
        _same_count(self._reading, partners[row], len(labels), count)
        return Shard(records, labels)

    def _make_room(self) -> None:
        room = process_budget().total // 2
        while sum(self._kept.values()) > room and len(self._kept) > 1:
            oldest = next(row for row in self._shards if row in self._kept)
            del self._shards[oldest]
            process_budget().keep(-self._kept.pop(oldest))


_caches: WeakKeyDictionary[Reading, WeakValueDictionary[str, ShardCache]] = WeakKeyDictionary()
_caches_lock = Lock()


def shard_cache(reading: Reading, manifest: Manifest) -> ShardCache:
    """The cache of a listing's shards: both parts of a split read each of them once."""
    digest = manifest.digest
    with _caches_lock:
        caches = _caches.setdefault(reading, WeakValueDictionary())
        cache = caches.get(digest)
        if cache is None:
            cache = caches[digest] = ShardCache(reading, manifest)
        return cache


def _forget(kept: dict[int, int]) -> None:
    """The cache is gone, and its shards with it."""
    process_budget().keep(-sum(kept.values()))


def unpacked(reading: Reading, info: ObjectInfo) -> tuple[IdxHeader, Any]:
    """A shard's header and the bytes of all its records."""
    found: tuple[IdxHeader, Any] = _named(
        reading, info, lambda: unpack(reading.get(info), info.path)
    )
    return found


def labels_of(reading: Reading, info: ObjectInfo) -> Array:
    """The int32 labels that a shard of labels holds."""
    header, data = unpacked(reading, info)
    values: Array = _named(reading, info, lambda: label_values(header, data, info.path))
    return values.astype(np.int32)


def _named(reading: Reading, info: ObjectInfo, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ShardError as error:
        reading.counts.error("ShardError", info.path)
        raise ShardError(
            f"{reading.source.url(info.path)}: {error}", path=info.path, offset=error.offset
        ) from error


def _same_count(reading: Reading, info: ObjectInfo, found: int, wanted: int) -> None:
    if found != wanted:
        raise ShardError(
            f"{reading.source.url(info.path)}: has {found:,} records where {wanted:,} belong",
            path=info.path,
        )
