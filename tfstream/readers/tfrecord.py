"""
`TFRecordReader`: TensorFlow's records, each read by itself.

```
length      its sum    data     its sum       record after record; all little-endian
8 bytes     4          length   4             sums are masked CRC-32C
```

The data of a record is an image, or a `tf.train.Example` with one in a field.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from tfstream.errors import MissingDependencyError, ShardError
from tfstream.readers.base import ArchiveReader, Fields, Packed
from tfstream.readers.crc32c import masked_crc32c
from tfstream.readers.example import features_of, value_in

USUAL_IMAGE = "image/encoded"
"""The field that TensorFlow's own tools write images to."""
_NAMED = re.compile(r"\.tfrecords?(?:-\d+-of-\d+)?\Z", re.IGNORECASE)
_LENGTH = struct.Struct("<QI")
_SUM_BYTES = 4
_MOST_LENGTH = 1 << 40
"""A longer record is no record: other formats' first bytes are told apart without their sum."""
AROUND = _LENGTH.size + _SUM_BYTES
"""Bytes around a record's data."""
_IMAGES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"RIFF", b"II*\0", b"MM\0*")
"""What an image may begin with; an Example begins with the tag 0x0a."""


@dataclass(frozen=True, kw_only=True)
class TFRecordReader(ArchiveReader):
    """TFRecord files without compression. A record is an image, or an Example with one in it."""

    name: ClassVar[str] = "tfrecord"
    files: ClassVar[bool] = False

    @classmethod
    def named(cls, key: str) -> bool:
        return _NAMED.search(key) is not None

    @classmethod
    def looks(cls, start: bytes) -> bool:
        if len(start) < _LENGTH.size:
            return False
        length, total = _LENGTH.unpack_from(start)
        try:
            return length < _MOST_LENGTH and bool(total == masked_crc32c(start[:8]))
        except MissingDependencyError:  # whoever has such files has the package
            return False

    def index(self, file: BinaryIO, path: str, fields: Fields) -> Iterator[Packed]:
        size, start, number = file.seek(0, 2), 0, 0
        while start < size:
            length = _length(file, path, start, size)
            label = None
            if fields.label is not None:
                data = _checked(_read(file, start, length + AROUND), path, start)
                label = value_in(data, fields.label, path)
            yield Packed(f"{number:08d}", start, length + AROUND, label=label)
            start, number = start + length + AROUND, number + 1

    def unpack(self, packed: bytes, extra: int, path: str, field: str | None = None) -> bytes:
        data = _checked(packed, path, None)
        if field is None and data.startswith(_IMAGES):
            return data
        features = features_of(data, path)
        wanted = field or USUAL_IMAGE
        values = list(features[wanted].bytes_list.value) if wanted in features else []
        if len(values) != 1:
            text = f"the record has no one image in its field {wanted!r}: its fields are "
            raise ShardError(f"{text}{sorted(features)}", path=path)
        found: bytes = values[0]
        return found


def _length(file: BinaryIO, path: str, start: int, size: int) -> int:
    head = _read(file, start, _LENGTH.size)
    if len(head) < _LENGTH.size:
        raise ShardError("truncated within a record's length", path=path, offset=size)
    length, total = _LENGTH.unpack(head)
    if total != masked_crc32c(head[:8]):
        text = "not a TFRecord file, or a broken one: the sum of a record's length is wrong"
        raise ShardError(text, path=path, offset=start)
    if start + length + AROUND > size:
        raise ShardError(f"truncated within a record of {length:,} bytes", path=path, offset=size)
    found: int = length
    return found


def _read(file: BinaryIO, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)


def _checked(packed: bytes, path: str, start: int | None) -> bytes:
    """The data between the sums."""
    data = packed[_LENGTH.size : -_SUM_BYTES]
    if int.from_bytes(packed[-_SUM_BYTES:], "little") != masked_crc32c(data):
        raise ShardError("the sum of a record's data is wrong", path=path, offset=start)
    return data
