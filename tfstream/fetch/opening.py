"""
From a description to an open stream: connect, pin, list, label, check.

`pinned` does it for a new dataset and fills in what the user left open; `opened` does it for
a finished spec, in this or another process, and holds the listing against the spec's digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfstream.decoders.base import Decoder
from tfstream.decoders.headers import look
from tfstream.decoders.raw import RawDecoder
from tfstream.errors import DecodeError, ObjectNotFoundError, SpecError
from tfstream.fetch.columns import Objects
from tfstream.fetch.handles import known_manifest, shared
from tfstream.fetch.idx_listing import idx_manifest, is_idx, looks_like_idx
from tfstream.fetch.listing import DATA_EXTENSIONS, Listing, extensions_of, listing_of, warn_unused
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.masks import masked_manifest
from tfstream.fetch.reading import Reading
from tfstream.fetch.retry import retrying
from tfstream.fetch.stats import Counts
from tfstream.fetch.stream import Stream
from tfstream.labels.base import Labelled, Labels
from tfstream.labels.idx import IdxLabels
from tfstream.labels.images import ImageLabels
from tfstream.options import ReadOptions
from tfstream.readers.base import Reader
from tfstream.readers.file import FileReader
from tfstream.readers.idx import IdxReader
from tfstream.sources.base import Credentials, ObjectInfo, Source
from tfstream.sources.pattern import literal_prefix
from tfstream.spec import DatasetSpec

_LOOK_BYTES = 64 * 1024
"""Enough for any image's header, a JPEG's with a large profile and preview too."""


class Wanted(NamedTuple):
    """
    What a dataset is to be, before its source was looked at.

    Fields:
        source: Unpinned.
        reader: None to recognise it.
        labels: None for none.
        class_names: Their order, or None for the order they are found in.
        ignore: Patterns to leave out.
    """

    source: Source
    reader: Reader | None = None
    labels: Labels | None = None
    class_names: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()


class Pinned(NamedTuple):
    """
    What was found.

    Fields:
        source: Pinned.
        reader: Recognised.
        labels: As asked for, or those that the reader has.
        class_names: In label order; None without labels.
        raw: For shards of numbers, their decoder; None for images.
        manifest: The listing.
        reading: Open.
    """

    source: Source
    reader: Reader
    labels: Labels | None
    class_names: tuple[str, ...] | None
    raw: Decoder | None
    manifest: Manifest
    reading: Reading


def pinned(
    wanted: Wanted,
    credentials: Credentials | None,
    options: ReadOptions,
    counts: Counts | None = None,
) -> Pinned:
    """
    Look at the source, once.

    Errors:
        SourceError: it cannot be read, or nothing matches.
        ValueError: labels, classes and objects do not fit together.
    """
    counts = counts or Counts()
    store = wanted.source.open(credentials, options)
    source = retrying(
        lambda _: store.pin(), what=f"open {wanted.source.url('')}", options=options, counts=counts
    )
    if source != wanted.source:
        store.close()
        store = source.open(credentials, options)
    reading = Reading(source, store, options, counts, credentials)
    listing = listing_of(
        source,
        store,
        ignore=wanted.ignore,
        options=options,
        counts=counts,
        is_data=_is_data_for(wanted.reader),
    )
    if not isinstance(wanted.labels, ImageLabels):  # else it may be for the masks
        warn_unused(source, listing)
    reader = wanted.reader or _recognised(listing, reading)
    if isinstance(reader, IdxReader):
        return _idx(wanted, reader, listing, reading)
    return _files(wanted, reader, listing, reading)


def notices(found: Pinned) -> Sequence[str]:
    """What the user should be told once, such as uncommitted objects."""
    prefix = literal_prefix(found.source.pattern)
    reading = found.reading
    return retrying(
        lambda _: reading.store.notices(prefix),
        what=f"look at {found.source.url(prefix)}",
        options=reading.options,
        counts=reading.counts,
    )


def opened(spec: DatasetSpec, credentials: Credentials | None, options: ReadOptions) -> Stream:
    """
    The stream of a finished spec.

    Errors:
        SourceError: it cannot be read; ObjectChangedError: it is no longer what was pinned.
    """
    _whole_spec(spec)
    known = known_manifest(spec.source, spec.manifest)
    if known is not None:
        store = spec.source.open(credentials, options)
        reading = Reading(spec.source, store, options, Counts(), credentials)
        return _stream(spec, reading, known)
    wanted = Wanted(spec.source, spec.reader, spec.labels, spec.class_names, spec.ignore)
    found = pinned(wanted, credentials, options)
    found.manifest.check(spec.manifest, found.source.url(found.source.pattern))
    return _stream(spec, found.reading, found.manifest)


def _stream(spec: DatasetSpec, reading: Reading, manifest: Manifest) -> Stream:
    if spec.records not in (None, manifest.count):
        raise SpecError(f"{spec.records:,}, but there are {manifest.count:,}", where="$.records")
    return Stream(spec, reading, manifest)


def _whole_spec(spec: DatasetSpec) -> None:
    """Refuse parts that are each legal but do not go together."""
    if spec.reader.shards != isinstance(spec.decoder, RawDecoder):
        raise SpecError(
            f"the decoder {spec.decoder.name!r} does not fit the reader {spec.reader.name!r}",
            where="$.decoder",
        )


def _is_data_for(reader: Reader | None):  # type: ignore[no-untyped-def]
    def is_image(key: str) -> bool:
        name = key.rpartition("/")[2]
        return f".{name.rpartition('.')[2].lower()}" in DATA_EXTENSIONS and "." in name

    if isinstance(reader, FileReader):
        return is_image
    if isinstance(reader, IdxReader):
        return is_idx
    return lambda key: is_image(key) or is_idx(key)


def _recognised(listing: Listing, reading: Reading) -> Reader:
    """By the first object's first bytes and all names; a mixture is an error that counts."""
    shards = [info for info in listing.objects if is_idx(info.path)]
    if shards and len(shards) < len(listing.objects):
        keys = [info.path for info in listing.objects]
        raise SpecError(
            f"{reading.source.url(reading.source.pattern)} matches {len(shards)} IDX files and "
            f"{len(keys) - len(shards)} others ({extensions_of(keys)}): narrow the pattern, or "
            "say reader='file' or reader='idx'"
        )
    first = listing.objects[0]
    named = first.path.lower().endswith(tuple(DATA_EXTENSIONS))
    if shards or (not named and first.size and looks_like_idx(reading, first)):
        return IdxReader()
    if not named:
        _some_image(listing, reading, first)
    return FileReader()


def _some_image(listing: Listing, reading: Reading, first: ObjectInfo) -> None:
    try:
        look(reading.get_start(first, _LOOK_BYTES))
    except DecodeError as error:
        keys = [info.path for info in listing.objects]
        url = reading.source.url(reading.source.pattern)
        raise ObjectNotFoundError(
            f"nothing decodable matches {url}: {first.path!r} is {error} (extensions: "
            f"{extensions_of(keys)})",
            path=first.path,
        ) from error


def _files(wanted: Wanted, reader: Reader, listing: Listing, reading: Reading) -> Pinned:
    objects, labels = listing.objects, wanted.labels
    if labels is None or isinstance(labels, ImageLabels):
        manifest = _unclassed(wanted, listing, reading)
        return Pinned(
            reading.source, reader, labels, None, None, shared(reading.source, manifest), reading
        )
    labelled = _labelled(labels, wanted, listing, reading.source)
    values = np.asarray(labelled.values, np.int32)
    rows = np.flatnonzero(values >= 0) if labels.by_class else np.arange(len(values))
    if len(rows) < len(values):
        reading.counts.leave_out({labelled.left_out: len(values) - len(rows)})
    if labels.by_class:
        rows = rows[np.argsort(values[rows], kind="stable")]
    manifest = Manifest(Objects.of([objects[row] for row in rows]), values[rows])
    manifest = shared(reading.source, manifest)
    return Pinned(reading.source, reader, labels, labelled.class_names, None, manifest, reading)


def _unclassed(wanted: Wanted, listing: Listing, reading: Reading) -> Manifest:
    if not isinstance(wanted.labels, ImageLabels):
        return Manifest(Objects.of(listing.objects))
    is_data = _is_data_for(FileReader())
    return masked_manifest(wanted.labels, listing, reading, ignore=wanted.ignore, is_data=is_data)


def _labelled(labels: Labels, wanted: Wanted, listing: Listing, source: Source) -> Labelled:
    """Labels know keys alone, so their errors get the place here."""
    keys = [info.path for info in listing.objects]
    try:
        labelled = labels.assign(keys, prefix=listing.prefix, class_names=wanted.class_names)
        if labels.by_class:
            _no_empty_class(listing, labelled.class_names, wanted.class_names)
    except ValueError as error:
        raise ValueError(f"{source.url(source.pattern)}: {error}") from None
    return labelled


def _no_empty_class(listing: Listing, names: Sequence[str], wanted: Sequence[str] | None) -> None:
    start = len(listing.prefix)
    empty = {
        path[start:].strip("/")
        for path in listing.empty_folders
        if path.startswith(listing.prefix) and path[start:].strip("/").count("/") == 0
    }
    bad = sorted(name for name in empty - set(names) - {""} if not name.startswith("."))
    if bad and wanted is None:
        raise ValueError(
            f"the class folder {bad[0]!r} is empty: remove it, or pass "
            f"class_names={list(names)!r} to leave it out"
        )


def _idx(wanted: Wanted, reader: IdxReader, listing: Listing, reading: Reading) -> Pinned:
    labels = IdxLabels() if wanted.labels is not None else None
    manifest, decoder, names = idx_manifest(listing.objects, reading, labelled=labels is not None)
    if wanted.class_names is not None and names is not None:
        if len(wanted.class_names) < len(names):
            raise ValueError(
                f"`class_names` has {len(wanted.class_names)} entries, but the label files hold "
                f"values up to {len(names) - 1}"
            )
        names = tuple(wanted.class_names)
    manifest = shared(reading.source, manifest)
    return Pinned(reading.source, reader, labels, names, decoder, manifest, reading)
