"""
What an image is, from its own first bytes; never from its name.

`look` is run for every image as it is fetched, before any decoder sees it: two kinds of
ordinary file kill the process inside TensorFlow, and a small file can ask for gigabytes.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable

from tfstream.decoders import boxed, layouts, segmented
from tfstream.decoders.jpeg_xl import jpeg_xl
from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.refusal import broken, refused
from tfstream.decoders.tiff import tiff
from tfstream.errors import DecodeError

__all__ = ["ImageHeader", "check_size", "look"]

_BMP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})  # "BM" alone may be any text
_AVIF_BRANDS = (b"avif", b"avis")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")

_READERS: dict[str, Callable[[bytes], ImageHeader]] = {
    "JPEG": segmented.jpeg,
    "PNG": segmented.png,
    "GIF": layouts.gif,
    "BMP": layouts.bmp,
    "WebP": segmented.webp,
    "TIFF": tiff,
    "AVIF": boxed.avif,
    "HEIC": boxed.heic,
    "JPEG 2000": boxed.jpeg_2000,
    "JPEG XL": jpeg_xl,
    "ICO": layouts.ico,
    "PNM": layouts.pnm,
}

_STARTS = (
    (b"\xff\xd8", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\1\0", "ICO"),
)

_NOT_IMAGES = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\3\4", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"%PDF", "PDF"),
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "Parquet"),
    (b"\x89HDF", "HDF5"),
    (b"version https://git-lfs", "Git LFS pointer"),
)


def look(data: bytes) -> ImageHeader:
    """
    Read the header of an image: 4 us for a photograph, 10 us for one with a large profile.

    Raises DecodeError, and nothing else whatever the bytes are, where they are no image, or
    end inside the header, or have no pixels.
    """
    name = _format(data)
    try:
        header = _READERS[name](data)
    except DecodeError:
        raise
    except (IndexError, OverflowError, ValueError, struct.error):
        why = f"its {len(data):,} bytes end in the header"
        raise refused(f"truncated {name}", why) from None
    width, height = header.width, header.height
    if width is not None and height is not None and min(width, height) < 1:
        raise broken(name, f"{width} x {height} pixels")
    return header


def check_size(name: str, width: int, height: int, max_pixels: int) -> None:
    """Refuse to decode an image of format `name` that is larger than the decoder allows."""
    if width * height > max_pixels:
        raise DecodeError(
            f"{name} of {width:,} x {height:,} pixels: more than max_pixels={max_pixels:,}; "
            "a decoder with a larger limit reads it: ImageDecoder(max_pixels=...)",
            kind=f"{name} too large",
        )


def _format(data: bytes) -> str:
    for start, name in _STARTS:
        if data.startswith(start):
            return name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WebP"
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS:
        return "BMP"
    if data[4:8] == b"ftyp":
        return _boxed(data)
    if data[:1] == b"P" and data[1:2] in b"123456Ff" and data[2:3].isspace():
        return "PNM"
    kind, more = _guess(data)
    raise _not_an_image(kind, more)


def _boxed(data: bytes) -> str:
    """AVIF and HEIC share a container, and often its major brand: all of them are looked at."""
    length = min(int.from_bytes(data[:4], "big"), 256)
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, length, 4))]
    if any(brand in _AVIF_BRANDS for brand in brands):
        return "AVIF"
    if any(brand in _HEIC_BRANDS for brand in brands):
        return "HEIC"
    raise _not_an_image("MP4", "a video or another file of the MP4 family")


def _not_an_image(kind: str, words: str) -> DecodeError:
    return DecodeError(f"not an image: {words}", kind=f"not an image ({kind})")


def _guess(data: bytes) -> tuple[str, str]:
    """What else it may be, as a kind and in words."""
    if not data:
        return "empty", "empty (0 bytes)"
    known = _of_data(data) or _of_text(data)
    return (known, known) if known else ("unknown", f"starts with 0x{data[:8].hex()}")


def _of_data(data: bytes) -> str:
    return next((name for start, name in _NOT_IMAGES if data.startswith(start)), "")


def _of_text(data: bytes) -> str:
    words = data[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if words.startswith((b"<!doctype html", b"<html")):
        return "HTML"
    if words.startswith((b"<?xml", b"<svg", b"<error")):
        return "SVG" if b"<svg" in words else "XML"
    if words.startswith((b"{", b"[")):
        return "JSON"
    return "text" if _is_text(words) else ""


def _is_text(words: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(words)  # may end within a letter
    except UnicodeDecodeError:
        return False
    return all(letter >= " " or letter in "\t\r\n" for letter in text)
