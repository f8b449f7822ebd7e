"""
From a pattern to the objects that are data: all of them, or an error.

Every page is retried by itself; a listing that breaks off raises. What is listed but is no
data is counted by reason, and what was seen is kept for the error about an empty match.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfstream.errors import ObjectChangedError, ObjectNotFoundError
from tfstream.fetch.ignoring import Ignored
from tfstream.fetch.retry import retrying
from tfstream.fetch.stats import Counts
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, Source, Store
from tfstream.sources.pattern import (
    as_folder,
    extension_of,
    has_wildcard,
    hidden,
    literal_prefix,
    matcher,
    unescape,
)

log = logging.getLogger("tfstream")

_SHOWN = 2
"""How many keys are named for each reason to leave some out."""
_REASONS = {"symlink": "symlink", "directory": "directory marker", "other": "not a regular file"}


@dataclass
class Listing:
    """
    What a pattern means now.

    Attributes:
        objects: The data, sorted bytewise by key: ObjectInfo, or members of archives.
        prefix: What all keys start with; class folders come after it.
        pattern: That of the source; for a folder, that of all in it.
        left_out: Listed objects below the prefix that are no data, by reason.
        examples: The first keys of each reason.
        ignored: Keys that `ignore` left out.
        empty_folders: Paths that hold nothing, ending in a slash.
        others: A few keys that did not match or are no data, for messages.
        unused: Those patterns of `ignore` that match no listed object.
        whole: All data, where `objects` are only those that were selected.
    """

    prefix: str
    pattern: str = "**"
    objects: list[Any] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    empty_folders: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    whole: list[Any] | None = None


def listing_of(
    source: Source,
    store: Store,
    *,
    ignore: Sequence[str],
    options: ReadOptions,
    counts: Counts,
    is_data: Callable[[str], bool],
    apart: Sequence[str] = (),
) -> Listing:
    """
    List, match and sort.

    `is_data` decides about keys where the pattern names no extension. The keys `apart` are
    other objects of the dataset, such as a table of labels: neither data nor left out.

    Errors:
        ObjectNotFoundError: nothing matches; says what is there instead.
        any other SourceError: the listing could not be had as a whole.
    """
    single, pattern = _resolved(source, store, options, counts)
    if single is not None:
        return Listing(prefix=literal_prefix(pattern), pattern=pattern, objects=[single])
    listing = Listing(prefix=literal_prefix(pattern), pattern=pattern)
    ignored = Ignored(ignore, source)
    chosen = _Choice(pattern, ignored, None if extension_of(pattern) else is_data)
    for page in _pages(store, source, listing.prefix, options, counts):
        for info in page:
            if info.path not in apart:
                chosen.add(info, listing)
    listing.unused = [each for each in ignore if each not in ignored.used]
    listing.objects.sort(key=lambda info: info.path.encode("utf-8", "surrogateescape"))
    listing.objects = _once(listing.objects, source)
    if not listing.objects:
        raise ObjectNotFoundError(_nothing(source, store, listing), path=source.pattern)
    counts.leave_out(listing.left_out)
    if listing.left_out:
        _say(source, listing)
    return listing


def _once(objects: Sequence[ObjectInfo], source: Source) -> list[ObjectInfo]:
    """Each key once: pages may overlap, where a store cannot begin after a given key."""
    found: list[ObjectInfo] = []
    for each in objects:
        if found and found[-1].path == each.path:
            if found[-1] == each:
                continue
            raise ObjectChangedError(
                f"changed while it was listed: {source.url(each.path)}: make the dataset again "
                "when nobody writes there, or from a commit",
                path=each.path,
            )
        found.append(each)
    return found


class _Choice:
    """Which listed objects are data."""

    def __init__(
        self, pattern: str, ignored: Ignored, is_data: Callable[[str], bool] | None
    ) -> None:
        self._pattern = pattern
        self._matches = matcher(pattern)
        self._ignored = ignored
        self._is_data = is_data

    def add(self, info: ObjectInfo, listing: Listing) -> None:
        """Put the object where it belongs."""
        if info.kind == "directory":
            listing.empty_folders.append(info.path)
        matches = self._matches(info.path)
        reason = self._reason(info) if matches else None
        if matches and reason is None:
            listing.objects.append(info)
            return
        if len(listing.others) < 1000 and info.kind == "object":
            listing.others.append(info.path)
        if reason == "ignored":
            listing.ignored.append(info.path)
        if reason is not None:
            listing.left_out[reason] += 1
            if len(shown := listing.examples.setdefault(reason, [])) < _SHOWN:
                shown.append(info.path)

    def _reason(self, info: ObjectInfo) -> str | None:
        if info.kind != "object":
            return _REASONS[info.kind]
        ignored = info.path in self._ignored  # always asked, so that it knows what was used
        if hidden(info.path, self._pattern):
            return "hidden"
        if ignored:
            return "ignored"
        if self._is_data is not None and not self._is_data(info.path):
            return "not data"
        return None


def _resolved(
    source: Source, store: Store, options: ReadOptions, counts: Counts
) -> tuple[ObjectInfo | None, str]:
    """Without a wildcard: the object of that name, or else the folder's pattern."""
    pattern = source.pattern
    if has_wildcard(pattern):
        return None, pattern
    if not pattern.endswith("/") and pattern:
        info = object_at(unescape(pattern), source, store, options, counts)
        if info is not None:
            return info, pattern
    return None, as_folder(pattern) if pattern else "**"


def object_at(
    key: str, source: Source, store: Store, options: ReadOptions, counts: Counts
) -> ObjectInfo | None:
    """
    The object of exactly this key, or None.

    Errors:
        SourceError: the store could not be asked.
    """
    first = next(_pages(store, source, key, options, counts), ())
    named = (info for info in first if info.path == key and info.kind == "object")
    return next(named, None)


def _pages(
    store: Store, source: Source, prefix: str, options: ReadOptions, counts: Counts
) -> Iterator[Sequence[ObjectInfo]]:
    after = None
    while True:
        page = retrying(
            lambda _, after=after: store.list_page(prefix, after),  # type: ignore[misc]
            what=f"list {source.url(prefix)}",
            options=options,
            counts=counts,
            path=prefix,
        )
        yield page.objects
        after = page.after
        if after is None:
            return


def extensions_of(keys: Sequence[str]) -> str:
    """The extensions among keys with their counts, the most frequent first, for messages."""
    found = Counter(key.rpartition("/")[2].rpartition(".")[2] if "." in key else "" for key in keys)
    parts = (f"{count} x {'.' + ext if ext else 'none'}" for ext, count in found.most_common(5))
    return ", ".join(parts)


def _nothing(source: Source, store: Store, listing: Listing) -> str:
    message = f"nothing matches {source.url(source.pattern)}"
    if "{" in source.pattern:
        message += " (braces stand for themselves: write *.[jp][pn]g, or no extension for all)"
    if listing.left_out:
        message += f"; left out {_reasons(listing, listing.left_out)}"
    elif any(map(matcher(f"**/{source.pattern}"), listing.others)):
        message += f": for the folders below too, write '**/{source.pattern}'"
    if listing.others:
        some = ", ".join(repr(key) for key in listing.others[:3])
        return f"{message}; there are {some} (extensions: {extensions_of(listing.others)})"
    near = store.near(source.pattern)
    return f"{message}; {near}" if near else message


def warn_unused(source: Source, listing: Listing, *others: Listing) -> None:
    """A pattern of `ignore` that leaves out nothing is most likely misspelt: name some keys."""
    nowhere = set(listing.unused).intersection(*(each.unused for each in others))
    if nowhere:
        log.warning(
            "%s: ignore=%r matches nothing; there are keys such as %s",
            source.url(source.pattern),
            [each for each in listing.unused if each in nowhere],
            ", ".join(plain(info.path) for info in listing.objects[:_SHOWN]),
        )


def _say(source: Source, listing: Listing) -> None:
    quiet = {"directory marker"}
    told = sorted(listing.left_out.keys() - quiet)
    if told:
        log.warning("%s: left out %s", source.url(source.pattern), _reasons(listing, told))


def _reasons(listing: Listing, reasons: Iterable[str]) -> str:
    """Such as `3 not data (README.md, labels.csv, …), 1 hidden (cat/.x.jpg)`."""
    parts = []
    for reason in reasons:
        count, shown = listing.left_out[reason], ", ".join(map(plain, listing.examples[reason]))
        more = ", …" if count > _SHOWN else ""
        parts.append(f"{count:,} {reason} ({shown}{more})")
    return ", ".join(parts)


def plain(key: str) -> str:
    """A key in one line: a log takes no line breaks, nor bytes that are no text."""
    return key if key.isprintable() else ascii(key)
