"""
The first bytes of formats that are made of segments or chunks: JPEG, PNG, WebP.

```
JPEG   ff d8, then segments `ff marker length(2, big) ...` until a frame: precision(1)
       height(2) width(2) components(1)
PNG    signature(8), then chunks `length(4, big) type(4) data crc(4)`, IHDR first: width(4)
       height(4) bits(1) colour type(1)
WebP   "RIFF" size(4) "WEBP", then chunks `type(4) length(4, little) data`, padded to an even
       length: VP8 (lossy), VP8L (lossless) or VP8X (extended) first
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import unpack_from

from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken

_MARKER = re.compile(rb"\xff([\x01-\xfe])")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_NO_LENGTH = frozenset(range(0xD0, 0xD8)) | {0x01}
_JPEG_SOI, _JPEG_EOI, _JPEG_SOS = 0xD8, 0xD9, 0xDA
_MOST_SEGMENTS = 1000  # an ICC profile takes 255 at most; a bound against files made of nothing
_MOST_SCANS = 100  # encoders write ten; each of 120 bytes may take 53 ms at 81 megapixels (seen)
_MOST_CHUNKS = 10_000  # PNG writers cut pixels into chunks of 8 kB and more: 80 MB


def jpeg(data: bytes) -> ImageHeader:
    """Walk to the frame header: the EXIF and ICC segments before it are stepped over."""
    for marker, at in jpeg_segments(data):
        if marker in _JPEG_FRAMES:
            return _jpeg_frame(data, at, marker)
    raise broken("JPEG", "no frame header before its pixels")


def jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Marker, and the place behind it, of the segments up to the pixels."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(data, at)  # also skips fill bytes and stray ones, as libjpeg does
        if found is None:
            raise IndexError
        at = found.end()
        marker = data[at - 1]
        if marker in (_JPEG_SOI, _JPEG_EOI, _JPEG_SOS):
            return
        yield marker, at
        if marker not in _JPEG_NO_LENGTH:
            at += int(unpack_from(">H", data, at)[0])


def _jpeg_frame(data: bytes, at: int, marker: int) -> ImageHeader:
    bits, height, width, channels = unpack_from(">2xBHHB", data, at)
    progressive = marker & 3 == 2
    if progressive and data.count(b"\xff\xda", at) > _MOST_SCANS:
        raise broken("JPEG", f"more than {_MOST_SCANS} scans, which would take very long")
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
    """The IHDR chunk, and which others come before the pixels."""
    first, width, height, bits, colour = unpack_from(">4sIIBB", data, 12)
    if first != b"IHDR" or colour not in _PNG_CHANNELS:
        raise broken("PNG", "no IHDR chunk, or an unknown colour type in it")
    chunks = _png_chunks_before_pixels(data)
    gamma = not chunks.isdisjoint((b"gAMA", b"sRGB"))
    header = ImageHeader("PNG", width, height, _PNG_CHANNELS[colour], bits, b"tRNS" in chunks)
    return header._replace(gamma=gamma)


def png_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Type, place and length of the data of each chunk behind IHDR."""
    at = 33
    for _ in range(_MOST_CHUNKS):
        length, kind = unpack_from(">I4s", data, at)
        yield kind, at + 8, length
        at += length + 12


def _png_chunks_before_pixels(data: bytes) -> set[bytes]:
    kinds = set[bytes]()
    for kind, _, _ in png_chunks(data):
        if kind == b"IDAT":
            break
        kinds.add(kind)
    return kinds


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
        raise broken("WebP", "no VP8, VP8L or VP8X chunk at its start")
    odd = "animated" if animated else "truncated" if len(data) < size + 8 else ""
    return ImageHeader("WebP", width, height, 4 if alpha else 3, 8, odd=odd)


def webp_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Type, place and length of the data of each chunk."""
    at = 12
    for _ in range(_MOST_CHUNKS):
        kind, length = unpack_from("<4sI", data, at)
        yield kind, at + 8, length
        at += 8 + length + length % 2
