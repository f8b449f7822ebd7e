"""
The first bits of a JPEG XL file.

```
file        boxes, the first "jxlc" or "jxlp" of which has the codestream; or that alone
codestream  ff 0a, then bits, the lowest of each byte first: the size, then
            "all is as usual"(1); or 0, "there is more"(1), and then orientation - 1 (3)
```
"""

from __future__ import annotations

from tfstream.decoders.boxed import boxes
from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken

_SIZE_BITS = (9, 13, 18, 30)
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))


def jpeg_xl(data: bytes) -> ImageHeader:
    """Width and height as they come from the decoder, which turns."""
    start = 0
    if not data.startswith(b"\xff\x0a"):
        streams = {b"jxlc": 0, b"jxlp": 4}  # a part has its number first
        found = boxes(data, 0, len(data))
        start = next((at + streams[kind] for kind, at, _ in found if kind in streams), -1)
    if start < 0 or not data.startswith(b"\xff\x0a", start):
        raise broken("JPEG XL", "no codestream in it")
    read = _Bits(data[start + 2 : start + 12])  # 73 bits at most
    size = _size(read)
    usual = read.take(1)
    turned = not usual and read.take(1) and read.take(3) >= 4
    return ImageHeader("JPEG XL", *(size[::-1] if turned else size))


def _size(read: _Bits) -> tuple[int, int]:
    """Width and height as they are stored, in as few bits as they need."""
    small = read.take(1)
    height = _side(read, small)
    ratio = read.take(3)
    if not ratio:
        return _side(read, small), height
    wide, high = _RATIOS[ratio - 1]
    return height * wide // high, height


def _side(read: _Bits, small: int) -> int:
    if small:
        return 8 * (1 + read.take(5))
    return 1 + read.take(_SIZE_BITS[read.take(2)])


class _Bits:
    """Bits of bytes, the lowest of the first byte first."""

    def __init__(self, data: bytes) -> None:
        self._rest, self._left = int.from_bytes(data, "little"), 8 * len(data)

    def take(self, count: int) -> int:
        if count > self._left:
            raise IndexError
        value = self._rest & ((1 << count) - 1)
        self._rest, self._left = self._rest >> count, self._left - count
        return value
