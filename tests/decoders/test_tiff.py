"""TIFF: the first page, whatever its byte order, depth and colours."""

from __future__ import annotations

import io

import numpy as np
import pytest
from decoding import MODES, decoded
from PIL import Image
from tiff_files import BLACK_IS_ZERO, CMYK, PALETTE, RGB, WHITE_IS_ZERO, tiff

from tfstream.decoders.image import ImageDecoder
from tfstream.errors import DecodeError
from tfstream.testing import images

NOISE = images.noise()
DEEP = np.random.default_rng(0).integers(0, 65_536, (11, 14, 3), np.uint16)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("order", "big"), [("<", False), (">", False), ("<", True)])
def test_both_byte_orders_and_sizes(order, big, mode):
    """Colours exactly, from each form that Pillow reads; the fourth is named."""
    with pytest.raises(DecodeError, match="big-endian BigTIFF: not supported"):
        decoded(ImageDecoder(), tiff(NOISE, RGB, order=">", big=True))
    decoder = ImageDecoder(color_mode=mode)
    expected = decoded(decoder, images.encode(NOISE, "PPM"))
    assert np.array_equal(expected, decoded(decoder, tiff(NOISE, RGB, order=order, big=big)))


def test_the_first_page_of_several():
    """A stack of pages is its first; their sizes may differ."""
    assert np.array_equal(NOISE, decoded(ImageDecoder(), images.animation("TIFF")))


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_16_bit_gray_is_kept_or_cut(order, dtype):
    """All bits, or the upper eight."""
    data = tiff(DEEP[..., 0], order=order)
    expected = DEEP[..., :1] if dtype == "uint16" else DEEP[..., :1] >> 8
    actual = decoded(ImageDecoder(color_mode="grayscale", dtype=dtype), data)
    assert actual.dtype == dtype
    assert np.array_equal(expected, actual)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_white_may_be_zero(dtype):
    """Such gray is turned round."""
    decoder = ImageDecoder(dtype=dtype)
    black, white = (decoded(decoder, tiff(DEEP[..., 0], zero)) for zero in (1, WHITE_IS_ZERO))
    assert np.array_equal(np.iinfo(dtype).max - black, white)


def test_12_bits_fill_the_upper_ones_of_16():
    """So `uint8` is the upper byte in any case."""
    numbers = DEEP[..., :1] >> 4
    digits = np.unpackbits(numbers.astype(">u2").view(np.uint8).reshape(11, 14, 2), axis=-1)
    body = np.packbits(digits[..., -12:].reshape(11, -1), axis=-1).tobytes()
    data = tiff(numbers, BLACK_IS_ZERO, bits=12, body=body)
    assert np.array_equal(numbers << 4, decoded(gray("uint16"), data))
    assert np.array_equal(numbers >> 4, decoded(gray("uint8"), data))


def gray(dtype: str) -> ImageDecoder:
    return ImageDecoder(color_mode="grayscale", dtype=dtype)


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_16_bit_colours_are_cut_or_refused(order):
    """Pillow has only their upper bytes: no silent loss where all bits were asked for."""
    data = tiff(DEEP, RGB, order=order)
    assert np.array_equal(DEEP >> 8, decoded(ImageDecoder(), data))
    with pytest.raises(DecodeError) as caught:
        decoded(ImageDecoder(dtype="uint16"), data)
    assert caught.value.kind == "TIFF not exact in 16 bits"
    assert "ImageDecoder(dtype='uint8')" in str(caught.value)


def test_inks_and_palettes_are_colours():
    """CMYK is what the inks leave of white, within a level; an index is its colour."""
    inks = images.noise(channels=4).astype(int)
    left = (255 - inks[..., :3]) * (255 - inks[..., 3:]) / 255
    actual = decoded(ImageDecoder(), tiff(inks.astype(np.uint8), CMYK))
    assert float(np.abs(left - actual).max()) <= 1
    indexed = Image.fromarray(NOISE).quantize(64)
    file = io.BytesIO()
    indexed.save(file, "TIFF")
    assert np.array_equal(
        np.asarray(indexed.convert("RGB")), decoded(ImageDecoder(), file.getvalue())
    )
    with pytest.raises(DecodeError, match="TIFF"):
        decoded(ImageDecoder(), tiff(NOISE[..., 0], PALETTE))  # without its colours
