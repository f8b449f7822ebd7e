"""
From a listing of archives to a listing of what is in them.

```
shards/a.zip            shards/a.zip/cat/1.jpg
shards/b.zip     ->     shards/a.zip/cat/2.jpg     read by the archives' indexes, in threads;
                        shards/b.zip/dog/1.jpg     what is no data is left out, as in a folder
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tfstream.errors import ObjectNotFoundError, ShardError
from tfstream.fetch.columns import encoded
from tfstream.fetch.ignoring import Ignored
from tfstream.fetch.index_cache import IndexCache
from tfstream.fetch.listing import Listing
from tfstream.fetch.members import Member
from tfstream.fetch.reading import Reading
from tfstream.fetch.remote_file import opened_file
from tfstream.readers.base import ArchiveReader, Fields, Packed, Reader
from tfstream.readers.image_names import is_image
from tfstream.sources.base import ObjectInfo
from tfstream.sources.pattern import hidden


def expanded(
    reader: ArchiveReader,
    listing: Listing,
    reading: Reading,
    *,
    ignore: Sequence[str],
    fields: Fields,
) -> Listing:
    """
    The records in the archives of a listing, as a listing sorted bytewise by key.

    Errors:
        ShardError: an archive is broken, or has two records of one name.
        ObjectNotFoundError: there is no data in any of them.
    """
    kept = IndexCache(reading.source, reader, fields)
    indexes = reading.workers.run(
        [partial(_index, reader, reading, info, fields, kept) for info in listing.objects]
    )
    ignored, left_out = Ignored(ignore, reading.source), Counter[str]()
    members: list[Member] = []
    for shard, index in zip(listing.objects, indexes, strict=True):
        for packed in index:
            path = f"{shard.path}/{packed.name}"
            reason = _reason(packed.name, path, ignored, named=reader.files and not fields.image)
            if reason is not None:
                left_out[reason] += 1
                continue
            _, start, size, extra, label = packed
            members.append(Member(path, size, shard, start, extra, label))
    if not members:
        raise ObjectNotFoundError(_nothing(listing, left_out, reading), path=reading.source.pattern)
    members.sort(key=lambda each: encoded(each.path))
    reading.counts.leave_out(left_out)
    unused = [each for each in listing.unused if each not in ignored.used]
    return replace(listing, objects=members, unused=unused)


def _index(
    reader: ArchiveReader, reading: Reading, info: ObjectInfo, fields: Fields, kept: IndexCache
) -> list[Packed]:
    """The records of one archive, from its bytes only where that was not done before."""
    found = kept.get(info)
    if found is not None:
        reading.counts.hit()
        return found
    try:
        found = list(reader.index(opened_file(reading, info), info.path, fields))
        _once(found, info)
    except ShardError as error:
        raise named(reading, info, error) from error
    kept.put(info, found)
    return found


def read_files(
    reader: Reader,
    reading: Reading,
    objects: Sequence[ObjectInfo] | Sequence[Member],
    field: str | None = None,
) -> list[bytes]:
    """
    The bytes of objects; of members of an archive, which lie side by side, by one request.

    Errors:
        SourceError: they could not be read.
        ShardError: they are not what the archive's index says.
    """
    if isinstance(reader, ArchiveReader) and isinstance(objects[0], Member):
        return _members(reader, reading, objects, field)  # type: ignore[arg-type]
    return [reading.get(info) for info in objects]  # type: ignore[arg-type]


def _members(
    reader: ArchiveReader, reading: Reading, members: Sequence[Member], field: str | None
) -> list[bytes]:
    first, last = members[0], members[-1]
    data = reading.get(first.shard, (first.start, last.start + last.size))
    found = []
    for member in members:
        at = member.start - first.start
        try:
            packed = data[at : at + member.size]
            found.append(reader.unpack(packed, member.extra, member.path, field))
        except ShardError as error:
            raise named(reading, member, error) from error
    return found


def named(reading: Reading, info: ObjectInfo | Member, error: ShardError) -> ShardError:
    """The error with the URL, counted."""
    reading.counts.error("ShardError", info.path)
    start = info.start if isinstance(info, Member) else 0
    offset = start if error.offset is None else error.offset
    url = reading.source.url(info.path)
    return ShardError(f"{url}: {error} (at byte {offset:,})", path=info.path, offset=offset)


def _once(index: Sequence[Packed], info: ObjectInfo) -> None:
    twice = [name for name, count in Counter(each.name for each in index).items() if count > 1]
    if twice:
        raise ShardError(f"two records have the name {twice[0]!r}", path=info.path, offset=0)


def _reason(name: str, path: str, ignored: Ignored, *, named: bool) -> str | None:
    """Why a record is no data. Where records are files, they are `named` as images are."""
    ignore = path in ignored  # always asked, so that it knows what was used
    if hidden(name, "**"):
        return "hidden"
    if ignore:
        return "ignored"
    return "not data" if named and not is_image(name) else None


def _nothing(listing: Listing, left_out: Counter[str], reading: Reading) -> str:
    source = reading.source
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return (
        f"no images in the {len(listing.objects):,} archives that match "
        f"{source.url(source.pattern)}: {reasons or 'they are empty'}"
    )
