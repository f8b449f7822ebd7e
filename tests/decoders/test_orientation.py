"""EXIF orientation: upright once, in each format that has one, whoever decodes it."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path

import numpy as np
import png_files
import pytest
import tensorflow as tf
from decoding import by_pillow, by_tensorflow, decoded
from hypothesis import given, settings
from hypothesis import strategies as st
from jpeg_files import with_segment
from PIL import Image, ImageOps
from tiff_files import RGB, directory, exif, tiff

from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.orientation import orientation, turned
from tfstream.testing import images

APPLY, IGNORE = ImageDecoder(orientation="apply"), ImageDecoder()
NOISE = images.noise()
EACH = range(1, 9)


def upright(pixels: np.ndarray, number: int) -> np.ndarray:
    """Pixels as Pillow turns them for an orientation."""
    image = Image.fromarray(pixels)
    image.getexif()[274] = number
    return np.asarray(ImageOps.exif_transpose(image))


def jpeg(number: int) -> bytes:
    return with_segment(images.encode(NOISE, "JPEG"), 0xE1, b"Exif\0\0" + exif(number))


def png(number: int) -> bytes:
    return images.encode(NOISE, "PNG", exif=exif(number, ">"))


def late_png(number: int) -> bytes:
    """The chunk may stand behind the pixels."""
    block = png_files.chunk(b"eXIf", exif(number))
    return png_files.png(NOISE.astype(np.uint16), png_files.RGB, 8, behind=block)


def webp(number: int) -> bytes:
    return images.encode(NOISE, "WEBP", lossless=True, exif=exif(number))


def webp_with_prefix(number: int) -> bytes:
    """Some writers copy the block as JPEG has it."""
    return images.encode(NOISE, "WEBP", lossless=True, exif=b"Exif\0\0" + exif(number))


def little_tiff(number: int) -> bytes:
    return tiff(NOISE, RGB, tags={274: number})


def big_endian_tiff(number: int) -> bytes:
    return tiff(NOISE, RGB, order=">", tags={274: number})


def big_tiff(number: int) -> bytes:
    return tiff(NOISE, RGB, big=True, tags={274: number})


def packed_tiff(number: int) -> bytes:
    """libtiff decodes it, not Pillow's own code."""
    file = io.BytesIO()
    Image.fromarray(NOISE).save(file, "TIFF", compression="tiff_lzw", tiffinfo={274: number})
    return file.getvalue()


def avif(number: int) -> bytes:
    """Pillow writes `irot` and `imir` for it."""
    return images.encode(NOISE, "AVIF", exif=exif(number))


MAKERS = (
    *(jpeg, png, late_png, webp, webp_with_prefix),
    *(little_tiff, big_endian_tiff, big_tiff, packed_tiff, avif),
)


@pytest.mark.parametrize("number", EACH)
@pytest.mark.parametrize("maker", MAKERS)
def test_each_orientation_comes_upright_once(maker, number):
    """The stored pixels, turned as Pillow would; `ignore` leaves them as they are stored."""
    stored = decoded(IGNORE, maker(1))
    assert stored.shape == NOISE.shape
    assert np.array_equal(stored, decoded(IGNORE, maker(number)))
    assert np.array_equal(upright(stored, number), decoded(APPLY, maker(number)))


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize("maker", [jpeg, png])
@pytest.mark.parametrize("number", EACH)
def test_both_decoders_turn_alike(maker, number, mode):
    """The turning is not the decoder's business."""
    decoder = ImageDecoder(orientation="apply", color_mode=mode)
    data = maker(number)
    expected, actual = by_pillow(decoder, data), by_tensorflow(decoder, data)
    tolerance = 1 if (maker, mode) == (png, "grayscale") else 0
    assert expected.shape == actual.shape
    assert int(np.abs(expected.astype(int) - actual).max()) <= tolerance


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_the_graph_knows_rank_and_channels(dtype):
    """Turning keeps the static shape and the dtype, and is no op at all with `ignore`."""
    spec = [tf.TensorSpec([None, None, 3], dtype), tf.TensorSpec([], tf.int32)]
    apply = ImageDecoder(orientation="apply", dtype=dtype)
    output = tf.function(apply.oriented, input_signature=spec).get_concrete_function().outputs[0]
    assert ([None, None, 3], dtype) == (output.shape.as_list(), output.dtype)
    assert IGNORE.oriented(NOISE, 0) is NOISE


@pytest.mark.parametrize("number", [0, 9, 42, 65_535])
@pytest.mark.parametrize("maker", [jpeg, png, webp, little_tiff])
def test_numbers_that_do_not_exist_mean_upright(maker, number):
    """0 and more than 8."""
    assert np.array_equal(decoded(IGNORE, maker(1)), decoded(APPLY, maker(number)))


LONG = struct.pack("<2sHI", b"II", 42, 8) + directory({274: (4, [6])}, 8, "<")
BROKEN = {
    "nothing": b"",
    "half a head": b"II*",
    "another byte order": b"XX*\0\x08\0\0\0",
    "a directory outside": b"II*\0\xff\xff\xff\xff",
    "no directory": b"II*\0\x08\0\0\0",
    "half an entry": exif(6)[:16],
    "a text": exif(6).replace(struct.pack("<HHI", 274, 3, 1), struct.pack("<HHI", 274, 2, 1)),
    "two numbers": exif(6).replace(struct.pack("<HHI", 274, 3, 1), struct.pack("<HHI", 274, 3, 2)),
    "numbers outside": exif(6).replace(
        struct.pack("<HHI", 274, 3, 1), struct.pack("<HHI", 274, 3, 2**31)
    ),
    "a huge BigTIFF": struct.pack("<2sHHHQ", b"II", 43, 8, 0, 2**63),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WebP"])
def test_a_corrupt_block_never_raises(format, name):
    """It counts as none, and the image is decoded."""
    block = BROKEN[name]
    if format == "JPEG":
        data = with_segment(images.encode(NOISE, "JPEG"), 0xE1, b"Exif\0\0" + block)
    elif format == "PNG":
        chunk = png_files.chunk(b"eXIf", block)
        data = png_files.png(NOISE.astype(np.uint16), png_files.RGB, 8, behind=chunk)
    else:
        data = images.encode(NOISE, "WEBP", lossless=True, exif=block or b"\0")
    assert orientation(format, data) == 1
    assert decoded(APPLY, data).shape == NOISE.shape


def test_a_long_number_counts_too():
    """Some writers take four bytes for it."""
    data = with_segment(images.encode(NOISE, "JPEG"), 0xE1, b"Exif\0\0" + LONG)
    assert orientation("JPEG", data) == 6


def test_the_first_block_counts_and_others_are_stepped_over():
    """XMP, too, is an APP1 segment; a second EXIF block says nothing more."""
    data = jpeg(6)
    for body in (b"Exif\0\0" + exif(3), b"http://ns.adobe.com/xap/1.0/\0<x/>"):
        assert orientation("JPEG", with_segment(data, 0xE1, body)) == (3 if exif(3) in body else 6)


def test_formats_without_a_block_are_upright():
    """GIF, BMP and the rest have none; HEIC and JPEG XL are turned by their decoders."""
    for name in ("GIF", "BMP", "PNM", "ICO", "JPEG 2000", "HEIC", "JPEG XL"):
        assert orientation(name, jpeg(6)) == 1


def test_a_tiff_that_says_it_twice_is_still_turned_once():
    """Neither entry is left for Pillow to act on."""
    data = tiff(NOISE, RGB, tags={274: 6, 275: 3})
    twice = data.replace(struct.pack("<HH", 275, 3), struct.pack("<HH", 274, 3))
    assert data != twice
    assert np.array_equal(NOISE, decoded(IGNORE, twice))
    assert np.array_equal(upright(NOISE, 6), decoded(APPLY, twice))


def test_turning_is_pillows():
    """All eight, by the table in the module's docstring."""
    for number in EACH:
        assert np.array_equal(upright(NOISE, number), turned(tf.constant(NOISE), number).numpy())


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([exif(6), exif(8, ">"), tiff(NOISE, RGB, big=True, tags={274: 5})]),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=4),
    st.integers(0, 60),
)
def test_any_block_has_an_orientation(block, changes, length):
    """1 to 8, whatever its bytes are and wherever it is cut."""
    damaged = bytearray(block)
    for at, value in changes:
        damaged[at % len(damaged)] = value
    for data in (bytes(damaged), bytes(damaged[:length])):
        assert 1 <= orientation("TIFF", data) <= 8
        assert 1 <= orientation("JPEG", b"\xff\xd8\xff\xe1\0\x40Exif\0\0" + data) <= 8


@pytest.mark.slow
def test_real_photographs_of_every_orientation():
    """Nine landscapes and nine portraits come out as the upright one, but for JPEG's losses."""
    root = os.environ.get("TFSTREAM_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data"
    folder = Path(root) / "exif_orientation"
    if not folder.is_dir():
        print(f"\nnot tested on real photographs: no folder {folder} (TFSTREAM_TEST_DATA)")
        return
    for shape in ("Landscape", "Portrait"):
        expected = decoded(APPLY, (folder / f"{shape}_1.jpg").read_bytes())
        for number in range(9):
            actual = decoded(APPLY, (folder / f"{shape}_{number}.jpg").read_bytes())
            assert expected.shape == actual.shape
            far = float(np.abs(expected.astype(int) - actual).mean())
            assert far < 5  # 3.7 at most, by the losses of nine writers; a wrong turn makes 40
