"""
`IdxReader`: the format of MNIST, plain or gzip'd.

```
0  0  dtype  rank | rank x uint32, big-endian: count, then the shape of a record | numbers
```
All numbers are big-endian; they stay so here, and `tf.io.decode_raw` swaps them.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn

from tfstream.errors import ShardError, SpecError
from tfstream.readers.base import Reader

PEEK_BYTES = 4096
"""The first bytes of an object: a gzip header with a file name, and an IDX header of any rank."""

DType = Literal["uint8", "int8", "int16", "int32", "float32", "float64"]
_DTYPES: dict[int, tuple[DType, int]] = {
    0x08: ("uint8", 1),
    0x09: ("int8", 1),
    0x0B: ("int16", 2),
    0x0C: ("int32", 4),
    0x0D: ("float32", 4),
    0x0E: ("float64", 8),
}
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True)
class IdxReader(Reader):
    """Fixed-length records behind a header that tells their number, dtype and shape."""

    name: ClassVar[str] = "idx"
    shards: ClassVar[bool] = True


class IdxHeader(NamedTuple):
    """
    What a file says about itself.

    Fields:
        dtype: Of the numbers.
        shape: Of one record, without the count.
        records: How many.
        offset: Bytes before the data.
    """

    dtype: DType
    shape: tuple[int, ...]
    records: int
    offset: int

    @property
    def record_bytes(self) -> int:
        """Bytes of one record."""
        width = next(width for name, width in _DTYPES.values() if name == self.dtype)
        return math.prod(self.shape) * width

    @property
    def size(self) -> int:
        """Bytes of the whole file, unpacked."""
        return self.offset + self.records * self.record_bytes


def parse_header(data: bytes | memoryview, path: str) -> IdxHeader:
    """
    The header at the beginning of unpacked bytes.

    Errors:
        ShardError: it is none, or cut off.
    """
    if len(data) < 4:
        _fail(f"truncated: {len(data)} bytes, an IDX header has at least 4", path, len(data))
    zeros, code, rank = struct.unpack(">HBB", data[:4])
    if zeros or code not in _DTYPES or not rank:
        _fail(f"not an IDX file: it starts with {bytes(data[:4]).hex(' ')}", path, 0)
    end = 4 + 4 * rank
    if len(data) < end:
        _fail(f"truncated: {len(data)} bytes of an IDX header of {end}", path, len(data))
    count, *shape = struct.unpack(f">{rank}I", data[4:end])
    return IdxHeader(_DTYPES[code][0], tuple(shape), count, end)


def peek_header(start: bytes, path: str) -> IdxHeader:
    """
    The header, from the first `PEEK_BYTES` of an object that may be gzip'd.

    Errors:
        ShardError: it is none, or cut off.
    """
    if start[:2] != _GZIP:
        return parse_header(start, path)
    try:
        return parse_header(zlib.decompressobj(31).decompress(start, 4 + 4 * 255), path)
    except zlib.error as error:
        _fail(f"not a gzip file: {error}", path, 0)


def unpack(data: bytes, path: str) -> tuple[IdxHeader, memoryview]:
    """
    The header, and the bytes of all records.

    Errors:
        ShardError: not exactly what the header says: truncated, too long, a bad checksum.
    """
    plain = _inflated(data, path) if data[:2] == _GZIP else data
    header = parse_header(plain, path)
    if len(plain) != header.size:
        what = "truncated" if len(plain) < header.size else "too long"
        _fail(f"{what}: {len(plain):,} of {header.size:,} bytes", path, len(plain))
    return header, memoryview(plain)[header.offset :]


def label_values(header: IdxHeader, data: Any, path: str) -> Any:
    """
    One int64 a record.

    Errors:
        ShardError: records are no single integers.
    """
    import numpy as np

    if header.shape or header.dtype.startswith("float"):
        _fail(f"no labels: records are {header.dtype} {header.shape}, not single integers", path, 0)
    return np.frombuffer(data, np.dtype(header.dtype).newbyteorder(">")).astype(np.int64)


def pair(paths: Sequence[str]) -> list[tuple[str, str | None]]:
    """
    The images files in order, each with its labels file, by name.

    Errors:
        SpecError: a labels file without images.
    """
    labels = {path for path in paths if _LABELS.search(path.rpartition("/")[2])}
    pairs: list[tuple[str, str | None]] = []
    for path in paths:
        if path not in labels:
            found = labels_path(path)
            pairs.append((path, found if found in labels else None))
    left = sorted(labels - {found for _, found in pairs})
    if left:
        raise SpecError(
            f"no images file for the labels {left[0]!r}: it must be named like them, with "
            "'images' for 'labels'"
        )
    return pairs


def labels_path(path: str) -> str:
    """The labels file that belongs to an images file."""
    folder, slash, name = path.rpartition("/")
    name = _IMAGES.sub(lambda found: _like(found[0], "labels"), name)
    return folder + slash + re.sub(r"(?i)(idx)\d", r"\g<1>1", name)


_IMAGES = re.compile("images", re.IGNORECASE)
_LABELS = re.compile("labels", re.IGNORECASE)


def _like(found: str, word: str) -> str:
    return word.upper() if found.isupper() else word.title() if found.istitle() else word


def _inflated(data: bytes, path: str) -> bytes:
    header = peek_header(data, path)
    parts, used, rest = [], 0, data
    while rest:
        member = zlib.decompressobj(31)
        try:
            part = member.decompress(rest, max(header.size - used, 0) + 1)
        except zlib.error as error:
            _fail(f"damaged gzip data: {error}", path, len(data) - len(rest))
        used += len(part)
        parts.append(part)
        if used > header.size:
            _fail(f"too long: unpacks to more than its {header.size:,} bytes", path, header.size)
        if not member.eof:
            _fail(f"truncated: {used:,} of {header.size:,} bytes", path, len(data))
        rest = member.unused_data
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _fail(message: str, path: str, offset: int) -> NoReturn:
    raise ShardError(message, path=path, offset=offset)
