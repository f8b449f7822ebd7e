"""
`ReaderTests`, `ArchiveTests`: what every reader of shards does, written once.

A reader's test class subclasses it and says how a shard is made, behind the back of the code
under test, and how it is read:

```python
class TestIdx(ReaderTests):
    def shard(self, records): return b"..."
    def read(self, data, path): return [...]
```
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

import pytest

from tfstream.errors import ShardError
from tfstream.readers.base import ArchiveReader, Fields

PATHS = ("train/a.bin", "été/日本 #1?%2F.bin", "/leading//and/../odd\t.bin")


class ReaderTests:
    """The contract of a reader; see the module's docstring."""

    records: ClassVar[Sequence[bytes]] = (b"first.", b"\0\0\0\0\0\0", b"\xff\x1f\x8b\r\n\x00")
    """Of one length, for formats that have no other."""

    def shard(self, records: Sequence[bytes]) -> bytes:
        """A shard with these records, made without the code under test."""
        raise NotImplementedError

    def read(self, data: bytes, path: str) -> Sequence[bytes]:
        """All records of a shard, by the code under test."""
        raise NotImplementedError

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_records_come_back(self, count: int) -> None:
        """A shard gives the records it was made of, in order: none, one or several."""
        records = list(self.records[:count])
        assert records == [bytes(each) for each in self.read(self.shard(records), "a.bin")]

    @pytest.mark.parametrize("path", PATHS)
    def test_any_truncation_is_an_error(self, path: str) -> None:
        """A shard cut at any byte raises, with the path as it is and a place in the data."""
        whole = self.shard(self.records)
        for size in range(len(whole)):
            with pytest.raises(ShardError) as caught:
                self.read(whole[:size], path)
            error = caught.value
            assert path == error.path
            assert error.offset is not None, f"cut at {size}: {error}"
            assert 0 <= error.offset <= size, f"cut at {size}: {error}"

    def test_more_than_the_shard_is_an_error(self) -> None:
        """Bytes behind the end of a shard are not passed over."""
        with pytest.raises(ShardError):
            self.read(self.shard(self.records) + b"more", "a.bin")

    @pytest.mark.parametrize(
        "data", [b"<html>Please sign in</html>", b"\x89PNG\r\n\x1a\n" + b"\0" * 60]
    )
    def test_another_format_is_an_error(self, data: bytes) -> None:
        """What is no such shard at all raises, and is told from one that was cut."""
        with pytest.raises(ShardError) as caught:
            self.read(data, "a.bin")
        assert "truncated" not in str(caught.value)


class ArchiveTests:
    """
    The contract of a reader whose records are files; see `ArchiveReader`.

    ```python
    class TestZip(ArchiveTests):
        reader = ZipReader()
        def archive(self, records): return b"..."
    ```
    """

    reader: ClassVar[ArchiveReader]
    names: ClassVar[Sequence[str]] = (
        "cat/first.jpg",
        "été/日本 #1?%2F.jpg",
        "cat/" + 40 * "long/" + "a.jpg",
    )
    """Of records; formats without names override `name_of`."""
    content: ClassVar[Sequence[bytes]] = (b"\xff\xd8\xff first", b"", b"\xff\xd8\xff" + bytes(2000))

    def archive(self, records: Mapping[str, bytes]) -> bytes:
        """An archive with these records, made without the code under test."""
        raise NotImplementedError

    def name_of(self, name: str, number: int) -> str:
        """How the reader names a record."""
        return name

    def read(self, data: bytes, path: str) -> dict[str, bytes]:
        """All records of an archive, by the code under test."""
        found = {}
        for each in self.reader.index(io.BytesIO(data), path, Fields()):
            packed = data[each.start : each.start + each.size]
            found[each.name] = self.reader.unpack(packed, each.extra, path)
        return found

    def records(self, count: int = 3) -> dict[str, bytes]:
        """What the archives of these tests hold."""
        return dict(list(zip(self.names, self.content, strict=True))[:count])

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_records_come_back(self, count: int) -> None:
        """An archive gives the records it was made of: none, one or several, an empty one too."""
        records = self.records(count)
        named = {self.name_of(name, at): data for at, (name, data) in enumerate(records.items())}
        assert named == self.read(self.archive(records), "a.bin")

    @pytest.mark.parametrize("path", PATHS)
    def test_any_truncation_is_an_error(self, path: str) -> None:
        """
        An archive cut at any byte raises, with the path as it is and a place in the data.

        Unless all that is cut is filling at its end.
        """
        whole = self.archive(self.records())
        all_of_it = self.read(whole, path)
        for size in range(1, len(whole)):
            if any(whole[size:]):
                self._is_an_error(whole[:size], path)
            else:
                with suppress(ShardError):
                    assert all_of_it == self.read(whole[:size], path), f"cut at {size}"

    def _is_an_error(self, data: bytes, path: str) -> None:
        with pytest.raises(ShardError) as caught:
            self.read(data, path)
        assert path == caught.value.path
        assert 0 <= (caught.value.offset or 0) <= len(data), f"{len(data)}: {caught.value}"

    def test_a_changed_byte_is_never_silent(self) -> None:
        """Any one changed byte gives an error, or changes nothing but names and times."""
        records = self.records()
        whole = self.archive(records)
        for place in range(0, len(whole), 7):
            data = bytearray(whole)
            data[place] ^= 0x5A
            try:
                found = self.read(bytes(data), "a.bin")
            except ShardError:
                continue
            assert self.may_change(records, found), f"byte {place}: {found.keys()}"

    def may_change(self, records: Mapping[str, bytes], found: Mapping[str, bytes]) -> bool:
        """Whether one changed byte may give this: all data, under other names."""
        return sorted(records.values()) == sorted(found.values())

    def test_another_format_is_an_error(self) -> None:
        """What is no such archive at all raises."""
        for data in (b"<html>Please sign in</html>", b"\x89PNG\r\n\x1a\n" + bytes(600)):
            assert not self.reader.looks(data)
            with pytest.raises(ShardError):
                self.read(data, "a.bin")

    def test_it_is_recognised(self) -> None:
        """The first bytes of an archive say what it is."""
        assert self.reader.looks(self.archive(self.records())[:4096])
