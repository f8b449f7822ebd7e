"""
Masks: images whose values are numbers of classes, not colours.

They are decoded where they are fetched, by Pillow, and go to the graph packed, since most of
a mask repeats itself:

```
zlib( height(4, little) width(4, little) values(height * width * 1 or 2, little) )
```
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from tfstream.decoders.headers import ImageHeader, check_size, look
from tfstream.decoders.pillow import FORMATS, opened
from tfstream.decoders.refusal import of_pillow, refused, unsupported
from tfstream.errors import DecodeError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

_LEVEL = 1  # of zlib: 2 ms a megapixel; level 6 takes 6 times that for two thirds of the bytes
_ONE_CHANNEL = ("1", "L", "P", "I;16", "I;16B", "I;16L", "I")


def decode(data: bytes, *, dtype: str, max_pixels: int) -> NDArray[Any]:
    """
    Stored values as [height, width]: palette indices, or gray levels.

    Errors:
        DecodeError: no image, a broken one, or one of colours.
    """
    header = look(data)
    check_size(header.format, header.width or 0, header.height or 0, max_pixels)
    if header.unreadable:
        raise unsupported(header.format, header.unreadable, header[1:3])
    if header.format not in FORMATS:
        raise refused(f"{header.format} as a mask", "not supported; save it as PNG")
    try:
        return _values(opened(header, data), header, dtype, max_pixels)
    except DecodeError:
        raise
    except Exception as error:  # hostile bytes bring up any class; none is lost, all are told
        raise of_pillow(header.format, error) from error


def check_sides(values: NDArray[Any], sides: tuple[int, int] | None, *, turned: bool) -> None:
    """
    Refuse a mask of another size than its image, whose (height, width) are those upright.

    Errors:
        DecodeError: they differ. Not where nobody knows the image's.
    """
    if sides is not None and values.shape != sides:
        upright = ", upright as the mask must be" if turned else ""
        raise refused(
            "mask of another size",
            f"{values.shape[0]:,} rows of {values.shape[1]:,} values, its image has {sides[0]:,} "
            f"rows of {sides[1]:,}{upright}",
        )


def packed(values: NDArray[Any]) -> bytes:
    """A mask as it goes to the graph."""
    import numpy as np

    sides = np.array(values.shape, "<u4").tobytes()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return zlib.compress(sides + little.tobytes(), _LEVEL)


def in_graph(text: Any, dtype: str) -> Any:
    """A packed mask as a tensor [height, width, 1]."""
    import tensorflow as tf

    plain = tf.io.decode_compressed(text, "ZLIB")
    sides = tf.io.decode_raw(tf.strings.substr(plain, 0, 8), tf.int32)
    values = tf.io.decode_raw(tf.strings.substr(plain, 8, -1), tf.as_dtype(dtype))
    mask = tf.reshape(values, tf.concat([sides, [1]], axis=0))
    return tf.ensure_shape(mask, [None, None, 1])


def _values(image: Image.Image, header: ImageHeader, dtype: str, max_pixels: int) -> NDArray[Any]:
    import numpy as np

    width, height = image.size
    check_size(header.format, width, height, max_pixels)
    if image.mode not in _ONE_CHANNEL:
        raise refused(
            "mask of colours",
            f"{header.format} with the channels {image.mode}: a mask has one value a pixel; "
            "save it with a palette, or as gray levels",
        )
    _refuse_altered(image, header)
    image.load()
    values = np.asarray(image)
    if header.format in ("PNG", "TIFF") and image.mode == "L" and header.bits in (2, 4):
        values = values // (255 // (2**header.bits - 1))  # Pillow stretches them to 0..255
    most = int(values.max(initial=0))
    if most > np.iinfo(dtype).max:
        raise refused("mask of large values", f"{most:,} is no {dtype}: ImageLabels(dtype=...)")
    if int(values.min(initial=0)) < 0:
        raise refused("mask of negative values", f"{int(values.min())}")
    return values.astype(dtype)


def _refuse_altered(image: Image.Image, header: ImageHeader) -> None:
    bits = image.info.get("bit_depth", 8)  # pillow-heif says it there
    altered = header.altered or ("" if bits == 8 else f"{bits} bits")
    if altered:
        raise refused(
            f"{header.format} as a mask",
            f"{altered}, so Pillow gives other values than those stored; save it as PNG",
        )
