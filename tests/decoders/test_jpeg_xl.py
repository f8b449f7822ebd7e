"""JPEG XL, which TensorFlow reads from 2.21 on and Pillow not at all."""

from __future__ import annotations

import jxl_files
import numpy as np
import pytest
import tensorflow as tf
from decoding import HAS_JXL, MODES, by_pillow, by_tensorflow, decoded

from tfstream.decoders import pillow
from tfstream.decoders.headers import look
from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.decoders.orientation import turned
from tfstream.errors import DecodeError
from tfstream.testing import images

RGB = jxl_files.FILES["rgb"][0]


def like_png(pixels: np.ndarray, decoder: ImageDecoder) -> np.ndarray:
    """What Pillow makes of a PNG with these pixels."""
    return by_pillow(decoder, images.encode(pixels, "PNG"))


def packed(bits: str) -> bytes:
    """Fields from the lowest bit on, each given highest bit first."""
    value, at = 0, 0
    for field in bits.split():
        value |= int(field, 2) << at
        at += len(field)
    return b"\xff\x0a" + value.to_bytes(10, "little")


@pytest.mark.parametrize("alpha", ["drop", "#336699"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", jxl_files.FILES)
def test_each_number_of_channels_gives_each_mode(name, mode, alpha):
    """
    The op only gives what the file has; the pixels are those of a PNG with the same.

    An older TensorFlow has no such op, and the error says so.
    """
    data, pixels = jxl_files.FILES[name]
    decoder = ImageDecoder(color_mode=mode, alpha="drop" if mode == "rgba" else alpha)
    assert route_name(decoder.route(data)) == "jxl"
    if not HAS_JXL:
        with pytest.raises(DecodeError, match="needs a newer TensorFlow"):
            decoded(decoder, data)
        return
    assert np.array_equal(like_png(pixels, decoder), by_tensorflow(decoder, data))


def test_a_huge_one_is_refused_from_its_header():
    """TensorFlow has no limit: a few bytes may ask for 2 ** 60 pixels."""
    ones = int.from_bytes(b"\xff" * 9, "big")
    sides = ones & ~0b1 & ~(0b111 << 33)  # not small, 30 bits of height, no ratio, 30 of width
    data = b"\xff\x0a" + sides.to_bytes(9, "little")
    header = look(data)
    assert (2**30, 2**30) == (header.width, header.height)
    with pytest.raises(DecodeError) as caught:
        ImageDecoder().route(data)
    assert caught.value.kind == "JPEG XL too large"


@pytest.mark.parametrize(
    ("bits", "size"),
    [
        ("1 00010 001", (24, 24)),  # small: eights; ratio 1 is square
        ("1 00010 000 00100", (40, 24)),  # small, ratio 0: the width too
        ("0 00 000001010 010", (13, 11)),  # 9 bits; ratio 2 is 12 : 10, rounded down
        ("0 01 0000000000111 000 00 000001001", (10, 8)),
        ("0 10 000000000000000010 101", (5, 3)),  # ratio 5 is 16 : 9
    ],
)
def test_a_size_takes_as_few_bits_as_it_can(bits, size):
    """Eights or exact, with the other side or a ratio."""
    header = look(packed(bits))
    assert size == (header.width, header.height)


@pytest.mark.parametrize(
    ("bits", "size"),
    [
        ("1", (24, 16)),  # all is as usual
        ("0 0", (24, 16)),
        *((f"0 1 {number - 1:03b}", (24, 16)) for number in range(1, 5)),
        *((f"0 1 {number - 1:03b}", (16, 24)) for number in range(5, 9)),
    ],
)
def test_the_size_is_that_of_the_upright_picture(bits, size):
    """Orientations 5 to 8 swap the sides, as the decoder does."""
    header = look(packed(f"1 00001 000 00010 {bits}"))
    assert size == (header.width, header.height)


@pytest.mark.parametrize("number", range(1, 9))
def test_it_always_comes_upright(number):
    """TensorFlow turns it, and the size that is said before is the one that comes."""
    data, pixels = jxl_files.FILES["animation"]
    at = 4  # behind the size; the orientation is in bits 1 to 3
    data = data[:at] + bytes([data[at] | (number - 1) << 1]) + data[at + 1 :]
    expected = turned(tf.constant(pixels), number).numpy()
    assert expected.shape[:2] == ImageDecoder().size(data, ImageDecoder().route(data))
    if HAS_JXL:
        assert np.array_equal(expected, by_tensorflow(ImageDecoder(), data))


def test_a_broken_one_and_an_old_tensorflow_are_told_apart(monkeypatch):
    """Pillow has the last word: that nobody could read it, and why."""
    with pytest.raises(DecodeError) as caught:
        pillow.decode(RGB, ImageDecoder())
    expected = "broken JPEG XL" if HAS_JXL else "needs a newer TensorFlow"
    assert caught.value.kind.endswith(expected)
    monkeypatch.delattr(tf.io, "decode_jxl", raising=False)
    with pytest.raises(DecodeError, match=r"TensorFlow reads it from 2\.21 on") as caught:
        pillow.decode(RGB, ImageDecoder())
    assert caught.value.kind == "JPEG XL needs a newer TensorFlow"
    with pytest.raises(tf.errors.InvalidArgumentError):
        ImageDecoder().decode_in_graph(RGB, ImageDecoder().route(RGB))
