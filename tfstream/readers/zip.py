"""
`ZipReader`: files in a zip, each read by itself.

```
local header  data      local header  data      …      central directory   its end
30 bytes, name, extra   what a member's range holds     where each one is, and its sum
```

The central directory is read by `zipfile`: zip64, data descriptors and unicode names too.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from tfstream.errors import ShardError
from tfstream.readers.base import ArchiveReader, Fields, Packed

MAX_BYTES = (1 << 30) - 1
"""What a member may unpack to: it is held in memory whole. Its size is 30 bits of `extra`."""
_HEADER = struct.Struct("<4s22xHH")
_MOST_BETWEEN = _HEADER.size + 2 * 0xFFFF + 24
"""Bytes around the data: a header with the longest name and extra field, a zip64 descriptor."""
_END = struct.Struct("<10sH10x")
_MANY = 0xFFFF
"""Members, or more: then zip64's own end has their number."""
_ENCRYPTED = 0x1


@dataclass(frozen=True, kw_only=True)
class ZipReader(ArchiveReader):
    """Zip archives whose members are stored or deflated. Each image inside is a record."""

    name: ClassVar[str] = "zip"

    @classmethod
    def named(cls, key: str) -> bool:
        return key.lower().endswith(".zip")

    @classmethod
    def looks(cls, start: bytes) -> bool:
        return start.startswith((b"PK\3\4", b"PK\5\6"))

    def index(self, file: BinaryIO, path: str, fields: Fields) -> Iterator[Packed]:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            size = file.seek(0, 2)
            text = f"not a zip archive, or truncated: {error}"
            raise ShardError(text, path=path, offset=size) from error
        _check_directory(file, archive, path)
        members = [each for each in archive.infolist() if not each.is_dir()]
        ends = sorted([*(each.header_offset for each in members), archive.start_dir])
        for each in members:
            _check(each, archive.start_dir, path)
            end = ends[bisect_right(ends, each.header_offset)]
            size = min(end - each.header_offset, each.compress_size + _MOST_BETWEEN)
            yield Packed(each.filename, each.header_offset, size, _packed(each))

    def unpack(self, packed: bytes, extra: int, path: str, field: str | None = None) -> bytes:
        size, deflated, total = extra >> 33, extra >> 32 & 1, extra & 0xFFFFFFFF
        if len(packed) < _HEADER.size or not packed.startswith(b"PK\3\4"):
            raise ShardError("no header of a zip member where the directory says", path=path)
        _, name, more = _HEADER.unpack_from(packed)
        stored = memoryview(packed)[_HEADER.size + name + more :]
        data = _inflated(stored, size, path) if deflated else bytes(stored[:size])
        if len(data) != size or zlib.crc32(data) != total:
            raise ShardError(
                f"broken zip member: {len(data):,} of {size:,} bytes with CRC-32 "
                f"{zlib.crc32(data):08x}, not {total:08x}",
                path=path,
            )
        return data


def _check_directory(file: BinaryIO, archive: zipfile.ZipFile, path: str) -> None:
    """The directory has as many entries as its end says: `zipfile` itself does not look."""
    file.seek(-(_END.size + len(archive.comment)), 2)
    _, count = _END.unpack(file.read(_END.size))
    found = len(archive.infolist())
    if count not in (found, _MANY):
        text = f"a broken directory: {found:,} members where {count:,} belong"
        raise ShardError(text, path=path, offset=archive.start_dir)


def _check(member: zipfile.ZipInfo, end: int, path: str) -> None:
    bad = None
    if not 0 <= member.header_offset < end:
        bad = f"is said to begin at byte {member.header_offset:,}, behind all members"
    elif member.flag_bits & _ENCRYPTED:
        bad = "is encrypted: pack it without a password"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        bad = f"has compression method {member.compress_type}: only stored and deflated are read"
    elif member.file_size > MAX_BYTES:
        bad = f"unpacks to {member.file_size:,} bytes, more than {MAX_BYTES:,}"
    if bad:
        text = f"the member {member.filename!r} {bad}"
        raise ShardError(text, path=path, offset=member.header_offset)


def _packed(member: zipfile.ZipInfo) -> int:
    """Size, method and sum in one number."""
    deflated = member.compress_type == zipfile.ZIP_DEFLATED
    return member.file_size << 33 | deflated << 32 | member.CRC


def _inflated(stored: memoryview, size: int, path: str) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored, size + 1)
    except zlib.error as error:
        raise ShardError(f"broken zip member: {error}", path=path) from error
