"""`Stream`: a dataset that is open in this process. Record numbers in, bytes and labels out."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tfstream.decoders import mask
from tfstream.decoders.image import ImageDecoder, field_of, route_name
from tfstream.decoders.raw import RawDecoder
from tfstream.decoders.routes import orientation_of
from tfstream.errors import DecodeError, ShardError, SpecError
from tfstream.fetch.archives import read_files
from tfstream.fetch.budget import process_budget
from tfstream.fetch.listing import plain
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.members import in_place, runs_of
from tfstream.fetch.reading import Reading
from tfstream.fetch.shards import shard_cache
from tfstream.labels.images import ImageLabels
from tfstream.sources.base import ObjectInfo
from tfstream.spec import DatasetSpec

log = logging.getLogger("tfstream")

Array = np.ndarray[Any, np.dtype[Any]]
BAD = -1
"""The route of a record that nobody can decode, where `on_error` says to go on without it."""
UNEQUAL = "the images of a batch have different sizes (height x width)"
SAME_SIZE = "Pass image_size=(height, width) to give them one, or batch_size=None for single images"


class Fetched(NamedTuple):
    """
    Some records, still encoded.

    Fields:
        data: For files, an array with the bytes of each; for shards, one run of bytes.
        labels: One a record: int32, zeros where there are none; or float32, or float32
            [records, classes]. Or packed masks.
        routes: int32, one a record: how to decode it, or `BAD`.
    """

    data: Array | bytes
    labels: Array
    routes: Array


class _File(NamedTuple):
    """One image: its bytes, its route, and its packed mask if it has one."""

    data: bytes
    route: int = 0
    mask: bytes = b""


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
            DecodeError: an object is no image, and the spec says `on_error="raise"`.
            ShardError: a shard does not hold what its format says.
        """
        if self._shards is not None:
            data, labels = self._shards.records(records)
            return Fetched(data, labels, np.zeros(len(records), np.int32))
        pairs = [self._objects(row) for row in records]
        runs = runs_of([pair[0] for pair in pairs])
        asked = time.monotonic()
        with process_budget().reserved(sum(info.size for pair in pairs for info in pair)):
            jobs = [partial(self._files, [pairs[at] for at in run], asked) for run in runs]
            found = self.reading.workers.run(jobs)
        files = in_place(runs, found)
        self._check_sizes(records, files)
        routes = np.fromiter((file.route for file in files), np.int32, len(files))
        self._count(routes)
        labels = self._labels(records)
        if self.manifest.partners is not None:
            labels = _array([file.mask for file in files])
        return Fetched(_array([file.data for file in files]), labels, routes)

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

    def failed(self, path: str, error: DecodeError) -> DecodeError:
        """Count an object that cannot be decoded; the error with its URL and key."""
        kind, url = error.kind or type(error).__name__, self.reading.source.url(path)
        first, text = self.reading.counts.error(kind, path), f"{url}: {error}"
        if self.spec.on_error == "raise":
            text += '; on_error="skip" goes on without it, and `tfstream check` finds all such'
        elif first:
            log.warning("%s; on_error=%r: see stats().errors", plain(text), self.spec.on_error)
        return DecodeError(text, path=path, key=path, kind=error.kind)

    def mask(self, record: int) -> bytes:
        """
        The mask of an image, packed.

        Errors:
            DecodeError: it cannot be decoded, or is not of its image's size.
        """
        image, info = self._objects(record)
        data = self._read([image])[0]
        return self._mask(info, data, self._route(self._image_decoder, data))

    def read(self, record: int) -> bytes:
        """
        The bytes of one file.

        Errors:
            SourceError, ShardError: it cannot be read.
        """
        return self._read([self.manifest.objects[record]])[0]

    def _read(self, objects: Sequence[Any]) -> list[bytes]:
        return read_files(self.spec.reader, self.reading, objects, field_of(self.spec.decoder))

    def _objects(self, row: int) -> list[ObjectInfo]:
        """An image, and its mask if it has one."""
        partners = self.manifest.partners
        return [self.manifest.objects[row], *([partners[row]] if partners is not None else [])]

    def _files(self, pairs: Sequence[Sequence[ObjectInfo]], asked: float) -> list[_File]:
        """What one request brings."""
        self.reading.counts.waited(time.monotonic() - asked)
        try:
            data = self._read([pair[0] for pair in pairs])
        except ShardError:
            if self.spec.on_error == "raise":
                raise
            if len(pairs) == 1:
                return [_File(b"", BAD)]
            return [file for pair in pairs for file in self._files([pair], asked)]
        return [self._file(*each) for each in zip(pairs, data, strict=True)]

    def _file(self, objects: Sequence[ObjectInfo], data: bytes) -> _File:
        decoder = self.spec.decoder
        if not isinstance(decoder, ImageDecoder):
            return _File(data)
        path = objects[0].path
        try:
            route = self._route(decoder, data)
            if len(objects) == 1:
                return _File(data, route)
            path = objects[1].path
            return _File(data, route, self._mask(objects[1], data, route))
        except DecodeError as error:
            if self.spec.on_error != "raise":
                return _File(data, BAD)
            raise self.failed(path, error) from error

    def _check_sizes(self, records: Array, files: Sequence[_File]) -> None:
        """What is fetched together becomes one tensor, unless it is resized or single."""
        decoder, single = self.spec.decoder, self.spec.batch_size in (None, 1)
        if single or self.spec.resize is not None or not isinstance(decoder, ImageDecoder):
            return
        first_of_size: dict[tuple[int, int], int] = {}
        for record, file in zip(records.tolist(), files, strict=True):
            size = None if file.route == BAD else decoder.size(file.data, file.route)
            if size is not None:
                first_of_size.setdefault(size, record)
        if len(first_of_size) > 1:
            named = [
                f"{self.url(record)} has {height} x {width} pixels"
                for (height, width), record in list(first_of_size.items())[:2]
            ]
            raise SpecError(f"{UNEQUAL}: {', '.join(named)}. {SAME_SIZE}", where="$.resize")

    def _mask(self, info: ObjectInfo, image: bytes, route: int) -> bytes:
        labels, decoder = self.spec.labels, self._image_decoder
        assert isinstance(labels, ImageLabels)
        data = self.reading.get(info)
        values = mask.decode(data, dtype=labels.dtype, max_pixels=decoder.max_pixels)
        mask.check_sides(values, decoder.size(image, route), turned=orientation_of(route) > 4)
        return mask.packed(values)

    @property
    def _image_decoder(self) -> ImageDecoder:
        assert isinstance(self.spec.decoder, ImageDecoder)
        return self.spec.decoder

    def _labels(self, records: Array) -> Array:
        if self.manifest.labels is None:
            return np.zeros(len(records), np.int32)
        labels = self.manifest.labels[records]
        return labels.astype(np.float32) if labels.ndim == 2 else labels

    def _route(self, decoder: ImageDecoder, data: bytes) -> int:
        resize = self.spec.resize
        mixes = resize is not None and resize.interpolation != "nearest"  # else no values may mix
        return decoder.route(data, resize.image_size if resize and mixes else None)

    def _count(self, routes: Array) -> None:
        found = Counter(route_name(route) for route in routes.tolist() if route != BAD)
        self.reading.counts.decoded(found)


def _array(parts: Sequence[bytes]) -> Array:
    array = np.empty(len(parts), object)
    array[:] = parts
    return array
