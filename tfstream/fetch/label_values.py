"""
Labels that are made of values: where each record's value is found.

```
RegexLabels      in its key
FieldLabels      in another field of the record, found with the archive's index
MetadataLabels   in the listing, which was asked for it
TableLabels      in a row of a table, another object, read once
```

Classes are those of all data, also where only some of it was selected: so that a class has the
same number in a list of few keys as in everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfstream.checks import some
from tfstream.errors import ObjectNotFoundError
from tfstream.fetch.budget import process_budget
from tfstream.fetch.listing import Listing, object_at
from tfstream.fetch.members import Member, label_keys
from tfstream.fetch.reading import Reading
from tfstream.fetch.selection import unselected
from tfstream.labels.base import Labelled, Labels
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.field import FieldLabels
from tfstream.labels.metadata import MetadataLabels
from tfstream.labels.regex import RegexLabels
from tfstream.labels.table import Named, TableLabels
from tfstream.labels.values import ValueLabels, is_missing
from tfstream.readers.base import ArchiveReader, Reader
from tfstream.sources.base import MetadataStore, Source, Store


def labelled_by_value(
    labels: ValueLabels,
    listing: Listing,
    reading: Reading,
    class_names: Sequence[str] | None,
) -> Labelled:
    """
    The labels of a listing's records.

    Errors:
        ValueError: a record without a value, or values that are no labels.
        SourceError: a table that cannot be read.
    """
    every = unselected(listing)
    values = _values(labels, every, reading)
    found = {
        each.path: value
        for each, value in zip(every.objects, values, strict=True)
        if not is_missing(value)
    }
    missing = [each.path for each in listing.objects if each.path not in found]
    if missing:
        raise ValueError(
            f"{len(missing):,} of {len(listing.objects):,} records have {labels.lacking}: "
            f"{some(missing)}"
        )
    labelled = labels.labelled(list(found.values()), list(found), class_names)
    rows = {path: row for row, path in enumerate(found)}
    column = labelled.column[[rows[each.path] for each in listing.objects]]
    return labelled._replace(values=column)


def table_of(labels: Labels | None) -> tuple[str, ...]:
    """The key of the table, which is no record."""
    return (labels.path,) if isinstance(labels, TableLabels) else ()


def field_wanted(labels: Labels | None, reader: ArchiveReader) -> str | None:
    """The field of records that labels are made of, as far as is known; None for none."""
    if isinstance(labels, FieldLabels):
        return labels.field
    return reader.usual_label if isinstance(labels, DirectoryLabels) else None


def inferred(labels: Labels | None, reader: Reader, listing: Listing) -> Labels | None:
    """What `labels="inferred"` means: the usual field, where records have it, else folders."""
    if not isinstance(reader, ArchiveReader) or not isinstance(labels, DirectoryLabels):
        return labels
    if reader.usual_label and any(each.label is not None for each in listing.objects):
        return FieldLabels(reader.usual_label)
    return labels


def listing_store(labels: Labels | None, source: Source, store: Store) -> Store:
    """
    The store to list with: one whose listing has the metadata, where labels are made of it.

    Errors:
        ValueError: the source has no metadata.
    """
    if not isinstance(labels, MetadataLabels):
        return store
    if not isinstance(store, MetadataStore):
        raise ValueError(
            f"MetadataLabels is for lakeFS: listings of {source.name} sources have no metadata. "
            "Take TableLabels"
        )
    return store.with_metadata(labels.key)


def _values(labels: ValueLabels, listing: Listing, reading: Reading) -> Sequence[Any]:
    if isinstance(labels, TableLabels):
        return labels.values(_table(labels.path, reading), _ways(listing))
    if isinstance(labels, MetadataLabels):
        return [_object_of(each).metadata for each in listing.objects]
    if isinstance(labels, FieldLabels):
        if not isinstance(listing.objects[0], Member):
            raise ValueError("FieldLabels is for archives: single files have no fields")
        return [each.label for each in listing.objects]
    if isinstance(labels, RegexLabels):
        keys, prefix = label_keys(listing, inside=False)
        return labels.values(keys, prefix=prefix)
    raise TypeError(f"no values for {labels.name} labels")


def _table(path: str, reading: Reading) -> bytes:
    info = object_at(path, reading.source, reading.store, reading.options, reading.counts)
    if info is None:
        near = reading.store.near(path)
        raise ObjectNotFoundError(
            f"no table {reading.source.url(path)} for the labels{near and f'; {near}'}", path=path
        )
    with process_budget().reserved(info.size):
        return reading.get(info)


def _ways(listing: Listing) -> list[Named]:
    """How a table may name records: by whole keys, by what comes after the prefix, or inside."""
    keys, start = [each.path for each in listing.objects], len(listing.prefix)
    ways = [Named(keys, frozenset(listing.ignored))]
    if start:
        others = frozenset(key[start:] for key in listing.ignored)
        ways.append(Named([key[start:] for key in keys], others))
    if isinstance(listing.objects[0], Member):
        ways.append(Named(label_keys(listing, inside=True)[0]))
    return ways


def _object_of(each: Any) -> Any:
    return each.shard if isinstance(each, Member) else each
