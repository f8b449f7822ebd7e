"""JPEGs that are not the ordinary kind: the same pixels as elsewhere, or Pillow's alone."""

from __future__ import annotations

import jpeg_files
import numpy as np
import pytest
import tensorflow as tf
from decoding import MODES, by_pillow, by_tensorflow, decoded

from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.errors import DecodeError
from tfstream.testing import images

NOISE, SMOOTH = images.noise(), images.smooth()
CMYK = images.encode(NOISE, "JPEG", mode="CMYK", quality=95)


@pytest.mark.parametrize("data", [CMYK, jpeg_files.ycck(CMYK)], ids=["CMYK", "YCCK"])
@pytest.mark.parametrize("mode", MODES)
def test_four_inks_are_the_colours_that_tensorflow_sees(data, mode):
    """Within one level, as `rgb`; the other modes are conversions of that."""
    rgb = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy()
    decoder = ImageDecoder(color_mode=mode)
    expected = decoded(decoder, images.encode(rgb, "PPM"))
    assert route_name(decoder.route(data)) == "pillow"
    assert int(np.abs(expected.astype(int) - decoded(decoder, data)).max()) <= 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pixels", [NOISE, NOISE[..., :1]], ids=["colour", "gray"])
def test_lossless_is_exact(pixels, mode):
    """SOF3, which TensorFlow refuses, has the very pixels that were written."""
    data = jpeg_files.lossless(pixels)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_jpeg(data)
    decoder = ImageDecoder(color_mode=mode)
    assert np.array_equal(decoded(decoder, images.encode(pixels, "PPM")), decoded(decoder, data))


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize(
    "options",
    [
        {"progressive": True},
        {"mode": "L"},
        {"quality": 1},
        {"subsampling": "4:1:1"},
        {"optimize": 1},
    ],
    ids=str,
)
def test_ordinary_kinds_are_bit_for_bit_the_same(options, mode):
    """TensorFlow with the accurate DCT, and Pillow."""
    data = images.encode(SMOOTH, "JPEG", **options)
    decoder = ImageDecoder(color_mode=mode)
    assert np.array_equal(by_pillow(decoder, data), by_tensorflow(decoder, data))


def test_a_picture_of_too_many_scans_is_refused():
    """A few bytes more make both decoders go through all pixels again, thousands of times."""
    data = images.encode(SMOOTH, "JPEG", progressive=True)
    last = data[data.rindex(b"\xff\xda") : -2]
    ninety, more = (data[:-2] + last * count + data[-2:] for count in (90, 100))
    assert decoded(ImageDecoder(), ninety).shape == SMOOTH.shape
    with pytest.raises(DecodeError, match="more than 100 scans"):
        ImageDecoder().route(more)


def test_a_gain_map_behind_the_picture_is_left_alone():
    """Phones put a second JPEG behind the first (MPO, ultra HDR): the first counts."""
    first, second = (images.encode(images.smooth(40, width), "JPEG") for width in (30, 20))
    decoder = ImageDecoder()
    assert np.array_equal(by_tensorflow(decoder, first), by_tensorflow(decoder, first + second))
    mpo = images.animation("MPO")
    assert np.array_equal(by_pillow(decoder, mpo), by_tensorflow(decoder, mpo))
