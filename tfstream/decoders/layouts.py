"""
The first bytes of the formats whose size can be read from them.

```
JPEG   ff d8, then segments `ff marker length(2, big) ...` until a frame: precision(1)
       height(2) width(2) components(1)
PNG    signature(8), then chunks `length(4, big) type(4) data crc(4)`, IHDR first: width(4)
       height(4) bits(1) colour type(1)
GIF    "GIF89a" screen width(2) height(2) flags(1) .. palette, then `21` extension, `2c` frame
       or `3b` end; data in sub-blocks `length(1) data` until a length of 0
BMP    "BM" .. start of pixels(4) header size(4) width(4) height(4) planes(2) bits(2)
       compression(4)
WebP   "RIFF" size(4) "WEBP", then the chunk VP8 (lossy), VP8L (lossless) or VP8X (extended)
ICO    00 00 01 00 count(2), then entries of 16 bytes, each with size(4) start(4) at 8: a PNG
       or the header of a BMP
PNM    "P1" to "P6", "PF", "Pf", then width and height as text
```

Every reader here takes the whole file, and may leave an IndexError or a struct.error where
it ends too early; `headers.look` turns them into the error that users see.
"""

from __future__ import annotations

import re
from struct import unpack_from
from typing import NamedTuple

from tfstream.errors import DecodeError


class ImageHeader(NamedTuple):
    """
    What the first bytes of an image say. None: not known before a decoder opens it.

    Fields:
        format: As people write it: `JPEG`, `WebP`, `JPEG 2000`.
        width, height: Pixels that a decoder will have to hold.
        channels: As stored: 1, 2, 3 or 4. A palette counts as the 3 of its colours.
        bits: Per channel.
        transparent: A PNG's or GIF's palette or colour key has transparency.
        odd: Why TensorFlow must not have this file although it knows the format, in words;
            empty for an ordinary one.
    """

    format: str
    width: int | None = None
    height: int | None = None
    channels: int | None = None
    bits: int | None = None
    animated: bool = False
    transparent: bool = False
    odd: str = ""


_MARKER = re.compile(rb"\xff([\x01-\xfe])")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_NO_LENGTH = frozenset(range(0xD0, 0xD8)) | {0x01}
_JPEG_SOI, _JPEG_EOI, _JPEG_SOS = 0xD8, 0xD9, 0xDA
_MOST_SEGMENTS = 1000  # an ICC profile takes 255 at most; a bound against files made of nothing


def jpeg(data: bytes) -> ImageHeader:
    """Walk to the frame header: the EXIF and ICC segments before it are stepped over."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(data, at)  # also skips fill bytes and stray ones, as libjpeg does
        if found is None:
            raise IndexError
        at = found.end()
        marker = data[at - 1]
        if marker in _JPEG_FRAMES:
            return _jpeg_frame(data, at, marker)
        if marker in (_JPEG_SOI, _JPEG_EOI, _JPEG_SOS):
            break
        if marker not in _JPEG_NO_LENGTH:
            at += int(unpack_from(">H", data, at)[0])
    raise DecodeError("broken JPEG: no frame header before its pixels")


def _jpeg_frame(data: bytes, at: int, marker: int) -> ImageHeader:
    bits, height, width, channels = unpack_from(">2xBHHB", data, at)
    odd = ""
    if data.rfind(b"\xff\xd9", at) < 0:
        odd = "truncated"  # within pixels ff is always followed by 00: this finds a real end
    elif marker > 0xC2:
        odd = "lossless" if marker & 3 == 3 else "arithmetic" if marker > 0xC8 else "hierarchical"
    elif bits != 8:
        odd = f"{bits}-bit"
    elif channels not in (1, 3):
        odd = "CMYK" if channels == 4 else f"{channels} components"
    return ImageHeader("JPEG", width, height, channels, bits, odd=odd)


_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}


def png(data: bytes) -> ImageHeader:
    """The IHDR chunk, and which others come before the pixels: `acTL` is an animation's."""
    first, width, height, bits, colour = unpack_from(">4sIIBB", data, 12)
    if first != b"IHDR" or colour not in _PNG_CHANNELS:
        raise DecodeError("broken PNG: no IHDR chunk, or an unknown colour type in it")
    chunks = _png_chunks(data)
    channels, animated, transparent = _PNG_CHANNELS[colour], b"acTL" in chunks, b"tRNS" in chunks
    return ImageHeader("PNG", width, height, channels, bits, animated, transparent)


def _png_chunks(data: bytes) -> set[bytes]:
    at, kinds = 33, set[bytes]()
    for _ in range(_MOST_SEGMENTS):
        length, kind = unpack_from(">I4s", data, at)
        if kind == b"IDAT":
            break
        kinds.add(kind)
        at += length + 12
    return kinds


def gif(data: bytes) -> ImageHeader:
    """The screen and the first frame, and whether anything follows that frame."""
    width, height, flags = unpack_from("<HHB", data, 6)
    at, transparent = _gif_frame(data, 13 + _gif_palette(flags))
    if data[at] != 0x2C:
        raise DecodeError("broken GIF: there is no picture in it")
    left, top, frame_width, frame_height, flags = unpack_from("<HHHHB", data, at + 1)
    animated, odd = False, ""
    try:
        end = _gif_data_end(data, at + 11 + _gif_palette(flags))
        animated = data[_gif_frame(data, end)[0]] == 0x2C
    except IndexError:
        odd = "truncated"
    if animated:
        odd = "animated"  # TensorFlow would unpack every frame to give the first
    elif transparent:
        odd = "transparent"
    elif (left, top, frame_width, frame_height) != (0, 0, width, height):
        odd = "its frame is not its screen"
    size = (max(width, left + frame_width), max(height, top + frame_height))
    return ImageHeader("GIF", *size, 3, 8, animated, transparent, odd)


def _gif_palette(flags: int) -> int:
    return int(6 << (flags & 7)) if flags & 0x80 else 0


def _gif_frame(data: bytes, at: int) -> tuple[int, bool]:
    """Where the next frame or the end is, and whether an extension before it has transparency."""
    transparent = False
    while data[at] == 0x21:
        if data[at + 1] == 0xF9:
            transparent = bool(data[at + 3] & 1)
        at = _gif_data_end(data, at + 2)
    return at, transparent


def _gif_data_end(data: bytes, at: int) -> int:
    while length := data[at]:
        at += length + 1
    return at + 1


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


def webp(data: bytes) -> ImageHeader:
    """The first chunk, in each of its three forms."""
    size, kind = unpack_from("<I4x4s", data, 4)
    alpha = animated = False
    if kind == b"VP8X":
        flags, width, wide, height, high = unpack_from("<B3xHBHB", data, 20)
        width, height = width + (wide << 16) + 1, height + (high << 16) + 1
        alpha, animated = bool(flags & 0x10), bool(flags & 0x02)
    elif kind == b"VP8L":
        (bits,) = unpack_from("<I", data, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        alpha = bool(bits >> 28 & 1)
    elif kind == b"VP8 ":
        width, height = (n & 0x3FFF for n in unpack_from("<HH", data, 26))
    else:
        raise DecodeError("broken WebP: no VP8, VP8L or VP8X chunk at its start")
    odd = "animated" if animated else "truncated" if len(data) < size + 8 else ""
    return ImageHeader("WebP", width, height, 4 if alpha else 3, 8, animated, odd=odd)


def ico(data: bytes) -> ImageHeader:
    """The largest picture as its own header has it: the directory's sizes may be wrong."""
    sizes = []
    for entry in range(unpack_from("<H", data, 4)[0]):
        (start,) = unpack_from("<I", data, 18 + 16 * entry)
        if data.startswith(b"\x89PNG", start):
            sizes.append(unpack_from(">II", data, start + 16))
        else:  # a picture and its mask, one above the other
            width, height = unpack_from("<ii", data, start + 4)
            sizes.append((width, abs(height) // 2))
    return ImageHeader("ICO", *max(sizes, key=lambda size: size[0] * size[1]))


_PNM_SIZE = re.compile(rb"P(.)(?:\s+|#[^\n]*\n)+(\d{1,9})(?:\s+|#[^\n]*\n)+(\d{1,9})\s", re.DOTALL)


def pnm(data: bytes) -> ImageHeader:
    """Width and height in digits, with comments between them."""
    found = _PNM_SIZE.match(data, 0, 4096)
    if found is None:
        raise DecodeError("broken PNM: no width and height at its start")
    channels = 3 if found[1] in b"36F" else 1
    return ImageHeader("PNM", int(found[2]), int(found[3]), channels)
