"""HEIC, as telephones write it, through pillow-heif: encoded here and compared with that."""

from __future__ import annotations

import io
import struct

import numpy as np
import pillow_heif
import pytest
from decoding import decoded
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.errors import DecodeError
from tfstream.testing import images


def heic(pixels: np.ndarray, *, orientation: int = 1) -> bytes:
    """Pixels as a telephone's file."""
    picture, file = Image.fromarray(pixels), io.BytesIO()
    exif = Image.Exif()
    exif[274] = orientation
    made = pillow_heif.from_pillow(picture)
    made.info["exif"] = exif.tobytes()
    made.save(file, quality=90)
    return file.getvalue()


PIXELS = images.smooth()
PHOTO = heic(PIXELS)


def theirs(data: bytes, mode: str = "RGB") -> np.ndarray:
    """What pillow-heif itself gives."""
    return np.asarray(pillow_heif.open_heif(io.BytesIO(data)).to_pillow().convert(mode))


@pytest.mark.parametrize(("color_mode", "mode"), [("rgb", "RGB"), ("rgba", "RGBA")])
def test_the_pixels_are_those_of_pillow_heif(color_mode, mode):
    """And close to what was encoded."""
    actual = decoded(ImageDecoder(color_mode=color_mode), PHOTO)
    assert np.array_equal(theirs(PHOTO, mode), actual)
    assert 8 > np.abs(actual[..., :3].astype(int) - PIXELS).max()


def test_transparency_is_mixed_with_a_ground():
    """Half of each colour, half of white, within what the compression changes."""
    half = np.dstack([PIXELS, np.full(PIXELS.shape[:2], 128, np.uint8)])
    actual = decoded(ImageDecoder(alpha="white"), heic(half))
    assert 8 > np.abs(actual - (PIXELS * (128 / 255) + 127)).max()


@pytest.mark.parametrize("orientation", ["ignore", "apply"])
def test_it_always_comes_upright(orientation):
    """The library turns it, so it is not turned again."""
    data = heic(PIXELS, orientation=6)
    actual = decoded(ImageDecoder(orientation=orientation), data)
    assert np.array_equal(theirs(data), actual)
    assert (64, 48, 3) == actual.shape


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("sides", [(48, 64), (43, 61), (1, 7)])
def test_the_size_is_known_before_it_is_decoded(sides, orientation):
    """Padded, cut and turned: the header says what will come, so a mask can be held to it."""
    data = heic(images.noise(*sides), orientation=orientation)
    decoder = ImageDecoder(orientation="apply")
    assert theirs(data).shape[:2] == decoder.size(data, decoder.route(data))


def test_a_cut_of_parts_of_pixels_has_no_size_before():
    """Decoders round it each in its way."""
    data = heic(images.noise(43, 61))
    at = data.index(b"clap") + 4
    assert (61, 1) == struct.unpack_from(">II", data, at)
    for width in ((122, 3), (61, 0)):
        changed = data[:at] + struct.pack(">II", *width) + data[at + 8 :]
        assert ImageDecoder().size(changed, ImageDecoder().route(changed)) is None


def test_pillow_itself_knows_no_more_than_before():
    """The library's plug-in is not put into Pillow's registry, which is global."""
    assert "pillow" == route_name(ImageDecoder().route(PHOTO))
    decoded(ImageDecoder(), PHOTO)
    assert "HEIF" not in Image.OPEN


@given(st.integers(0, len(PHOTO) - 1))
def test_a_cut_file_is_named(length):
    """Wherever it was cut."""
    with pytest.raises(DecodeError):
        decoded(ImageDecoder(), PHOTO[:length])


@given(st.integers(0, len(PHOTO) - 1), st.integers(1, 255))
def test_a_broken_file_is_decoded_or_named(place, change):
    """Any byte."""
    data = PHOTO[:place] + bytes([PHOTO[place] ^ change]) + PHOTO[place + 1 :]
    try:
        channels = decoded(ImageDecoder(max_pixels=10**6), data).shape[2]
    except DecodeError as error:
        channels = 3 if error.kind else 0
    assert 3 == channels


def test_too_large_is_said_before_it_is_decoded():
    """With the size."""
    with pytest.raises(DecodeError, match="64 x 48"):
        decoded(ImageDecoder(max_pixels=64 * 48 - 1), PHOTO)
