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
from tfstream.decoders.image import field_of
from tfstream.decoders.raw import RawDecoder
from tfstream.errors import ObjectChangedError, ObjectNotFoundError, SpecError
from tfstream.fetch.archives import expanded
from tfstream.fetch.handles import known_manifest, shared
from tfstream.fetch.idx_listing import idx_manifest, with_partners
from tfstream.fetch.key_list import keys_of
from tfstream.fetch.label_values import (
    field_wanted,
    inferred,
    labelled_by_value,
    listing_store,
    table_of,
)
from tfstream.fetch.listing import Listing, listing_of, warn_unused
from tfstream.fetch.manifest import Manifest, form_of
from tfstream.fetch.masks import masked_manifest
from tfstream.fetch.members import label_keys, listed
from tfstream.fetch.reading import Reading
from tfstream.fetch.recognition import is_data_for, recognised
from tfstream.fetch.retry import retrying
from tfstream.fetch.selection import labelled_of, selected, unselected, with_named
from tfstream.fetch.stats import Counts
from tfstream.fetch.stream import Stream
from tfstream.labels.base import Labelled, Labels
from tfstream.labels.idx import IdxLabels
from tfstream.labels.images import ImageLabels
from tfstream.labels.values import ValueLabels
from tfstream.options import ReadOptions
from tfstream.readers.base import ArchiveReader, Fields, Reader
from tfstream.readers.file import FileReader
from tfstream.readers.idx import IdxReader
from tfstream.sources.base import Credentials, Source
from tfstream.sources.pattern import literal_prefix
from tfstream.spec import DatasetSpec


class Wanted(NamedTuple):
    """
    What a dataset is to be, before its source was looked at.

    Fields:
        source: Unpinned.
        reader: None to recognise it.
        labels: None for none.
        class_names: Their order, or None for the order they are found in.
        ignore: Patterns to leave out.
        keys: Exactly which, or the key of an object with them; None for all.
        image_field: Of records with several fields, the one that is decoded.
        pinned: Whether the labels fitted once: where they do not any more, they have changed.
    """

    source: Source
    reader: Reader | None = None
    labels: Labels | None = None
    class_names: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    keys: tuple[str, ...] | str | None = None
    image_field: str | None = None
    pinned: bool = False


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
    reader, listing = _listed(wanted, reading)
    wanted = wanted._replace(labels=inferred(wanted.labels, reader, listing))
    if isinstance(reader, IdxReader):
        return _idx(wanted, reader, listing, reading)
    return _files(wanted, reader, listing, reading)


def _listed(wanted: Wanted, reading: Reading) -> tuple[Reader, Listing]:
    """How to read, and all files: those in archives too."""
    source, keys = reading.source, keys_of(wanted.keys, reading)
    is_data = with_named(keys, is_data_for(wanted.reader))
    listing = listing_of(
        source,
        listing_store(wanted.labels, source, reading.store),
        ignore=wanted.ignore,
        options=reading.options,
        counts=reading.counts,
        is_data=is_data,
        apart=table_of(wanted.labels),
    )
    reader = wanted.reader or recognised(listing, reading)
    if isinstance(reader, ArchiveReader):
        fields = Fields(wanted.image_field, field_wanted(wanted.labels, reader))
        listing = expanded(reader, listing, reading, ignore=wanted.ignore, fields=fields)
    if not isinstance(wanted.labels, ImageLabels):  # else it may be for the masks
        warn_unused(source, listing)
    return reader, selected(listing, keys, reading, ignore=wanted.ignore, is_data=is_data)


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
    wanted = Wanted(
        *(spec.source, spec.reader, spec.labels, spec.class_names, spec.ignore, spec.keys),
        image_field=field_of(spec.decoder),
        pinned=spec.manifest is not None,
    )
    found = pinned(wanted, credentials, options)
    found.manifest.check(spec.manifest, found.source.url(found.source.pattern))
    return _stream(spec, found.reading, found.manifest)


def _stream(spec: DatasetSpec, reading: Reading, manifest: Manifest) -> Stream:
    if spec.records not in (None, manifest.count):
        raise SpecError(f"{spec.records:,}, but there are {manifest.count:,}", where="$.records")
    _check_form(spec, manifest)
    return Stream(spec, reading, manifest)


def _check_form(spec: DatasetSpec, manifest: Manifest) -> None:
    """A graph knows what its labels are from the spec alone."""
    form, labels = form_of(manifest) or "int", manifest.labels
    wanted = spec.label_mode if spec.label_mode in ("float", "multi_hot") else "int"
    width = len(spec.class_names or ())
    if form != wanted or (labels is not None and labels.ndim == 2 and labels.shape[1] != width):
        raise SpecError(f"the labels are {form}, not {wanted}", where="$.label_mode")


def _whole_spec(spec: DatasetSpec) -> None:
    """Refuse parts that are each legal but do not go together."""
    if spec.reader.shards != isinstance(spec.decoder, RawDecoder):
        raise SpecError(
            f"the decoder {spec.decoder.name!r} does not fit the reader {spec.reader.name!r}",
            where="$.decoder",
        )


def _files(wanted: Wanted, reader: Reader, listing: Listing, reading: Reading) -> Pinned:
    objects, labels = listing.objects, wanted.labels
    if labels is None or isinstance(labels, ImageLabels):
        manifest = _unclassed(wanted, listing, reading)
        return Pinned(
            reading.source, reader, labels, None, None, shared(reading.source, manifest), reading
        )
    labelled = _labelled(labels, wanted, listing, reading)
    values = labelled.column
    rows = np.flatnonzero(values >= 0) if values.dtype == np.int32 else np.arange(len(values))
    if len(rows) < len(values):
        reading.counts.leave_out({labelled.left_out: len(values) - len(rows)})
    if not len(rows):
        url = reading.source.url(reading.source.pattern)
        raise ObjectNotFoundError(f"nothing is left to read at {url}: all is {labelled.left_out}")
    if labels.by_class and wanted.keys is None:
        rows = rows[np.argsort(values[rows], kind="stable")]
    manifest = Manifest(listed([objects[row] for row in rows]), values[rows])
    manifest = shared(reading.source, manifest)
    return Pinned(reading.source, reader, labels, labelled.class_names, None, manifest, reading)


def _unclassed(wanted: Wanted, listing: Listing, reading: Reading) -> Manifest:
    if not isinstance(wanted.labels, ImageLabels):
        return Manifest(listed(listing.objects))
    is_data = is_data_for(FileReader())
    return masked_manifest(wanted.labels, listing, reading, ignore=wanted.ignore, is_data=is_data)


def _labelled(labels: Labels, wanted: Wanted, listing: Listing, reading: Reading) -> Labelled:
    """Labels know keys alone, so their errors get the place here."""
    try:
        if isinstance(labels, ValueLabels):
            return labelled_by_value(labels, listing, reading, wanted.class_names)
        return _by_key(labels, wanted, listing)
    except ValueError as error:
        url = reading.source.url(reading.source.pattern)
        if not wanted.pinned:
            raise ValueError(f"{url}: {error}") from None
        raise ObjectChangedError(
            f"the labels of {url} are not those that were pinned: {error}. Make the dataset again "
            "to have those of now, or pin it to a commit"
        ) from None


def _by_key(labels: Labels, wanted: Wanted, listing: Listing) -> Labelled:
    every = unselected(listing) if labels.by_class else listing  # for the numbers of classes
    keys, prefix = label_keys(every, inside=labels.by_class)
    labelled = labels.assign(keys, prefix=prefix, class_names=wanted.class_names)
    labelled = labelled_of(listing, every, labelled)
    if labels.by_class:
        _no_empty_class(listing, labelled.class_names or (), wanted.class_names)
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
    if isinstance(wanted.labels, ValueLabels):
        raise ValueError(
            f"labels of IDX records are in IDX files: labels='inferred' takes them, "
            f"{wanted.labels.name} labels are for single files and archives"
        )
    labels = IdxLabels() if wanted.labels is not None else None
    objects = with_partners(listing)
    manifest, decoder, names = idx_manifest(objects, reading, labelled=labels is not None)
    if wanted.class_names is not None and names is not None:
        if len(wanted.class_names) < len(names):
            raise ValueError(
                f"`class_names` has {len(wanted.class_names)} entries, but the label files hold "
                f"values up to {len(names) - 1}"
            )
        names = tuple(wanted.class_names)
    manifest = shared(reading.source, manifest)
    return Pinned(reading.source, reader, labels, names, decoder, manifest, reading)
