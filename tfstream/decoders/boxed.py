"""
The first bytes of formats that are made of boxes: JPEG 2000, AVIF, HEIC.

```
box        size(4, big) type(4) content; a size of 1: the size is in 8 bytes more; 0: to the end
JPEG 2000  boxes, one of which is "jp2c" with the codestream; or the codestream alone:
           ff 4f ff 51 .. right(4) bottom(4) left(4) top(4) .. components(2), each with depth(1),
           the highest bit of which says signed
AVIF,      "ftyp", "meta"; in that "pitm" (which picture), and in "iprp" the properties of all
HEIC       pictures ("ipco") and who has which ("ipma")
```
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken

_MOST_BOXES = 1000  # files have dozens; a bound against those made of nothing else
Box = tuple[bytes, int, int]
_Size = tuple[int | None, int | None]


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
    signed = any(depth & 0x80 for depth in depths)
    altered = "signed" if signed else f"{bits} bits" if bits not in (8, 16) else ""
    size = (right - left, bottom - top)
    return ImageHeader("JPEG 2000", *size, components, bits, altered=altered)


def avif(data: bytes) -> ImageHeader:
    """Size and bits of the primary picture, where it has them before Pillow opens it."""
    found = _properties(data)
    bits = None
    if b"pixi" in found:
        bits = max(data[found[b"pixi"] + 5 :][: data[found[b"pixi"] + 4]], default=None)
    return ImageHeader("AVIF", *_stored_size(data, found), bits=bits)


def heic(data: bytes) -> ImageHeader:
    """The size as it comes from the decoder, which cuts (`clap`) and turns (`irot`)."""
    found = _properties(data)
    size = _stored_size(data, found)
    if b"clap" in found:  # so encoders write a size that they had to pad
        size = _whole_size(*unpack_from(">4I", data, found[b"clap"]))
    return ImageHeader("HEIC", *(size[::-1] if _quarters(data, found) % 2 else size))


def _whole_size(width: int, of_width: int, height: int, of_height: int) -> _Size:
    """Of two fractions; open where they are no whole numbers: who knows how they are rounded."""
    if not of_width or not of_height or width % of_width or height % of_height:
        return None, None
    return width // of_width, height // of_height


def avif_orientation(data: bytes) -> int:
    """`irot` and `imir` as one EXIF orientation. EXIF's own has no say in AVIF."""
    found = _properties(data)
    turns = _quarters(data, found)
    if b"imir" not in found:
        return (1, 8, 3, 6)[turns]
    return ((4, 5, 2, 7), (2, 7, 4, 5))[data[found[b"imir"]] & 1][turns]


def _stored_size(data: bytes, found: dict[bytes, int]) -> _Size:
    if b"ispe" not in found:
        return None, None
    width, height = unpack_from(">II", data, found[b"ispe"] + 4)
    return width, height


def _quarters(data: bytes, found: dict[bytes, int]) -> int:
    """By how many it is to be turned, counter-clockwise."""
    return data[found[b"irot"]] & 3 if b"irot" in found else 0


def _properties(data: bytes) -> dict[bytes, int]:
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
