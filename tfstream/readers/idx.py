"""
`IdxReader`: the format of MNIST. One array of numbers, its first side counts the records.

```
0  0  dtype  rank   rank x uint32 sides   numbers, record after record      all big-endian
```

Plain or gzip'd, which the first bytes tell, not the name. The numbers stay big-endian here:
the graph turns them round while it decodes. An `offset` in an error counts bytes of the
object as it is stored; where a gzip stream breaks, it is how far that had been read.
"""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from tfstream.errors import ShardError
from tfstream.readers.base import Reader
from tfstream.readers.idx_pairs import pair

__all__ = [
    "MAX_BYTES",
    "PEEK_BYTES",
    "IdxHeader",
    "IdxReader",
    "label_values",
    "pair",
    "parse_header",
    "peek_header",
    "unpack",
]

DType = Literal["uint8", "int8", "int16", "int32", "float32", "float64"]

PEEK_BYTES = 4096
"""A header of 255 sides is 1,024 bytes, at most 2,300 when deflated; the rest is for the name
and comment in front of a gzip stream."""
MAX_BYTES = 1 << 31
"""What a gzip'd shard may unpack to: it is held in memory whole."""
_STEP_BYTES = 1 << 20  # Python's gzip makes a copy of each step
_MOST_HEADER = 4 + 4 * 255
_GZIP = b"\x1f\x8b"
_NAMED = re.compile(r"[-_.]idx\d?(?:-u?byte)?(?:\.gz)?\Z", re.IGNORECASE)
_DTYPES: dict[int, DType] = {
    0x08: "uint8",
    0x09: "int8",
    0x0B: "int16",
    0x0C: "int32",
    0x0D: "float32",
    0x0E: "float64",
}


@dataclass(frozen=True, kw_only=True)
class IdxReader(Reader):
    """Each object is an IDX file; the labels are in another one, named alike: see `pair`."""

    name: ClassVar[str] = "idx"
    shards: ClassVar[bool] = True

    @classmethod
    def named(cls, key: str) -> bool:
        """As in `train-images-idx3-ubyte.gz`."""
        return _NAMED.search(key.rpartition("/")[2]) is not None

    @classmethod
    def looks(cls, start: bytes) -> bool:
        """Whether there is a header."""
        try:
            peek_header(start, "")
        except ShardError:
            return False
        return True


class IdxHeader(NamedTuple):
    """
    What a shard says of itself.

    Fields:
        shape: Of one record.
        records: How many.
        offset: Bytes in front of the data, unpacked.
    """

    dtype: DType
    shape: tuple[int, ...]
    records: int
    offset: int

    @property
    def record_bytes(self) -> int:
        """Of one record."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def size(self) -> int:
        """Bytes of the whole shard, header too, unpacked."""
        return self.offset + self.records * self.record_bytes


def parse_header(data: bytes, path: str) -> IdxHeader:
    """
    The header that unpacked `data` starts with.

    Errors:
        ShardError: no IDX, or `data` ends inside the header.
    """
    if data[:2] != b"\0\0"[: len(data)]:
        raise ShardError(f"not an IDX file: it starts with {data[:4].hex()}", path=path, offset=0)
    rank = data[3] if len(data) > 3 else 1
    offset = 4 + 4 * rank
    if len(data) < offset:
        raise ShardError(
            f"truncated: {len(data)} bytes of an IDX header", path=path, offset=len(data)
        )
    if data[2] not in _DTYPES:
        raise ShardError(f"not an IDX file: dtype code 0x{data[2]:02x}", path=path, offset=2)
    if rank == 0:
        raise ShardError("an IDX file of rank 0 has no records", path=path, offset=3)
    sides = np.frombuffer(data, ">u4", count=rank, offset=4).tolist()
    return IdxHeader(_DTYPES[data[2]], tuple(sides[1:]), sides[0], offset)


def peek_header(prefix: bytes, path: str) -> IdxHeader:
    """
    The header of an object, plain or gzip'd, of which `prefix` is the first `PEEK_BYTES`.

    Errors:
        ShardError: no IDX, or it is cut inside the header.
    """
    if not prefix.startswith(_GZIP):
        return parse_header(prefix, path)
    stored, start = io.BytesIO(prefix), b""
    try:
        with gzip.GzipFile(fileobj=stored) as stream:
            while piece := stream.read1(_MOST_HEADER - len(start)):
                start += piece
    except EOFError:
        pass  # the prefix ends here, as it may: enough of it or not, the header tells
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _broken(error, path, stored) from error
    try:
        return parse_header(start, path)
    except ShardError as error:
        raise ShardError(f"unpacked: {error}", path=path, offset=stored.tell()) from error


def unpack(data: bytes, path: str, *, max_bytes: int = MAX_BYTES) -> tuple[IdxHeader, memoryview]:
    """
    The header, and the bytes of all records without it.

    Errors:
        ShardError: no IDX, shorter or longer than its header says, a gzip stream that is
            broken or would unpack to more than `max_bytes`.
    """
    header = peek_header(data[:PEEK_BYTES], path)
    if not data.startswith(_GZIP):
        if len(data) != header.size:
            at = min(len(data), header.size)
            raise _wrong_size(len(data), header, path, at)
        return header, memoryview(data)[header.offset :]
    if header.size > max_bytes:
        raise ShardError(
            f"unpacks to {header.size:,} bytes, more than the {max_bytes:,} that fit in memory",
            path=path,
            offset=0,
        )
    return header, _inflate(data, header, path)[header.offset :]


def _inflate(data: bytes, header: IdxHeader, path: str) -> memoryview:
    """Exactly `header.size` bytes, into memory that is taken once."""
    stored = io.BytesIO(data)
    # not touched before it is written, so a header that lies takes no memory
    room: memoryview = np.empty(header.size, np.uint8).data
    done = 0
    try:
        with gzip.GzipFile(fileobj=stored) as stream:
            while count := stream.readinto1(room[done : done + _STEP_BYTES]):
                done += count
            more = stream.read(1)  # at the end this checks sum and length
    except EOFError as error:
        message = f"truncated: the gzip stream ends within {done:,} of {header.size:,} bytes"
        raise ShardError(message, path=path, offset=len(data)) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _broken(error, path, stored) from error
    if more or done < header.size:
        raise _wrong_size(done + len(more), header, path, stored.tell())
    return room


def _wrong_size(found: int, header: IdxHeader, path: str, offset: int) -> ShardError:
    if found < header.size:
        message = f"truncated: {found:,} of {header.size:,} bytes"
    else:
        message = f"longer than the {header.size:,} bytes that its header says"
    return ShardError(message, path=path, offset=offset)


def _broken(error: Exception, path: str, stored: io.BytesIO) -> ShardError:
    return ShardError(f"broken gzip stream: {error}", path=path, offset=stored.tell())


def label_values(
    header: IdxHeader, data: bytes | memoryview, path: str
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """
    The numbers of a labels shard.

    Errors:
        ShardError: they are not one whole number a record.
    """
    if header.shape or header.dtype.startswith("float"):
        raise ShardError(
            f"no labels: records are {header.dtype} of shape {header.shape}, not one whole number",
            path=path,
            offset=2,
        )
    return np.frombuffer(data, np.dtype(header.dtype).newbyteorder(">")).astype(np.int64)
