"""`RemoteFile`: an object as a file that can be read at any place, for libraries that want one."""

from __future__ import annotations

import io
from collections import OrderedDict

from tfstream.fetch.reading import Reading
from tfstream.sources.base import ObjectInfo

BLOCK_BYTES = 1 << 20
"""What one request reads: at 30 ms and 100 MB/s the delay is a quarter of the time."""
_KEPT = 4
"""Blocks that are kept: an index is read from front to back, or at the end and then onward."""


class RemoteFile(io.RawIOBase):
    """Read-only; blocks of the object are requested when they are needed, with retries."""

    def __init__(self, reading: Reading, info: ObjectInfo) -> None:
        self._reading = reading
        self._info = info
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._info.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        number, within = divmod(self._at, BLOCK_BYTES)
        if self._at >= self._info.size:
            return 0
        piece = self._block(number)[within : within + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _block(self, number: int) -> bytes:
        block = self._blocks.pop(number, None)
        if block is None:
            start = number * BLOCK_BYTES
            length = min(BLOCK_BYTES, self._info.size - start)
            block = self._reading.get_range(self._info, start=start, length=length)
        self._blocks[number] = block
        if len(self._blocks) > _KEPT:
            self._blocks.popitem(last=False)
        return block


def opened_file(reading: Reading, info: ObjectInfo) -> io.BufferedReader:
    """The object as a buffered file."""
    return io.BufferedReader(RemoteFile(reading, info))
