"""TIFFs of one strip, packed by hand: what Pillow does not write."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK = 0, 1, 2, 3, 5
_SHORT, _LONG = 3, 4


def tiff(
    samples: np.ndarray,
    photometric: int = BLACK_IS_ZERO,
    *,
    bits: int | None = None,
    order: str = "<",
    big: bool = False,
    tags: Mapping[int, int] | None = None,
    body: bytes | None = None,
) -> bytes:
    """
    Samples [height, width] or [height, width, channels] of their dtype.

    `tags` are shorts. `body` is the samples as they are stored, where `bits` are no whole bytes.
    """
    height, width = samples.shape[:2]
    channels = samples.shape[2] if samples.ndim == 3 else 1
    body = body or samples.astype(samples.dtype.newbyteorder(order)).tobytes()
    head = 16 if big else 8
    depth = bits or samples.itemsize * 8
    formats = {"u": 1, "i": 2, "f": 3}
    entries = {
        256: (_SHORT, [width]),
        257: (_SHORT, [height]),
        258: (_SHORT, [depth] * channels),
        259: (_SHORT, [1]),
        262: (_SHORT, [photometric]),
        273: (_LONG, [head]),
        277: (_SHORT, [channels]),
        278: (_SHORT, [height]),
        279: (_LONG, [len(body)]),
        339: (_SHORT, [formats[samples.dtype.kind]] * channels),
        **{tag: (_SHORT, [value]) for tag, value in (tags or {}).items()},
    }
    start = head + len(body)
    return _head(start, order, big) + body + directory(entries, start, order, big=big)


def directory(
    entries: Mapping[int, tuple[int, list[int]]], start: int, order: str, *, big: bool = False
) -> bytes:
    """A directory that stands at `start`, and behind it the values that do not fit in it."""
    size, room = (20, 8) if big else (12, 4)
    behind = start + (8 if big else 2) + size * len(entries) + room
    packed, more = b"", b""
    for tag, (kind, numbers) in sorted(entries.items()):
        field = struct.pack(f"{order}{len(numbers)}{'H' if kind == _SHORT else 'I'}", *numbers)
        if len(field) > room:
            place = behind + len(more)
            more += field
            field = struct.pack(order + ("Q" if big else "I"), place)
        form = "HHQ" if big else "HHI"
        packed += struct.pack(order + form, tag, kind, len(numbers)) + field.ljust(room, b"\0")
    count = struct.pack(order + ("Q" if big else "H"), len(entries))
    return count + packed + bytes(room) + more


def exif(orientation: int, order: str = "<") -> bytes:
    """An EXIF block that says which way up."""
    head = _head(8, order, big=False)
    return head + directory({274: (_SHORT, [orientation])}, 8, order)


def _head(start: int, order: str, big: bool) -> bytes:
    mark = b"II" if order == "<" else b"MM"
    if big:
        return mark + struct.pack(order + "HHHQ", 43, 8, 0, start)
    return mark + struct.pack(order + "HI", 42, start)
