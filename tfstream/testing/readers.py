"""
`ReaderTests`: what every reader of shards does, written once.

A reader's test class subclasses it and says how a shard is made, behind the back of the code
under test, and how it is read:

```python
class TestIdx(ReaderTests):
    def shard(self, records): return b"..."
    def read(self, data, path): return [...]
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from tfstream.errors import ShardError

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
