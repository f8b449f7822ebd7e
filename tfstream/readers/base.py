"""
What every reader is: a frozen description of how an object's bytes become records.

```
Reader            shards of numbers (`shards`), or single files
  ArchiveReader   shards whose records are files of their own: an index, and one record's bytes
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, NamedTuple


@dataclass(frozen=True, kw_only=True)
class Reader:
    """
    Shard bytes to records; no network, no TensorFlow.

    Attributes:
        shards: Whether one object holds several records, numbers of one length.
    """

    name: ClassVar[str]
    shards: ClassVar[bool] = False

    @classmethod
    def named(cls, key: str) -> bool:
        """Whether an object is named as such ones are."""
        return False

    @classmethod
    def looks(cls, start: bytes) -> bool:
        """Whether an object begins as such ones do. `start` is its first kilobytes."""
        return False


class Fields(NamedTuple):
    """
    Which fields of a record are wanted.

    Fields:
        image: What is decoded; None for the only image.
        label: What the label is made of; None for no such field.
    """

    image: str | None = None
    label: str | None = None


class Packed(NamedTuple):
    """
    One record of an archive: where its bytes are.

    Fields:
        name: Within the archive.
        start: Where what has to be read begins.
        size: Bytes to read: packed, with what the format puts around them.
        extra: A number from 0 that `unpack` needs, such as a checksum; int64.
        label: The value of the field `Fields.label`: text, a number, or several of them.
    """

    name: str
    start: int
    size: int
    extra: int = 0
    label: Any = None


@dataclass(frozen=True, kw_only=True)
class ArchiveReader(Reader):
    """
    A reader of archives that can be entered at any record. The subclass knows the byte layout.

    A record is addressed as if the archive were a folder: `shards/a.zip/cat/1.jpg`.

    Attributes:
        files: Whether records are files, whose names say which of them are data.
        usual_label: The field that labels are in where nothing else is said; None for none.
    """

    files: ClassVar[bool] = True
    usual_label: ClassVar[str | None] = None

    def index(self, file: BinaryIO, path: str, fields: Fields) -> Iterator[Packed]:
        """
        The records, in any order. `file` can be read at any place, and is when it is needed.

        Errors:
            ShardError: not such an archive, or a broken one.
        """
        raise NotImplementedError

    def unpack(self, packed: bytes, extra: int, path: str, field: str | None = None) -> bytes:
        """
        The bytes of one record, or of its `field`.

        Errors:
            ShardError: they are not what the archive says.
        """
        raise NotImplementedError
