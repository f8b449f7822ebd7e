"""JPEGs that Pillow does not write."""

from __future__ import annotations

import struct

import numpy as np

_CODE_BITS = 4  # the nine sizes of a difference are nine codes of four bits


def lossless(pixels: np.ndarray) -> bytes:
    """Process 14 (SOF3): each sample as its difference from the one before it, Huffman-coded."""
    height, width, channels = pixels.shape
    names = b"RGB" if channels == 3 else b"\1"  # by these libjpeg sees that it is no YCbCr
    parts = b"".join(bytes([name, 0x11, 0]) for name in names)
    frame = _segment(0xC3, struct.pack(">BHHB", 8, height, width, channels) + parts)
    counts = bytes(9 if length == _CODE_BITS else 0 for length in range(1, 17))
    table = _segment(0xC4, b"\0" + counts + bytes(range(9)))
    chosen = b"".join(bytes([name, 0]) for name in names)
    scan = _segment(0xDA, bytes([channels]) + chosen + b"\1\0\0")  # predictor 1: the left one
    bits = "".join(_coded(int(value)) for value in _differences(pixels).reshape(-1))
    bits += "1" * (-len(bits) % 8)
    body = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    return b"\xff\xd8" + frame + table + scan + body + b"\xff\xd9"


def ycck(cmyk: bytes) -> bytes:
    """A CMYK file of Pillow's whose Adobe segment says that it is YCCK."""
    at = cmyk.index(b"Adobe") + 11
    return cmyk[:at] + b"\2" + cmyk[at + 1 :]


def with_segment(data: bytes, marker: int, body: bytes) -> bytes:
    """A file with one more segment at its beginning."""
    return data[:2] + _segment(marker, body) + data[2:]


def _segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def _differences(pixels: np.ndarray) -> np.ndarray:
    """From the left sample, in the first column from the one above, at first from 128."""
    wide = pixels.astype(int)
    before = np.empty_like(wide)
    before[:, 1:] = wide[:, :-1]
    before[1:, 0] = wide[:-1, 0]
    before[0, 0] = 128
    return wide - before


def _coded(value: int) -> str:
    size = abs(value).bit_length()
    code = f"{size:0{_CODE_BITS}b}"
    low = value if value > 0 else value + (1 << size) - 1
    return code + (f"{low:0{size}b}" if size else "")
