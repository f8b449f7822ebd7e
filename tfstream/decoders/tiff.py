"""
The first directory of a TIFF file, which is also the form of an EXIF block.

```
TIFF      "II" or "MM" (byte order of all that follows) 42(2) place of the directory(4)
          there: count(2), then entries of 12 bytes: tag(2) type(2) count(4) field(4)
BigTIFF   "II" or "MM" 43(2) 8(2) 0(2) place of the directory(8)
          there: count(8), then entries of 20 bytes: tag(2) type(2) count(8) field(8)
```

A field has the values themselves, or where they are longer their place in the file.
"""

from __future__ import annotations

from struct import calcsize, pack, unpack_from

from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
ORIENTATION, SAMPLE_FORMAT = 274, 339
WHITE_IS_ZERO = 0  # of PHOTOMETRIC; Pillow also takes that where there is none
_SIGNED, _FLOAT = 2, 3  # of SAMPLE_FORMAT

_CODES = {1: "B", 3: "H", 4: "I", 16: "Q"}
"""TIFF's types of whole numbers, for `struct`."""

_MOST_ENTRIES = 4096  # files have dozens; a bound against those made of nothing else
_MOST_VALUES = 8  # of one entry: samples per pixel that Pillow reads


class Directory:
    """
    Whole numbers by tag. Where a tag comes twice the first counts, as in Pillow 13.

    Leaves a ValueError, struct.error or OverflowError where the bytes are no TIFF.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._order = {b"II": "<", b"MM": ">"}.get(data[:2], "")
        if not self._order:
            raise ValueError("no byte order")
        self._big = self._read("H", 2) == 43
        start = self._read("Q", 8) if self._big else self._read("I", 4)
        count = self._read("Q" if self._big else "H", start)
        first, step = (start + 8, 20) if self._big else (start + 2, 12)
        stop = min(first + step * min(count, _MOST_ENTRIES), len(data) - step + 1)
        self._entries = [(self._read("H", at), at) for at in range(first, stop, step)]
        self._places = dict(reversed(self._entries))

    def values(self, tag: int) -> tuple[int, ...]:
        """Of an entry, the first few; none where it is absent or has something else."""
        at = self._places.get(tag)
        if at is None:
            return ()
        code = _CODES.get(self._read("H", at + 2), "")
        count = self._read("Q" if self._big else "I", at + 4)
        if not code or not count:
            return ()
        at += 12 if self._big else 8
        if calcsize(code) * count > (8 if self._big else 4):
            at = self._read("Q" if self._big else "I", at)
        return unpack_from(f"{self._order}{min(count, _MOST_VALUES)}{code}", self._data, at)

    def upright(self) -> bytes:
        """The same bytes with an orientation of 1, in case they have another."""
        form = "HHQH6x" if self._big else "HHIH2x"
        entry = pack(self._order + form, ORIENTATION, 3, 1, 1)
        entries = [at for tag, at in self._entries if tag == ORIENTATION]
        if all(self._data.startswith(entry, at) for at in entries):
            return self._data
        data = bytearray(self._data)
        for at in entries:
            data[at : at + len(entry)] = entry
        return bytes(data)

    def _read(self, code: str, at: int) -> int:
        return int(unpack_from(self._order + code, self._data, at)[0])


def tiff(data: bytes) -> ImageHeader:
    """The size of the first page, its bits, and what numbers they are."""
    directory = Directory(data)
    width, height, bits = (directory.values(tag) for tag in (WIDTH, HEIGHT, BITS))
    if not width or not height:
        raise broken("TIFF", "no width and height in its first directory")
    depth = max(bits, default=1)
    unreadable = ""
    if data.startswith(b"MM\0+"):  # Pillow takes it for a small one
        unreadable = "big-endian BigTIFF"
    elif _FLOAT in directory.values(SAMPLE_FORMAT):
        unreadable = f"{depth}-bit float" if depth in (16, 32, 64) else "floating point"
    elif depth == 8 and _SIGNED in directory.values(SAMPLE_FORMAT):  # to Pillow unsigned
        unreadable = "8-bit signed integers"
    white_is_zero = WHITE_IS_ZERO in (directory.values(PHOTOMETRIC) or (WHITE_IS_ZERO,))
    header = ImageHeader("TIFF", width[0], height[0], bits=depth, unreadable=unreadable)
    return header._replace(altered="white is zero" if white_is_zero else "")
