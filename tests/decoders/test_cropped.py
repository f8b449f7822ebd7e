"""`scaled="auto"` with `crop_to_aspect_ratio`: only the part of a JPEG that is kept is decoded."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from jpeg_files import with_segment
from tiff_files import exif

from tfstream.decoders.image import ImageDecoder
from tfstream.graph import ops
from tfstream.graph.decode import _by_tensorflow, _finished
from tfstream.graph.resize import window_to_decode
from tfstream.sources.local import LocalSource
from tfstream.spec import DatasetSpec, Resize
from tfstream.testing import images

SIDES = st.integers(1, 70)


def cropping(size: tuple[int, int], **decoder) -> DatasetSpec:
    """A spec that crops to the shape of `size` and does not mix pixels."""
    resize = Resize(image_size=size, crop_to_aspect_ratio=True, interpolation="nearest")
    return spec_of(resize, ImageDecoder(**decoder))


def spec_of(resize: Resize | None, decoder: ImageDecoder) -> DatasetSpec:
    """A spec of pictures in a folder that nobody opens."""
    return DatasetSpec(source=LocalSource(root="photos"), decoder=decoder, resize=resize)


def both(spec: DatasetSpec, data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """What is decoded of an image, and what comes of it in the end."""
    route = tf.constant(spec.decoder.route(data))
    one = ops.Encoded(tf.constant(data), route, tf.constant(0, tf.int64))
    pixels = _by_tensorflow(spec, one)
    return pixels.numpy(), _finished(spec, pixels, route).numpy()


@settings(deadline=None, max_examples=60)
@given(st.tuples(SIDES, SIDES), st.tuples(SIDES, SIDES), st.sampled_from([1, 6, 8]))
def test_the_same_window_is_kept(size, target, turn):
    """Gray pixels do not depend on neighbours, so all are those of decode, then crop."""
    photo = images.encode(images.smooth(*size), "JPEG")
    data = with_segment(photo, 0xE1, b"Exif\0\0" + exif(turn))
    how = {"color_mode": "grayscale", "orientation": "apply"}
    whole, expected = both(cropping(target, **how), data)
    part, actual = both(cropping(target, **how, scaled="auto"), data)
    assert part.size <= whole.size
    np.testing.assert_array_equal(expected, actual)


def test_only_the_window_is_decoded():
    """And one row more, so that cutting it again gives the very same window."""
    photo = images.encode(images.smooth(200, 100), "JPEG")
    part, actual = both(cropping((30, 40), scaled="auto"), photo)
    assert (76, 100, 3) == part.shape
    assert (30, 40, 3) == actual.shape


def test_colours_at_the_edge_of_the_window_may_differ():
    """By no more than 4 levels on a smooth picture."""
    photo = images.encode(images.smooth(201, 99), "JPEG")
    _, expected = both(cropping((96, 96)), photo)
    _, actual = both(cropping((96, 96), scaled="auto"), photo)
    assert 4 >= np.abs(expected.astype(int) - actual).max()


@pytest.mark.parametrize(
    "resize",
    [None, Resize(image_size=(8, 8)), Resize(image_size=(8, 8), pad_to_aspect_ratio=True)],
)
def test_nothing_is_cut_where_nothing_is_to_be_cropped(resize):
    """Then there is no window."""
    spec = spec_of(resize, ImageDecoder(scaled="auto"))
    assert window_to_decode(spec, tf.constant(0)) is None
