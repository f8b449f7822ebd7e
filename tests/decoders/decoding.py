"""Both ways to pixels, and the one that a dataset would take."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder

MODES = ("rgb", "rgba", "grayscale")
HAS_WEBP, HAS_JXL = hasattr(tf.io, "decode_webp"), hasattr(tf.io, "decode_jxl")
"""TensorFlow's from 2.20 and 2.21 on; older ones are tested without."""


def by_tensorflow(
    decoder: ImageDecoder, data: bytes, least: tuple[int, int] | None = None
) -> np.ndarray:
    """The pixels of the op that the route names, the right way up; it must not be Pillow's."""
    route = decoder.route(data, least)
    assert not decoder.by_pillow(route)
    return decoder.oriented(decoder.decode_in_graph(data, route), route).numpy()


def by_pillow(decoder: ImageDecoder, data: bytes) -> np.ndarray:
    """Pillow's pixels, whatever the route is, the right way up."""
    pixels = pillow.decode(data, decoder)
    return decoder.oriented(tf.constant(pixels), decoder.route(data)).numpy()


def decoded(decoder: ImageDecoder, data: bytes) -> np.ndarray:
    """As a dataset does it: TensorFlow where the route says so, and Pillow where that fails."""
    if not decoder.by_pillow(decoder.route(data)):
        try:
            return by_tensorflow(decoder, data)
        except tf.errors.InvalidArgumentError:
            pass
    return by_pillow(decoder, data)
