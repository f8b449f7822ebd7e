"""PNGs of every type and depth, interlaced or not, packed by hand."""

from __future__ import annotations

import struct
import zlib

import numpy as np

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
TYPES = [
    *((GRAY, bits) for bits in (1, 2, 4, 8, 16)),
    *((RGB, bits) for bits in (8, 16)),
    *((PALETTE, bits) for bits in (1, 2, 4, 8)),
    *((color, bits) for color in (GRAY_ALPHA, RGBA) for bits in (8, 16)),
]
"""All fifteen that the format has."""

CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
_PASSES = (
    *((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4)),
    *((2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)),
)
"""Adam7: first row, first column, and the steps from one to the next."""


def values(color: int, bits: int, *, seed: int = 0) -> np.ndarray:
    """Random numbers [11, 14, channels] as the file stores them."""
    shape = (11, 14, CHANNELS[color])
    return np.random.default_rng(seed).integers(0, 1 << bits, shape).astype(np.uint16)


def palette(seed: int = 0) -> np.ndarray:
    """256 random colours."""
    return np.random.default_rng(seed).integers(0, 256, (256, 3), np.uint8)


def png(
    numbers: np.ndarray,
    color: int,
    bits: int,
    *,
    interlaced: bool = False,
    colors: np.ndarray | None = None,
    transparent: bytes = b"",
    behind: bytes = b"",
) -> bytes:
    """A file of `numbers`; `behind` are chunks between the pixels and the end."""
    height, width = numbers.shape[:2]
    passes = _PASSES if interlaced else ((0, 0, 1, 1),)
    parts = [numbers[top::down, left::right] for top, left, down, right in passes]
    body = b"".join(_rows(part, bits) for part in parts if part.size)
    head = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlaced)
    middle = chunk(b"PLTE", colors[: 1 << bits].tobytes()) if colors is not None else b""
    middle += chunk(b"tRNS", transparent) if transparent else b""
    pixels = chunk(b"IDAT", zlib.compress(body))
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + middle + pixels + behind + chunk(b"IEND", b"")


def chunk(kind: bytes, body: bytes) -> bytes:
    """Length, type, data and checksum."""
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)


def _rows(numbers: np.ndarray, bits: int) -> bytes:
    """Each row with filter 0, its numbers in as many bits as they have."""
    height = numbers.shape[0]
    wide = np.ascontiguousarray(numbers.reshape(height, -1).astype(">u2"))
    digits = np.unpackbits(wide.view(np.uint8).reshape(height, -1, 2), axis=-1)
    rows = np.packbits(digits[..., -bits:].reshape(height, -1), axis=-1)
    return b"".join(b"\0" + row.tobytes() for row in rows)
