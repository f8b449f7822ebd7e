"""All fifteen kinds of PNG, plain and interlaced: the pixels that were written, both ways."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import png_files
import pytest
import tensorflow as tf
from decoding import MODES, by_pillow, by_tensorflow, decoded
from PIL import ImageCms
from png_files import GRAY, GRAY_ALPHA, PALETTE, RGB, RGBA, TYPES, png, values

from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.routes import PILLOW, PNG
from tfstream.errors import DecodeError

COLORS = png_files.palette()
SRGB = png_files.chunk(b"sRGB", b"\0")
GAMMA = png_files.chunk(b"gAMA", struct.pack(">I", 20_000))
PROFILE = png_files.chunk(
    b"iCCP",
    b"sRGB\0\0" + zlib.compress(ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()),
)


def file(color: int, bits: int, *, interlaced: bool = False) -> bytes:
    """Random pixels of a type and depth."""
    colors = COLORS if color == PALETTE else None
    return png(values(color, bits), color, bits, interlaced=interlaced, colors=colors)


def rgba(color: int, bits: int) -> np.ndarray:
    """What such a file shows, in 16 bits if it has as many, else in 8."""
    numbers = values(color, bits)
    if color == PALETTE:
        numbers = COLORS[numbers[..., 0]].astype(np.uint16)
    elif bits < 8:
        numbers = numbers * (255 // ((1 << bits) - 1))
    opaque = np.full((*numbers.shape[:2], 1), 65_535 if bits == 16 else 255, np.uint16)
    alpha = numbers[..., -1:] if color in (GRAY_ALPHA, RGBA) else opaque
    picture = numbers[..., :3] if color in (RGB, RGBA, PALETTE) else numbers[..., :1].repeat(3, -1)
    return np.concatenate([picture, alpha], axis=-1)


def expected(color: int, bits: int, decoder: ImageDecoder) -> np.ndarray:
    """Those pixels in a decoder's colours and dtype."""
    pixels = rgba(color, bits)
    if bits == 16 and decoder.dtype == "uint8":
        pixels = pixels >> 8
    if decoder.color_mode == "grayscale":
        weighted = pixels[..., :3].astype(int) @ [19595, 38470, 7471]
        pixels = ((weighted + 32_768) >> 16)[..., None]
    scale = 257 if bits < 16 and decoder.dtype == "uint16" else 1
    return (pixels[..., : decoder.channels] * scale).astype(decoder.dtype)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("interlaced", [False, True], ids=["plain", "interlaced"])
@pytest.mark.parametrize(("color", "bits"), TYPES)
def test_each_type_has_the_pixels_that_were_written(color, bits, interlaced, mode, dtype):
    """Exactly; gray from colours within one level of 255."""
    decoder = ImageDecoder(color_mode=mode, dtype=dtype)
    actual = decoded(decoder, file(color, bits, interlaced=interlaced))
    wanted = expected(color, bits, decoder)
    assert (wanted.dtype, wanted.shape) == (actual.dtype, actual.shape)
    level = 257 if dtype == "uint16" else 1
    tolerance = level if mode == "grayscale" and color in (RGB, RGBA, PALETTE) else 0
    assert int(np.abs(wanted.astype(int) - actual).max()) <= tolerance


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("color", "bits"), TYPES)
def test_pillow_has_the_same(color, bits, mode):
    """All types as uint8, so that a file which TensorFlow refuses has the pixels of its kind."""
    decoder = ImageDecoder(color_mode=mode)
    assert np.array_equal(expected(color, bits, decoder), by_pillow(decoder, file(color, bits)))


@pytest.mark.parametrize(("color", "bits"), TYPES)
def test_pillow_has_16_bits_of_gray_only(color, bits):
    """As uint16 Pillow is exact, or says that it cannot be."""
    decoder = ImageDecoder(dtype="uint16")
    if bits == 16 and color != GRAY:
        with pytest.raises(DecodeError, match="upper 8 bits only; ImageDecoder") as caught:
            by_pillow(decoder, file(color, bits))
        assert caught.value.kind == "PNG not exact in 16 bits"
    else:
        assert np.array_equal(expected(color, bits, decoder), by_pillow(decoder, file(color, bits)))


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_one_gray_can_be_transparent(bits):
    """Every other one is opaque; TensorFlow compares all bits, and gives what `rgba` should."""
    numbers = values(GRAY, bits)
    key = int(numbers[0, 0, 0])
    data = png(numbers, GRAY, bits, transparent=key.to_bytes(2, "big"))
    alpha = by_tensorflow(ImageDecoder(color_mode="rgba"), data)[..., 3:]
    assert np.array_equal(np.where(numbers == key, 0, 255), alpha)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("chunk", [GAMMA, SRGB, PROFILE], ids=["gAMA", "sRGB", "iCCP"])
@pytest.mark.parametrize(("color", "bits"), TYPES)
def test_gamma_and_profiles_are_ignored(color, bits, chunk, mode):
    """
    The numbers in the file are the pixels, both ways.

    libpng makes its gray of the light that a gamma stands for, up to 59 levels from Pillow's:
    where a file has one, gray is made from its colours here.
    """
    decoder = ImageDecoder(color_mode=mode)
    data = file(color, bits)
    data = data[:33] + chunk + data[33:]
    wanted = expected(color, bits, decoder)
    assert np.array_equal(wanted, by_pillow(decoder, data))
    exact = mode != "grayscale" or chunk != PROFILE
    assert int(np.abs(wanted.astype(int) - decoded(decoder, data)).max()) <= (0 if exact else 1)


def test_deep_gray_of_a_file_with_a_gamma_is_exact():
    """The luma of all 16 bits."""
    data, decoder = file(RGB, 16), ImageDecoder(color_mode="grayscale", dtype="uint16")
    data = data[:33] + GAMMA + data[33:]
    assert np.array_equal(expected(RGB, 16, decoder), by_tensorflow(decoder, data))


def test_a_wrong_checksum_of_the_pixels_is_overlooked():
    """TensorFlow refuses such a file, Pillow reads it: so a dataset does."""
    data = file(RGB, 8)
    at = data.index(b"IEND") - 8
    wrong = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    decoder = ImageDecoder()
    with pytest.raises(tf.errors.InvalidArgumentError):
        by_tensorflow(decoder, wrong)
    assert np.array_equal(decoded(decoder, data), decoded(decoder, wrong))


def test_the_table():
    """Each type is TensorFlow's, but for less than 8 bits as `rgba`."""
    routes = {
        (color, bits): tuple(
            ImageDecoder(color_mode=mode).route(file(color, bits)) for mode in MODES
        )
        for color, bits in TYPES
    }
    few = {(GRAY, 1), (GRAY, 2), (GRAY, 4), (PALETTE, 1), (PALETTE, 2), (PALETTE, 4)}
    assert {kind: (PNG, PILLOW if kind in few else PNG, PNG) for kind in TYPES} == routes
