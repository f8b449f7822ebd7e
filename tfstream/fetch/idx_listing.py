"""What a listing of IDX files means: pairs of images and labels, counts, one dtype and shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tfstream.decoders.raw import RawDecoder
from tfstream.errors import ShardError
from tfstream.fetch.columns import Objects
from tfstream.fetch.listing import Listing
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.reading import Reading
from tfstream.fetch.shards import labels_of
from tfstream.readers.idx import PEEK_BYTES, IdxHeader, pair, peek_header
from tfstream.sources.base import ObjectInfo

_MOST_SIDES = 254
"""TensorFlow's, of a tensor."""
_MOST_CLASSES = 10_000
"""Class names stand in the spec; labels above this are numbers to predict, not classes."""


def idx_manifest(
    objects: Sequence[ObjectInfo], reading: Reading, *, labelled: bool
) -> tuple[Manifest, RawDecoder, tuple[str, ...] | None]:
    """
    The manifest, how to decode the records, and the class names (`0`, `1`, …).

    Reads the first bytes of every shard and, if `labelled`, all labels.

    Errors:
        ShardError: a file is no IDX, or shards differ in dtype or shape, or in number from
            their labels.
        ValueError: images without labels.
    """
    by_path = {info.path: info for info in objects}
    pairs = pair(list(by_path))
    images = [by_path[path] for path, _ in pairs]
    headers = reading.workers.run([partial(_header, reading, info) for info in images])
    _all_alike(reading, images, headers)
    _fits_a_tensor(reading, images[0], headers[0])
    decoder = RawDecoder(dtype=headers[0].dtype, shape=headers[0].shape, little_endian=False)
    counts = np.array([header.records for header in headers], np.int64)
    if not labelled:
        return Manifest(Objects.of(images), records=counts), decoder, None
    labels = [_partner(by_path, reading, path, other) for path, other in pairs]
    names = _class_names(reading, labels, counts)
    return Manifest(Objects.of(images), records=counts, partners=Objects.of(labels)), decoder, names


def with_partners(listing: Listing) -> list[ObjectInfo]:
    """What was selected of a listing, and the other file of each pair."""
    if listing.whole is None:
        return listing.objects
    by_path = {info.path: info for info in listing.whole}
    others: dict[str, str] = {}
    for path, labels in pair(list(by_path)):
        if labels is not None:
            others |= {path: labels, labels: path}
    paths = [info.path for info in listing.objects]
    both = [each for path in paths for each in (path, others.get(path, path))]
    return [by_path[path] for path in dict.fromkeys(both)]


def _header(reading: Reading, info: ObjectInfo) -> IdxHeader:
    start = reading.get_start(info, PEEK_BYTES)
    try:
        return peek_header(start, info.path)
    except ShardError as error:
        url = reading.source.url(info.path)
        raise ShardError(f"{url}: {error}", path=info.path, offset=error.offset) from error


def _all_alike(
    reading: Reading, images: Sequence[ObjectInfo], headers: Sequence[IdxHeader]
) -> None:
    first = headers[0]
    for info, header in zip(images, headers, strict=True):
        if (header.dtype, header.shape) != (first.dtype, first.shape):
            raise ShardError(
                f"{reading.source.url(info.path)}: records are {header.dtype} {header.shape}, "
                f"those of {images[0].path!r} are {first.dtype} {first.shape}: one dataset has "
                "one shape; narrow the pattern",
                path=info.path,
            )


def _fits_a_tensor(reading: Reading, info: ObjectInfo, header: IdxHeader) -> None:
    """A broken header soon has records of no bytes, or more sides than a batch of TensorFlow's."""
    if not header.record_bytes or len(header.shape) >= _MOST_SIDES:
        raise ShardError(
            f"{reading.source.url(info.path)}: its records have {len(header.shape)} sides and "
            f"{header.record_bytes:,} bytes: no batch can be made of them",
            path=info.path,
            offset=4,
        )


def _partner(
    by_path: dict[str, ObjectInfo], reading: Reading, path: str, other: str | None
) -> ObjectInfo:
    if other is None:
        raise ValueError(
            f"no labels file for {reading.source.url(path)}: the pattern must match it too, "
            "named like the images with 'labels' for 'images' and 'idx1' for 'idx3'. For images "
            "without labels pass labels=None"
        )
    return by_path[other]


def _class_names(
    reading: Reading, labels: Sequence[ObjectInfo], counts: np.ndarray
) -> tuple[str, ...]:
    values = reading.workers.run([partial(labels_of, reading, info) for info in labels])
    for info, found, wanted in zip(labels, values, counts, strict=True):
        if len(found) != wanted:
            raise ShardError(
                f"{reading.source.url(info.path)}: {len(found):,} labels for {wanted:,} images",
                path=info.path,
            )
    least = min((int(found.min()) for found in values if len(found)), default=0)
    most = max((int(found.max()) for found in values if len(found)), default=0)
    if least < 0 or most >= _MOST_CLASSES:
        raise ValueError(
            f"the labels go from {least} to {most}: classes are numbered from 0 to at most "
            f"{_MOST_CLASSES - 1}"
        )
    return tuple(str(value) for value in range(most + 1))
