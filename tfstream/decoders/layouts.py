"""
What a header says, and the first bytes of the simple formats: GIF, BMP, ICO, PNM.

```
GIF    "GIF89a" screen width(2) height(2) flags(1) .. palette, then `21` extension, `2c` frame
       or `3b` end; an extension has sub-blocks `length(1) data` until a length of 0
BMP    "BM" .. start of pixels(4) header size(4) width(4) height(4) planes(2) bits(2)
       compression(4)
ICO    00 00 01 00 count(2), then entries of 16 bytes, each with size(4) start(4) at 8: a PNG
       or the header of a BMP
PNM    "P1" to "P6", "PF", "Pf", then width, height and, but for P1 and P4, the most, as text
```

Every reader here and in the files beside takes the whole file, and may leave an IndexError, a
struct.error and the like where it ends too early; `headers.look` turns them into the error
that users see.
"""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from struct import unpack_from
from typing import NamedTuple

from tfstream.decoders.refusal import broken


class ImageHeader(NamedTuple):
    """
    What the first bytes of an image say. None: not known before a decoder opens it.

    Fields:
        format: As people write it: `JPEG`, `WebP`, `JPEG 2000`.
        width, height: Pixels that a decoder will have to hold.
        channels: As stored: 1, 2, 3 or 4. A palette counts as the 3 of its colours.
        bits: Per channel; None counts as 8.
        transparent: A PNG's palette or colour key has transparency.
        odd: Why TensorFlow must not have this file although it knows the format, in words;
            empty for an ordinary one.
        unreadable: What nothing here reads in it, such as `32-bit float`; mostly empty.
        gamma: A PNG says how bright its numbers are meant to be.
        altered: Why Pillow gives other numbers than those stored, such as `white is zero`:
            as colours they are right, as a mask's classes wrong. Mostly empty.
    """

    format: str
    width: int | None = None
    height: int | None = None
    channels: int | None = None
    bits: int | None = None
    transparent: bool = False
    odd: str = ""
    unreadable: str = ""
    gamma: bool = False
    altered: str = ""


def gif(data: bytes) -> ImageHeader:
    """The screen, or the first frame where that reaches beyond it."""
    width, height, flags = unpack_from("<HHB", data, 6)
    at = 13 + (6 << (flags & 7) if flags & 0x80 else 0)
    while data[at] == 0x21:
        at += 2
        while length := data[at]:
            at += length + 1
        at += 1
    if data[at] != 0x2C:
        raise broken("GIF", "there is no picture in it")
    left, top, frame_width, frame_height = unpack_from("<4H", data, at + 1)
    size = (max(width, left + frame_width), max(height, top + frame_height))
    return ImageHeader("GIF", *size, 3, 8)


def bmp(data: bytes) -> ImageHeader:
    """The header; plain is what TensorFlow takes every BMP for."""
    start, header_size = unpack_from("<II", data, 10)
    if header_size == 12:
        width, height, bits, compression = *unpack_from("<HH2xH", data, 18), 0
    else:
        width, height, bits, compression = unpack_from("<ii2xHI", data, 18)
    surplus = len(data) - start - (3 * width + 3) // 4 * 4 * abs(height)
    odd = ""
    if header_size < 40:
        odd = "OS/2"
    elif bits != 24 or compression:
        odd = f"{bits}-bit, compression {compression}"
    elif height < 0:
        odd = "top-down"
    elif surplus:
        odd = f"{surplus:+,} bytes"
    return ImageHeader("BMP", width, abs(height), 4 if bits == 32 else 3, min(bits, 8), odd=odd)


def ico(data: bytes) -> ImageHeader:
    """The largest picture as its own header has it: the directory's sizes may be wrong."""
    sizes = []
    for entry in range(unpack_from("<H", data, 4)[0]):
        (start,) = unpack_from("<I", data, 18 + 16 * entry)
        with suppress(struct.error):  # one that is cut: another may be whole
            sizes.append(_icon(data, start))
    return ImageHeader("ICO", *max(sizes, key=lambda size: size[0] * size[1]))


def _icon(data: bytes, start: int) -> tuple[int, int]:
    if data.startswith(b"\x89PNG", start):
        width, height = unpack_from(">II", data, start + 16)
        return width, height
    width, height = unpack_from("<ii", data, start + 4)
    return width, abs(height) // 2  # a picture and its mask, one above the other


_GAP = rb"(?:\s|#[^\n]*\n)+"  # comments may stand between any two
_PNM_SIZE = re.compile(rb"P(.)" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})\s")
_PNM_MOST = re.compile(_GAP + rb"(\d{1,9})\s")


def pnm(data: bytes) -> ImageHeader:
    """Width and height in digits, and the number that stands for white."""
    found = _PNM_SIZE.match(data, 0, 4096)
    if found is None:
        raise broken("PNM", "no width and height at its start")
    kind = found[1]
    scale = _PNM_MOST.match(data, found.end() - 1, 8192) if kind in b"2356" else None
    most = int(scale[1]) if scale else 1
    altered = "black is 1" if kind in b"14" else f"its maximum is {most}"
    header = ImageHeader("PNM", int(found[2]), int(found[3]), 3 if kind in b"36F" else 1)
    return header._replace(
        bits=16 if most > 255 else 8,
        unreadable="32-bit float" if kind in b"Ff" else "",
        altered="" if most in (255, 65_535) else altered,
    )
