"""
Records inside archives, listed as if each were an object of its own.

```
Member    shards/a.zip/cat/1.jpg    bytes 8,192 to 99,000 of shards/a.zip
Members   a million of them as columns
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tfstream.fetch.columns import Objects, Texts, encoded
from tfstream.fetch.listing import Listing
from tfstream.sources.base import ObjectInfo

T = TypeVar("T")
_GAP_BYTES = 64 << 10
"""Bytes that are read for nothing rather than asked for anew: at 100 MB/s they take 0.7 ms."""
_RUN_BYTES = 8 << 20
"""The most that one request reads."""
DERIVED = frozenset({"member_sizes", "starts", "extras"})
"""Columns that follow from an archive's bytes, whose token is pinned: not part of a digest."""
Numbers = np.ndarray[Any, np.dtype[Any]]


class Member(NamedTuple):
    """
    One record of an archive.

    Fields:
        path: Of the archive, a slash, and its own name.
        size: Bytes to read.
        shard: The archive.
        start: Where in it they begin.
        extra: What the reader needs to unpack them.
        label: What its label is made of; known only in a listing.
    """

    path: str
    size: int
    shard: ObjectInfo
    start: int
    extra: int
    label: Any = None


@dataclass(frozen=True)
class Members(Objects):
    """
    Members, columnar. Their tokens are empty: an archive's token is that of all in it.

    Attributes:
        shards: The archives, each once.
        places: int64, the row in `shards` of each member.
        starts: int64.
        extras: int64.
    """

    shards: Objects
    places: Numbers
    starts: Numbers
    extras: Numbers

    @classmethod
    def within(cls, members: Sequence[Member]) -> Members:
        """From members, in their order."""
        rows = {each.shard: 0 for each in members}
        for row, shard in enumerate(rows):
            rows[shard] = row
        count = len(members)
        return cls(
            Texts.of(encoded(each.path) for each in members),
            np.fromiter((each.size for each in members), np.int64, count),
            Texts.of(b"" for _ in members),
            Objects.of(list(rows)),
            np.fromiter((rows[each.shard] for each in members), np.int64, count),
            np.fromiter((each.start for each in members), np.int64, count),
            np.fromiter((each.extra for each in members), np.int64, count),
        )

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[index] for index in range(*row.indices(len(self)))]
        return Member(
            self.paths[row],
            int(self.sizes[row]),
            self.shards[int(self.places[row])],
            int(self.starts[row]),
            int(self.extras[row]),
        )

    def columns(self) -> Iterator[tuple[str, bytes | Numbers]]:
        yield "paths", self.paths.buffer
        yield "path_ends", self.paths.ends
        for name, column in self.shards.columns():
            yield f"shard_{name}", column
        yield "places", self.places
        yield "member_sizes", self.sizes
        yield "starts", self.starts
        yield "extras", self.extras


def runs_of(objects: Sequence[Any]) -> list[list[int]]:
    """
    Which of these to read by one request: the places of members that lie side by side.

    An object of its own is a run of its own.
    """
    if not objects or not isinstance(objects[0], Member):
        return [[place] for place in range(len(objects))]
    runs: list[list[int]] = []
    last: Member | None = None
    for place in sorted(range(len(objects)), key=lambda at: _where(objects[at])):
        member: Member = objects[place]
        if last is not None and _goes_on(objects[runs[-1][0]], last, member):
            runs[-1].append(place)
        else:
            runs.append([place])
        last = member
    return runs


def in_place(runs: Sequence[Sequence[int]], found: Sequence[Sequence[T]]) -> list[T]:
    """What came run by run, in the order that was asked for."""
    results: list[Any] = [None] * sum(map(len, runs))
    for run, part in zip(runs, found, strict=True):
        for place, each in zip(run, part, strict=True):
            results[place] = each
    return results


def _where(member: Member) -> tuple[str, int]:
    return member.shard.path, member.start


def _goes_on(first: Member, last: Member, member: Member) -> bool:
    gap = member.start - (last.start + last.size)
    whole = member.start + member.size - first.start
    return last.shard == member.shard and 0 <= gap <= _GAP_BYTES and whole <= _RUN_BYTES


def listed(objects: Sequence[ObjectInfo] | Sequence[Member]) -> Objects:
    """Objects or members as columns."""
    if objects and isinstance(objects[0], Member):
        return Members.within(objects)  # type: ignore[arg-type]
    return Objects.of(objects)  # type: ignore[arg-type]


def label_keys(listing: Listing, *, inside: bool) -> tuple[list[str], str]:
    """
    What labels are made of, and the prefix of all.

    `inside` asks for the names within archives, where there are any: class folders are there.
    """
    members = inside and isinstance(listing.objects[0], Member)
    keys = [each.path for each in listing.objects]
    if not members:
        return keys, listing.prefix
    starts = (len(each.shard.path) + 1 for each in listing.objects)
    return [key[start:] for key, start in zip(keys, starts, strict=True)], ""
