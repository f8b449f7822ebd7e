"""`Stream`: a dataset that is open in this process. Record numbers in, bytes and labels out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tfstream.decoders.image import ROUTE_NAMES, ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.errors import DecodeError
from tfstream.fetch.budget import process_budget
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.reading import Reading
from tfstream.fetch.shards import shard_cache
from tfstream.sources.base import ObjectInfo
from tfstream.spec import DatasetSpec

Array = np.ndarray[Any, np.dtype[Any]]


class Fetched(NamedTuple):
    """
    Some records, still encoded.

    Fields:
        data: For files, an array with the bytes of each; for shards, one run of bytes.
        labels: int32, one a record; zeros where there are none.
        routes: int32, one a record: how to decode it.
    """

    data: Array | bytes
    labels: Array
    routes: Array


class Stream:
    """What to read (`spec`, `manifest`) and how (`reading`), ready to be asked from any thread."""

    def __init__(self, spec: DatasetSpec, reading: Reading, manifest: Manifest) -> None:
        self.spec = spec
        self.reading = reading
        self.manifest = manifest
        self._shards = shard_cache(reading, manifest) if spec.reader.shards else None

    def fetch(self, records: Array) -> Fetched:
        """
        The records, in the order asked for.

        Errors:
            SourceError: an object could not be read.
            DecodeError: an object is no image.
            ShardError: a shard does not hold what its format says.
        """
        if self._shards is not None:
            data, labels = self._shards.records(records)
            return Fetched(data, labels, np.zeros(len(records), np.int32))
        infos = [self.manifest.objects[row] for row in records]
        asked = time.monotonic()
        with process_budget().reserved(sum(info.size for info in infos)):
            jobs = [partial(self._file, info, asked) for info in infos]
            files = self.reading.workers.run(jobs)
        routes = np.fromiter((route for _, route in files), np.int32, len(files))
        self._count(routes)
        return Fetched(_array([data for data, _ in files]), self._labels(records), routes)

    @property
    def record_bytes(self) -> int:
        """Bytes of one record of a shard."""
        decoder = self.spec.decoder
        return decoder.record_bytes if isinstance(decoder, RawDecoder) else 1

    def url(self, record: int) -> str:
        """A record as people write it, for messages."""
        if self._shards is not None:
            return self._shards.url(record)
        return self.reading.source.url(self.manifest.objects.paths[record])

    def _file(self, info: ObjectInfo, asked: float) -> tuple[bytes, int]:
        self.reading.counts.waited(time.monotonic() - asked)
        data = self.reading.get(info)
        decoder = self.spec.decoder
        if not isinstance(decoder, ImageDecoder):
            return data, 0
        try:
            return data, decoder.route(data)
        except DecodeError as error:
            self.reading.counts.error("DecodeError")
            raise named(error, self.reading.source.url(info.path), info.path) from error

    def _labels(self, records: Array) -> Array:
        if self.manifest.labels is None:
            return np.zeros(len(records), np.int32)
        return self.manifest.labels[records]

    def _count(self, routes: Array) -> None:
        found = Counter(ROUTE_NAMES[route] for route in routes.tolist())
        self.reading.counts.decoded(found)


def named(error: DecodeError, url: str, path: str) -> DecodeError:
    """The same error with the key in it."""
    return DecodeError(f"{url}: {error}", path=path, key=path)


def _array(parts: Sequence[bytes]) -> Array:
    array = np.empty(len(parts), object)
    array[:] = parts
    return array
