"""
Damaged images through both decoders, in a process that may die of it: see `test_image.py`.

Run as a program. Prints how many gave pixels and how many an error; anything else raises.
"""

from __future__ import annotations

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfstream.decoders import pillow
from tfstream.decoders.image import PILLOW, ImageDecoder
from tfstream.errors import DecodeError
from tfstream.testing import images

FILES = [
    *images.odd().values(),
    images.encode(images.smooth(), "JPEG"),
    images.encode(images.smooth(), "JPEG", progressive=True, restart_marker_blocks=2),
    images.encode(images.smooth(), "PNG"),
    images.encode(images.noise(), "PNG", mode="P"),
    images.encode(images.noise(), "GIF"),
    images.bmp(images.noise()),
    images.encode(images.smooth(), "WEBP"),
    images.encode(images.smooth(), "AVIF"),
]
DECODERS = [
    ImageDecoder(color_mode=mode, max_pixels=10**6) for mode in ("rgb", "rgba", "grayscale")
]
SIGNATURE = [tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)]
IN_GRAPH = {
    decoder: tf.function(decoder.decode_in_graph, input_signature=SIGNATURE) for decoder in DECODERS
}
seen = {"pixels": 0, "error": 0}


def decoded(decoder: ImageDecoder, data: bytes) -> np.ndarray:
    """As the pipeline does it: TensorFlow where the route says so, then Pillow."""
    route = decoder.route(data)
    if route != PILLOW:
        try:
            return IN_GRAPH[decoder](data, route).numpy()
        except tf.errors.InvalidArgumentError:
            pass
    return pillow.decode(data, color_mode=decoder.color_mode, max_pixels=decoder.max_pixels)


PATCHES = st.lists(st.tuples(st.integers(0, 1000), st.binary(min_size=1, max_size=4)), max_size=4)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(FILES), PATCHES, st.integers(0, 3000), st.sampled_from(DECODERS))
def run(data: bytes, patches: list[tuple[int, bytes]], length: int, decoder: ImageDecoder) -> None:
    for at, patch in patches:
        data = data[:at] + patch + data[at + len(patch) :]
    try:
        pixels = decoded(decoder, data[: length if length % 3 == 0 else None])
    except DecodeError:
        seen["error"] += 1
        return
    seen["pixels"] += 1
    assert (pixels.dtype, pixels.ndim, pixels.shape[2]) == (np.uint8, 3, decoder.channels)
    assert 0 < pixels.shape[0] * pixels.shape[1] <= decoder.max_pixels


if __name__ == "__main__":
    run()
    print(seen)
