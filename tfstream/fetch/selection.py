"""
Which of all data to stream: `keys`, and of a lakeFS commit what is new since another.

```
listing     a  b  c  d        all that the pattern matches
keys        d  b  a           exactly these, in this order
changes     b+ d~ e-          added, changed, removed since the older commit
selected    d  b
```

The whole listing is kept beside it: classes are those of all data, so that a class has the same
number in a list of few keys, and in what is new, as in everything. Sizes and tokens are the
listing's too; the diff only chooses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from tfstream.checks import some
from tfstream.errors import ObjectNotFoundError
from tfstream.fetch.ignoring import Ignored
from tfstream.fetch.listing import Listing
from tfstream.fetch.members import Member
from tfstream.fetch.reading import Reading
from tfstream.fetch.retry import retrying
from tfstream.labels.base import Labelled
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.lakefs_diff import Kind
from tfstream.sources.lakefs_store import LakeFSStore
from tfstream.sources.pattern import extension_of, hidden, matcher

log = logging.getLogger("tfstream")

Keys = tuple[str, ...]


def selected(
    listing: Listing,
    keys: Keys | None,
    reading: Reading,
    *,
    ignore: Sequence[str],
    is_data: Callable[[str], bool],
) -> Listing:
    """
    The listing with only what is wanted of its objects.

    Errors:
        ObjectNotFoundError: a key that is not there, or nothing is new.
        ValueError: a key that the pattern does not match.
    """
    source = reading.source
    ignored = Ignored(ignore, source)
    chosen = listing.objects
    if keys is not None:
        chosen = _named(keys, listing, ignored, reading)
    if isinstance(source, LakeFSSource) and source.since is not None:
        changes = _changes(source, listing.prefix, reading)
        removed = [path for path, kind in changes.items() if kind == "removed" and keys is None]
        removed = [path for path in removed if _was_data(path, listing, ignored, is_data)]
        _tell_removed(removed, source, reading)
        chosen = [each for each in chosen if changes.get(_shard(each)) in ("added", "changed")]
        if not chosen:
            raise ObjectNotFoundError(_nothing_new(source, changes, removed), path=source.pattern)
    if chosen is listing.objects:
        return listing
    return replace(listing, objects=chosen, whole=listing.objects)


def with_named(keys: Keys | None, is_data: Callable[[str], bool]) -> Callable[[str], bool]:
    """What is data by its name, or because `keys` has it."""
    if keys is None:
        return is_data
    named = frozenset(keys)
    return lambda key: key in named or is_data(key)


def unselected(listing: Listing) -> Listing:
    """The listing as it was before anything was selected."""
    return listing if listing.whole is None else replace(listing, objects=listing.whole, whole=None)


def labelled_of(listing: Listing, every: Listing, labelled: Labelled) -> Labelled:
    """The labels of what was selected, from those of `every` object."""
    if every is listing:
        return labelled
    paths = (each.path for each in every.objects)
    values = dict(zip(paths, labelled.values, strict=True))
    return labelled._replace(values=[values[each.path] for each in listing.objects])


def _named(keys: Keys, listing: Listing, ignored: Ignored, reading: Reading) -> list[Any]:
    """The objects of these keys; for an archive's key all that is in it."""
    places = {key: place for place, key in enumerate(keys)}
    found = [
        (places.get(each.path, places.get(_shard(each), 0)), each)
        for each in listing.objects
        if each.path in places or _shard(each) in places
    ]
    there = {name for _, each in found for name in (each.path, _shard(each))}
    missing = [key for key in keys if key not in there and key not in ignored]
    if missing:
        raise _missing(missing, keys, listing, reading)
    if not found:
        raise ObjectNotFoundError(
            f"nothing is left to read at {reading.source.url(reading.source.pattern)}: ignore= "
            f"leaves out all {len(keys):,} keys",
            path=keys[0],
        )
    return [each for _, each in sorted(found, key=itemgetter(0))]


def _missing(
    missing: Sequence[str], keys: Keys, listing: Listing, reading: Reading
) -> ObjectNotFoundError | ValueError:
    source = reading.source
    matches = matcher(listing.pattern)
    archives = isinstance(listing.objects[0], Member)
    outside = [key for key in missing if not matches(key) and not archives]
    if outside:
        return ValueError(
            f"{source.url(source.pattern)}: `keys` has {len(outside):,} of {len(keys):,} that the "
            f"pattern does not match: {some(outside)}"
        )
    near = reading.store.near(missing[0])
    return ObjectNotFoundError(
        f"{source.url(source.pattern)}: `keys` has {len(missing):,} of {len(keys):,} that are not "
        f"there, or are hidden or links: {some(missing)}{near and f'; {near}'}",
        path=missing[0],
    )


def _changes(source: LakeFSSource, prefix: str, reading: Reading) -> dict[str, Kind]:
    """What became of which key, below the prefix."""
    store = reading.store
    assert isinstance(store, LakeFSStore)
    found: dict[str, Kind] = {}
    after: str | None = None
    while True:
        page = retrying(
            lambda _, after=after: store.changes_page(prefix, after),  # type: ignore[misc]
            what=f"compare {source.url(prefix)} with {_older(source)}",
            options=reading.options,
            counts=reading.counts,
            path=prefix,
        )
        found.update(page.changes)
        after = page.after
        if after is None:
            return found


def _was_data(
    path: str, listing: Listing, ignored: Ignored, is_data: Callable[[str], bool]
) -> bool:
    """As the listing chooses, for a key that is in it no more."""
    pattern = listing.pattern
    shown = matcher(pattern)(path) and not hidden(path, pattern) and path not in ignored
    return shown and (bool(extension_of(pattern)) or is_data(path))


def _tell_removed(removed: Sequence[str], source: LakeFSSource, reading: Reading) -> None:
    if removed:
        reading.counts.leave_out({"removed": len(removed)})
        log.warning(
            "%s: %s removed since %s: %s",
            source.url(source.pattern),
            f"{len(removed):,}",
            _older(source),
            some(removed),
        )


def _nothing_new(source: LakeFSSource, changes: Mapping[str, Kind], removed: Sequence[str]) -> str:
    message = f"nothing was added or changed at {source.url(source.pattern)} since {_older(source)}"
    if source.since == source.commit:
        return f"{message}, which is the same commit"
    new = [path for path, kind in changes.items() if kind != "removed"]
    if removed:
        message += f"; {len(removed):,} removed: {some(removed)}"
    return f"{message}; what changed is not selected: {some(new)}" if new else message


def _older(source: LakeFSSource) -> str:
    """The commit to compare with, as people know it."""
    return f"{source.since_ref or 'commit'} ({(source.since or '')[:12]})"


def _shard(each: Any) -> str:
    """The key of the object that has the bytes."""
    return each.shard.path if isinstance(each, Member) else str(each.path)
