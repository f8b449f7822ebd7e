"""BMPs of every depth, header and compression, packed by hand."""

from __future__ import annotations

import struct

import numpy as np

MASKS = {
    16: (0xF800, 0x07E0, 0x001F),
    32: (0xFF000000, 0x00FF0000, 0x0000FF00),
}


def bmp(
    numbers: np.ndarray,
    bits: int,
    *,
    palette: np.ndarray | None = None,
    header: int = 40,
    top_down: bool = False,
    masks: tuple[int, ...] = (),
) -> bytes:
    """
    Numbers [height, width] of `bits` each, as a file with a header of that size.

    12 is OS/2's first header, 64 its second; 108 and 124 are Windows' fourth and fifth.
    """
    body = b"".join(_row(row, bits) for row in (numbers if top_down else numbers[::-1]))
    return with_body(
        body,
        numbers.shape,
        bits,
        3 if masks else 0,
        header=header,
        palette=palette,
        masks=masks,
        top_down=top_down,
    )


def with_body(
    body: bytes,
    shape: tuple[int, ...],
    bits: int,
    compression: int,
    *,
    header: int = 40,
    palette: np.ndarray | None = None,
    masks: tuple[int, ...] = (),
    top_down: bool = False,
) -> bytes:
    """A file with these packed pixels; compression 1 is RLE8, 2 RLE4, 3 bit fields."""
    height, width = shape
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        sizes = (header, width, -height if top_down else height, 1, bits, compression)
        count = 0 if palette is None else len(palette)
        info = struct.pack("<IiiHHIIiiII", *sizes, len(body), 0, 0, count, 0)
        info += struct.pack(f"<{len(masks)}I", *masks)
        info = info.ljust(header, b"\0")
    colors = b"" if palette is None else _colors(palette, padded=header != 12)
    start = 14 + len(info) + len(colors)
    return struct.pack("<2sIII", b"BM", start + len(body), 0, start) + info + colors + body


def rle8(indices: np.ndarray) -> bytes:
    """Runs of one byte each, an absolute run of three, then the end of each row."""
    rows = []
    for row in indices[::-1]:
        runs = b"".join(bytes([1, value]) for value in row[3:])
        rows.append(bytes([0, 3, *row[:3], 0]) + runs + b"\0\0")
    return b"".join(rows) + b"\0\1"


def rle4(indices: np.ndarray) -> bytes:
    """Runs of two pixels each, then the end of each row."""
    rows = []
    for row in indices[::-1]:
        pairs = zip(row[::2], row[1::2], strict=True)
        rows.append(b"".join(bytes([2, left << 4 | right]) for left, right in pairs) + b"\0\0")
    return b"".join(rows) + b"\0\1"


def _row(row: np.ndarray, bits: int) -> bytes:
    if bits == 24:
        packed = b"".join(int(value).to_bytes(3, "little") for value in row)
    elif bits >= 16:
        packed = row.astype(f"<u{bits // 8}").tobytes()
    else:
        digits = np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, -bits:]
        packed = np.packbits(digits).tobytes()
    return packed + bytes(-len(packed) % 4)


def _colors(palette: np.ndarray, *, padded: bool) -> bytes:
    colors = palette[:, ::-1]
    if padded:
        colors = np.concatenate([colors, np.zeros((len(colors), 1), np.uint8)], axis=1)
    return colors.astype(np.uint8).tobytes()
