"""
The first bytes of formats that are made of boxes: JPEG 2000, JPEG XL, AVIF.

```
box        size(4, big) type(4) content; a size of 1: the size is in 8 bytes more; 0: to the end
JPEG 2000  boxes, one of which is "jp2c" with the codestream; or the codestream alone:
           ff 4f ff 51 .. right(4) bottom(4) left(4) top(4) .. components(2), each with depth(1)
JPEG XL    boxes, the first "jxlc" or "jxlp" of which has the codestream; or that alone: ff 0a,
           then bits, the lowest first
AVIF       "ftyp", "meta"; in that "pitm" (which picture), and in "iprp" the properties of all
           pictures ("ipco") and who has which ("ipma")
```
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken

_MOST_BOXES = 1000  # files have dozens; a bound against those made of nothing else
Box = tuple[bytes, int, int]


def boxes(data: bytes, at: int, end: int) -> Iterator[Box]:
    """Type, and where the content begins and ends."""
    for _ in range(_MOST_BOXES):
        if at + 8 > end:
            return
        size, kind = unpack_from(">I4s", data, at)
        content = at + 8
        if size == 1:
            (size,) = unpack_from(">Q", data, content)
            content += 8
        stop = at + size if size else end
        if stop < content:
            return
        yield kind, content, min(stop, end)
        at = stop


def jpeg_2000(data: bytes) -> ImageHeader:
    """The codestream's own header: it, not the box around it, is what will be unpacked."""
    start = 0
    if not data.startswith(b"\xff\x4f"):
        start = next((at for kind, at, _ in boxes(data, 0, len(data)) if kind == b"jp2c"), -1)
    if start < 0 or not data.startswith(b"\xff\x4f\xff\x51", start):
        raise broken("JPEG 2000", "no codestream in it")
    right, bottom, left, top = unpack_from(">4I", data, start + 8)
    (components,) = unpack_from(">H", data, start + 40)
    depths = data[start + 42 : start + 42 + 3 * components : 3]
    bits = max((depth & 0x7F) + 1 for depth in depths)
    return ImageHeader("JPEG 2000", right - left, bottom - top, components, bits)


_JXL_SIZE_BITS = (9, 13, 18, 30)
_JXL_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))


def jpeg_xl(data: bytes) -> ImageHeader:
    """Height and width, in as few bits as they need."""
    start = 0
    if not data.startswith(b"\xff\x0a"):
        streams = {b"jxlc": 0, b"jxlp": 4}  # a part has its number first
        found = boxes(data, 0, len(data))
        start = next((at + streams[kind] for kind, at, _ in found if kind in streams), -1)
    if start < 0 or not data.startswith(b"\xff\x0a", start):
        raise broken("JPEG XL", "no codestream in it")
    read = _Bits(data[start + 2 : start + 12])  # 68 bits at most
    small = read.take(1)
    height = _jxl_side(read, small)
    ratio = read.take(3)
    if ratio:
        wide, high = _JXL_RATIOS[ratio - 1]
        width = height * wide // high
    else:
        width = _jxl_side(read, small)
    return ImageHeader("JPEG XL", width, height)


def _jxl_side(read: _Bits, small: int) -> int:
    if small:
        return 8 * (1 + read.take(5))
    return 1 + read.take(_JXL_SIZE_BITS[read.take(2)])


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


def avif(data: bytes) -> ImageHeader:
    """Size and bits of the primary picture, where it has them before Pillow opens it."""
    found = avif_properties(data)
    width = height = bits = None
    if b"ispe" in found:
        width, height = unpack_from(">II", data, found[b"ispe"] + 4)
    if b"pixi" in found:
        bits = max(data[found[b"pixi"] + 5 :][: data[found[b"pixi"] + 4]], default=None)
    return ImageHeader("AVIF", width, height, bits=bits)


def avif_orientation(data: bytes) -> int:
    """`irot` and `imir` as one EXIF orientation. EXIF's own has no say in AVIF."""
    found = avif_properties(data)
    turns = data[found[b"irot"]] & 3 if b"irot" in found else 0  # quarters, counter-clockwise
    if b"imir" not in found:
        return (1, 8, 3, 6)[turns]
    return ((4, 5, 2, 7), (2, 7, 4, 5))[data[found[b"imir"]] & 1][turns]


def avif_properties(data: bytes) -> dict[bytes, int]:
    """Type of each property of the primary picture -> where its content begins."""
    meta = _inside(data, b"meta", 0, len(data), skip=4)
    places = {kind: (at, end) for kind, at, end in meta}
    if b"pitm" not in places or b"iprp" not in places:
        return {}
    at = places[b"pitm"][0]
    primary = unpack_from(">I" if data[at] else ">H", data, at + 4)[0]
    iprp = {kind: (at, end) for kind, at, end in boxes(data, *places[b"iprp"])}
    if b"ipco" not in iprp or b"ipma" not in iprp:
        return {}
    properties = list(boxes(data, *iprp[b"ipco"]))
    numbers = _associated(data, iprp[b"ipma"][0], primary)
    chosen = [properties[number - 1] for number in numbers if 0 < number <= len(properties)]
    return {kind: at for kind, at, _ in chosen}


def _inside(data: bytes, kind: bytes, at: int, end: int, *, skip: int) -> list[Box]:
    """The boxes in the first box of a kind, `skip` bytes after its beginning."""
    for name, start, stop in boxes(data, at, end):
        if name == kind:
            return list(boxes(data, start + skip, stop))
    return []


def _associated(data: bytes, at: int, picture: int) -> list[int]:
    """Numbers, from 1, of a picture's properties."""
    version, wide = data[at], data[at + 3] & 1
    (entries,) = unpack_from(">I", data, at + 4)
    at += 8
    for _ in range(min(entries, _MOST_BOXES)):
        (number,) = unpack_from(">I" if version else ">H", data, at)
        at += 4 if version else 2
        count = data[at]
        form = f">{count}{'H' if wide else 'B'}"
        if number == picture:
            return [value & (0x7FFF if wide else 0x7F) for value in unpack_from(form, data, at + 1)]
        at += 1 + count * (2 if wide else 1)
    return []
