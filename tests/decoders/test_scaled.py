"""Scaled decoding: the smallest JPEG that is still as large as what it will be resized to."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from decoding import by_tensorflow
from hypothesis import given
from hypothesis import strategies as st
from jpeg_files import with_segment
from tiff_files import exif

from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.decoders.layouts import ImageHeader
from tfstream.decoders.routes import JPEG, JPEG_2, JPEG_4, JPEG_8, scaled
from tfstream.testing import images

AUTO = ImageDecoder(scaled="auto")
PHOTO = images.encode(images.smooth(100, 201), "JPEG")
RATIOS = {JPEG: 1, JPEG_2: 2, JPEG_4: 4, JPEG_8: 8}


@pytest.mark.parametrize(
    ("least", "name"),
    [
        (None, "jpeg"),
        ((101, 10), "jpeg"),
        ((51, 10), "jpeg"),
        ((50, 101), "jpeg/2"),  # a half of 201 is 100.5, and is rounded up
        ((50, 102), "jpeg"),
        ((25, 51), "jpeg/4"),
        ((26, 51), "jpeg/2"),
        ((13, 26), "jpeg/8"),
        ((1, 1), "jpeg/8"),
    ],
)
def test_the_largest_reduction_that_leaves_enough(least, name):
    """In both dimensions."""
    assert name == route_name(AUTO.route(PHOTO, least))


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize(("least", "ratio"), [((40, 40), 2), ((20, 20), 4), ((9, 9), 8)])
def test_the_picture_is_that_of_the_reduction(least, ratio, mode):
    """Its size is rounded up, its pixels are libjpeg's."""
    decoder = ImageDecoder(scaled="auto", color_mode=mode)
    actual = by_tensorflow(decoder, PHOTO, least)
    assert (-(-100 // ratio), -(-201 // ratio)) == actual.shape[:2]
    expected = tf.io.decode_jpeg(
        PHOTO, channels=decoder.channels, ratio=ratio, dct_method="INTEGER_ACCURATE"
    )
    assert np.array_equal(expected, actual)


def test_a_turned_photograph_is_measured_turned():
    """100 x 201 stored is 201 x 100 upright, and that is compared with the target."""
    data = with_segment(PHOTO, 0xE1, b"Exif\0\0" + exif(6))
    decoder = ImageDecoder(scaled="auto", orientation="apply")
    assert route_name(decoder.route(data, (100, 50))) == "jpeg/2"
    assert by_tensorflow(decoder, data, (100, 50)).shape == (101, 50, 3)
    assert route_name(decoder.route(data, (50, 100))) == "jpeg"
    assert route_name(AUTO.route(data, (50, 100))) == "jpeg/2"


def test_only_where_it_is_asked_for_and_possible():
    """`off` decodes in full; so do other formats, and JPEGs that TensorFlow does not decode."""
    assert route_name(ImageDecoder(scaled="off").route(PHOTO, (9, 9))) == "jpeg"
    assert route_name(AUTO.route(images.encode(images.smooth(), "PNG"), (9, 9))) == "png"
    cmyk = images.encode(images.smooth(), "JPEG", mode="CMYK")
    assert route_name(AUTO.route(cmyk, (9, 9))) == "pillow"


@given(
    st.tuples(st.integers(1, 65_535), st.integers(1, 65_535)),
    st.tuples(*[st.integers(1, 9999)] * 2),
)
def test_no_side_is_below_the_target_if_it_was_not_before(size, least):
    """And twice the reduction would be too much."""
    ratio = RATIOS[scaled(ImageHeader("JPEG", size[1], size[0]), least)]
    sides = [-(-side // ratio) for side in size]
    if ratio > 1:
        assert all(side >= wanted for side, wanted in zip(sides, least, strict=True))
    if ratio < 8:
        more = [-(-side // (2 * ratio)) for side in size]
        assert any(side < wanted for side, wanted in zip(more, least, strict=True))
