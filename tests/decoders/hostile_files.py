"""
Damaged images through both decoders, in a process that may die of it: see `test_image.py`.

Run as a program. Prints how many gave pixels and how many an error; anything else raises.
"""

from __future__ import annotations

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import jxl_files
import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from jpeg_files import lossless, with_segment
from png_files import RGBA, png, values
from tiff_files import exif

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder
from tfstream.errors import DecodeError
from tfstream.testing import images

FILES = [
    *images.odd().values(),
    *(data for data, _ in jxl_files.FILES.values()),
    with_segment(images.encode(images.smooth(), "JPEG"), 0xE1, b"Exif\0\0" + exif(6)),
    images.encode(images.smooth(), "JPEG", progressive=True, restart_marker_blocks=2),
    lossless(images.noise()),
    images.encode(images.smooth(), "PNG", exif=exif(8)),
    images.encode(images.noise(), "PNG", mode="P", transparency=bytes(range(256))),
    png(values(RGBA, 16), RGBA, 16, interlaced=True),
    images.encode(images.noise(), "GIF"),
    images.bmp(images.noise()),
    images.encode(images.smooth(), "WEBP", exif=exif(5)),
    images.encode(images.noise(channels=4), "WEBP"),
    images.encode(images.smooth(), "AVIF", exif=exif(7)),
]
DECODERS = [
    ImageDecoder(max_pixels=10**6, **more)
    for more in (
        {"orientation": "apply", "scaled": "auto"},
        {"color_mode": "rgba"},
        {"color_mode": "grayscale", "alpha": "#123456"},
        {"alpha": "white", "dtype": "uint16", "orientation": "apply"},
    )
]
LEAST = (6, 8)  # so that JPEGs are decoded at a half or less
SIGNATURE = [tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)]
IN_GRAPH = {
    decoder: tf.function(decoder.decode_in_graph, input_signature=SIGNATURE) for decoder in DECODERS
}
seen = dict.fromkeys(("pixels", "error", "error without a kind"), 0)


def decoded(decoder: ImageDecoder, data: bytes) -> np.ndarray:
    """As the pipeline does it: TensorFlow where the route says so, then Pillow."""
    route = decoder.route(data, LEAST)
    if not decoder.by_pillow(route):
        try:
            return decoder.oriented(IN_GRAPH[decoder](data, route), route).numpy()
        except tf.errors.InvalidArgumentError:
            pass
    return decoder.oriented(tf.constant(pillow.decode(data, decoder)), route).numpy()


IN_THE_HEADER = st.integers(0, 120)
PATCHES = st.lists(
    st.tuples(IN_THE_HEADER | st.integers(0, 1000), st.binary(min_size=1, max_size=4)), max_size=4
)


@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(
    st.sampled_from(FILES),
    PATCHES,
    st.none() | st.integers(0, 3000),
    st.binary(max_size=9),
    st.sampled_from(DECODERS),
)
def run(data, patches, length, more, decoder) -> None:
    for at, patch in patches:
        data = data[:at] + patch + data[at + len(patch) :]
    try:
        pixels = decoded(decoder, data[:length] + more)
    except DecodeError as error:
        seen["error" if error.kind else "error without a kind"] += 1
        return
    seen["pixels"] += 1
    assert (pixels.dtype, pixels.ndim, pixels.shape[2]) == (decoder.dtype, 3, decoder.channels)
    assert 0 < pixels.shape[0] * pixels.shape[1] <= decoder.max_pixels


if __name__ == "__main__":
    run()
    print(seen)
