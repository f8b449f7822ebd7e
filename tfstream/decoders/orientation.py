"""
Which way up: the EXIF orientation of a file, 1 to 8.

```
1 upright     2 mirrored     3 half a turn               4 mirrored, half a turn
5 transposed  6 a quarter clockwise is due   7 transverse   8 a quarter counter-clockwise is due
```

JPEG has it in a segment APP1, PNG in a chunk eXIf, WebP in a chunk EXIF, a TIFF is such a block
itself; AVIF has turns of its own. HEIC and JPEG XL are upright as their decoders give them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from tfstream.decoders.boxed import avif_orientation
from tfstream.decoders.segmented import jpeg_segments, png_chunks, webp_chunks
from tfstream.decoders.tiff import ORIENTATION, Directory

_EXIF = b"Exif\0\0"
_APP1 = 0xE1


def orientation(name: str, data: bytes) -> int:
    """
    Of a file of format `name`, from its bytes.

    1 where there is none, or one that does not exist, or where the block that should have it
    is damaged: never an error.
    """
    try:
        value = _FINDERS[name](data) if name in _FINDERS else 1
    except (IndexError, OverflowError, ValueError, struct.error):
        return 1
    return value if 1 <= value <= 8 else 1


def turned(pixels: Any, number: Any) -> Any:
    """Pixels [height, width, channels] the right way up, as graph ops."""
    import tensorflow as tf

    def done(number: int) -> Any:
        upright = tf.transpose(pixels, [1, 0, 2]) if number >= 5 else pixels
        upright = upright[::-1] if number in (3, 4, 7, 8) else upright
        return upright[:, ::-1] if number in (2, 3, 6, 7) else tf.identity(upright)

    return tf.switch_case(
        tf.cast(number, tf.int32) - 1, [lambda each=each: done(each) for each in range(1, 9)]
    )


def _of_block(block: bytes) -> int:
    values = Directory(block.removeprefix(_EXIF)).values(ORIENTATION)
    return values[0] if len(values) == 1 else 1


def _in_jpeg(data: bytes) -> int:
    for marker, at in jpeg_segments(data):
        if marker == _APP1 and data.startswith(_EXIF, at + 2):
            (length,) = struct.unpack_from(">H", data, at)
            return _of_block(data[at + 2 : at + length])
    return 1


def _in_png(data: bytes) -> int:
    for kind, at, length in png_chunks(data):
        if kind == b"eXIf":
            return _of_block(data[at : at + length])
    return 1


def _in_webp(data: bytes) -> int:
    for kind, at, length in webp_chunks(data):
        if kind == b"EXIF":
            return _of_block(data[at : at + length])
    return 1


_FINDERS: dict[str, Callable[[bytes], int]] = {
    "JPEG": _in_jpeg,
    "PNG": _in_png,
    "WebP": _in_webp,
    "TIFF": _of_block,
    "AVIF": avif_orientation,
}
