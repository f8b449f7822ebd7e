"""TensorFlow's decoders, as graph ops: number of a decoder -> bytes to pixels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tfstream.decoders.alpha import luma, on_ground
from tfstream.decoders.routes import (
    BMP,
    JPEG,
    JPEG_2,
    JPEG_4,
    JPEG_8,
    JXL,
    PNG,
    PNG_LUMA,
    PNG_MIXED,
    WEBP,
    WEBP_MIXED,
)

if TYPE_CHECKING:
    from tfstream.decoders.image import ImageDecoder

Op = Callable[[Any], Any]
Window = Callable[[Any, Any], Any]
"""(height, width) of an image to the (top, left, rows, columns) that are wanted of it."""


def ops(decoder: ImageDecoder, window: Window | None = None) -> dict[int, Op]:
    """As far as this TensorFlow has them, and as they can give what `decoder` asks for."""
    import tensorflow as tf

    def of_dtype(op: Op) -> Op:  # white stays white: 255 * 257 = 65,535
        return op if decoder.dtype == "uint8" else lambda data: tf.cast(op(data), tf.uint16) * 257

    png = partial(tf.io.decode_png, dtype=decoder.dtype)
    found = {number: of_dtype(op) for number, op in _of_8_bits(decoder, window).items()}
    found[PNG] = partial(png, channels=decoder.channels)
    if decoder.channels == 1:
        found[PNG_LUMA] = lambda data: luma(png(data, channels=3), tf.cast)
    if decoder.alpha != "drop":
        found[PNG_MIXED] = lambda data: _mixed(decoder, png(data, channels=4))
        if hasattr(tf.io, "decode_webp"):
            webp = of_dtype(partial(_webp, channels=4))
            found[WEBP_MIXED] = lambda data: _mixed(decoder, webp(data))
    return found


def fail(decoder: ImageDecoder, data: Any) -> Any:
    """An op that always fails; not a constant, so that nobody folds it and complains."""
    import tensorflow as tf

    nothing = tf.strings.substr(data, 0, 0)
    return tf.io.decode_png(nothing, channels=decoder.channels, dtype=decoder.dtype)


def _of_8_bits(decoder: ImageDecoder, window: Window | None) -> dict[int, Op]:
    import tensorflow as tf

    channels, found = decoder.channels, dict[int, Op]()
    if channels != 4:
        ratios = {JPEG: 1}
        if decoder.scaled == "auto":
            ratios |= {JPEG_2: 2, JPEG_4: 4, JPEG_8: 8}
        jpeg = partial(_jpeg, channels=channels, window=window)
        found.update({number: partial(jpeg, ratio=ratio) for number, ratio in ratios.items()})
    if channels == 3:
        found[BMP] = partial(tf.io.decode_bmp, channels=3)
    if channels != 1 and hasattr(tf.io, "decode_webp"):
        found[WEBP] = partial(_webp, channels=channels)
    if decoder.dtype == "uint8" and hasattr(tf.io, "decode_jxl"):
        found[JXL] = partial(_jxl, decoder)
    return found


def _jpeg(data: Any, *, channels: int, ratio: int, window: Window | None) -> Any:
    import tensorflow as tf

    how = {"channels": channels, "ratio": ratio, "dct_method": "INTEGER_ACCURATE"}
    if window is None:
        return tf.io.decode_jpeg(data, **how)
    sides = -(-tf.io.extract_jpeg_shape(data)[:2] // ratio)
    return tf.io.decode_and_crop_jpeg(data, window(sides[0], sides[1]), **how)


def _webp(data: Any, channels: int) -> Any:
    import tensorflow as tf

    return tf.io.decode_webp(data, channels=channels)[0]


def _jxl(decoder: ImageDecoder, data: Any) -> Any:
    """The op gives as many channels as the file has, and refuses to give others."""
    import tensorflow as tf

    pixels = tf.io.decode_jxl(data, channels=0)
    channels = tf.shape(pixels)[-1]
    rgb = tf.gather(pixels, tf.where(channels < 3, [0, 0, 0], [0, 1, 2]), axis=-1)
    last = pixels[..., channels - 1 :]
    alpha = tf.where(channels % 2 == 0, last, tf.ones_like(last) * 255)
    rgba = tf.concat([rgb, alpha], axis=-1)
    if decoder.channels == 4:
        return rgba
    if decoder.alpha != "drop":
        return _mixed(decoder, rgba)
    return rgb if decoder.channels == 3 else luma(rgb, tf.cast)


def _mixed(decoder: ImageDecoder, rgba: Any) -> Any:
    import tensorflow as tf

    rgb = on_ground(rgba, decoder.alpha, tf.cast)
    return rgb if decoder.channels == 3 else luma(rgb, tf.cast)
