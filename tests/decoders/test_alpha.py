"""Transparency on a ground: one rule, the same whoever decodes and whatever the format."""

from __future__ import annotations

import io

import jxl_files
import numpy as np
import png_files
import pytest
from bmp_files import bmp
from decoding import HAS_JXL, HAS_WEBP, by_pillow, by_tensorflow, decoded
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from png_files import GRAY, GRAY_ALPHA, PALETTE, RGB, RGBA, png, values
from tiff_files import tiff

from tfstream.decoders.alpha import color, luma, on_ground
from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.errors import DecodeError
from tfstream.testing import images

CLEAR = images.noise(channels=4)
GROUND = "#10c8fe"
COLORS = png_files.palette()


def gray_alpha() -> bytes:
    """An LA file of Pillow's as TIFF."""
    file = io.BytesIO()
    Image.fromarray(CLEAR, "RGBA").convert("LA").save(file, "TIFF")
    return file.getvalue()


def keyed(kind: int, bits: int) -> bytes:
    """A PNG whose first pixel's colour is transparent."""
    numbers = values(kind, bits)
    key = b"".join(int(value).to_bytes(2, "big") for value in numbers[0, 0])
    return png(numbers, kind, bits, transparent=key)


PNGS = {
    **{f"RGBA PNG {bits}": png(values(RGBA, bits), RGBA, bits) for bits in (8, 16)},
    **{f"LA PNG {bits}": png(values(GRAY_ALPHA, bits), GRAY_ALPHA, bits) for bits in (8, 16)},
    **{f"gray key {bits}": keyed(GRAY, bits) for bits in (1, 2, 4, 8, 16)},
    **{f"colour key {bits}": keyed(RGB, bits) for bits in (8, 16)},
    **{
        f"palette {bits}": png(
            values(PALETTE, bits),
            PALETTE,
            bits,
            colors=COLORS,
            transparent=bytes(range(0, 256, 3))[: 1 << bits],
        )
        for bits in (1, 2, 4, 8)
    },
}
ODD_KEYS = {"colour key 16", *(f"gray key {bits}" for bits in (1, 2, 4, 16))}
OTHERS = {
    "GIF": images.transparent_gif(images.noise()),
    "lossless WebP": images.encode(CLEAR, "WEBP", lossless=True, exact=True),
    "lossy WebP": images.encode(CLEAR, "WEBP"),
    "animated WebP": images.encode(np.stack([CLEAR, CLEAR[::-1]], axis=2), "WEBP", lossless=True),
    "TIFF": images.encode(CLEAR, "TIFF"),
    "TIFF, multiplied": tiff(CLEAR, 2, tags={338: 1}),
    "gray TIFF": gray_alpha(),
    "AVIF": images.encode(images.noise(48, 64, 4), "AVIF"),
    "JPEG 2000": images.encode(CLEAR, "JPEG2000"),
    "ICO": images.encode(images.noise(32, 32, 4), "ICO", sizes=[(32, 32)]),
    "BMP": bmp(
        CLEAR.view(np.uint32)[..., 0], 32, masks=(0xFF, 0xFF00, 0xFF0000, 0xFF000000), header=124
    ),
}
if HAS_JXL:
    OTHERS["JPEG XL"] = jxl_files.FILES["rgba"][0]
    OTHERS["gray JPEG XL"] = jxl_files.FILES["gray with alpha"][0]
FILES = {**PNGS, **OTHERS}
WEBPS = ("lossy WebP", "lossless WebP") if HAS_WEBP else ()


def mixed(rgba: np.ndarray, ground: str) -> np.ndarray:
    """The rule, in as many digits as it takes."""
    most = np.iinfo(rgba.dtype).max
    below = np.array([*bytes.fromhex(ground[1:])]) * (most // 255)
    picture, alpha = rgba[..., :3].astype(np.int64), rgba[..., 3:].astype(np.int64)
    return ((picture * alpha + below * (most - alpha) + most // 2) // most).astype(rgba.dtype)


def gray(rgb: np.ndarray) -> np.ndarray:
    """The luma of Pillow, at any depth."""
    weighted = rgb.astype(np.int64) @ [19595, 38470, 7471]
    return ((weighted + 32_768) >> 16).astype(rgb.dtype)[..., None]


@pytest.mark.parametrize("ground", ["#ffffff", "#000000", GROUND])
@pytest.mark.parametrize("name", FILES)
def test_each_format_follows_the_rule(name, ground):
    """(c * a + ground * (255 - a) + 127) // 255 of the colours and the alpha that `rgba` has."""
    rgba = decoded(ImageDecoder(color_mode="rgba"), FILES[name])
    assert 0 < (rgba[..., 3] < 255).sum()
    expected = mixed(rgba, ground)
    assert np.array_equal(expected, decoded(ImageDecoder(alpha=ground), FILES[name]))
    decoder = ImageDecoder(alpha=ground, color_mode="grayscale")
    assert np.array_equal(gray(expected), decoded(decoder, FILES[name]))


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize("name", [*sorted(PNGS.keys() - ODD_KEYS), *WEBPS])
def test_both_decoders_mix_alike(name, mode):
    """To the last bit, also gray, where TensorFlow is the one that gets the file."""
    decoder = ImageDecoder(alpha=GROUND, color_mode=mode)
    expected = by_pillow(decoder, FILES[name])
    assert np.array_equal(expected, by_tensorflow(decoder, FILES[name]))


@pytest.mark.parametrize("name", sorted(ODD_KEYS))
def test_pillow_does_not_guess_at_a_key(name):
    """It compares 8 bits with a key of more or fewer: an error, should TensorFlow fail."""
    decoder = ImageDecoder(alpha=GROUND)
    assert by_tensorflow(decoder, FILES[name]).shape == (11, 14, 3)
    with pytest.raises(DecodeError, match="a transparent colour of"):
        by_pillow(decoder, FILES[name])


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize("name", ["RGBA PNG 8", "LA PNG 8", "palette 8", "gray key 8", "GIF"])
def test_eight_bits_are_mixed_as_sixteen_where_sixteen_are_asked_for(name, mode):
    """Colours and alpha times 257, then the rule with 65,535; both decoders again alike."""
    rgba = decoded(ImageDecoder(color_mode="rgba", dtype="uint16"), FILES[name])
    expected = mixed(rgba, GROUND)
    decoder = ImageDecoder(alpha=GROUND, color_mode=mode, dtype="uint16")
    expected = gray(expected) if mode == "grayscale" else expected
    assert np.array_equal(expected, decoded(decoder, FILES[name]))
    assert np.array_equal(expected, by_pillow(decoder, FILES[name]))


@pytest.mark.parametrize("name", ["RGBA PNG 16", "LA PNG 16", "gray key 16", "colour key 16"])
def test_sixteen_bits_are_mixed_exactly(name):
    """No bit is lost before the mixing; the alpha has 16 bits too."""
    rgba = by_tensorflow(ImageDecoder(color_mode="rgba", dtype="uint16"), FILES[name])
    decoder = ImageDecoder(alpha=GROUND, dtype="uint16")
    assert np.array_equal(mixed(rgba, GROUND), by_tensorflow(decoder, FILES[name]))


@pytest.mark.parametrize("mode", ["rgb", "grayscale"])
@pytest.mark.parametrize(
    "data",
    [
        images.encode(images.smooth(), "JPEG"),
        images.encode(images.noise(), "PNG"),
        images.encode(images.noise(), "PNG", mode="L"),
        images.encode(images.noise(), "PNG", mode="P"),
        images.encode(images.noise(), "WEBP"),
        images.encode(images.noise(), "GIF"),
        images.bmp(images.noise()),
        images.encode(images.noise(), "TIFF"),
    ],
)
def test_opaque_images_keep_their_route(data, mode):
    """A ground costs nothing where nothing is transparent, and changes no pixel."""
    plain, ground = ImageDecoder(color_mode=mode), ImageDecoder(color_mode=mode, alpha=GROUND)
    assert plain.route(data) == ground.route(data)
    assert np.array_equal(decoded(plain, data), decoded(ground, data))


def test_transparent_images_keep_their_names():
    """The counters call it PNG and WebP, mixed or not."""
    names = ("RGBA PNG 8", "lossy WebP")
    decoder = ImageDecoder(alpha="white")
    assert ["png", "webp"] == [route_name(decoder.route(FILES[name])) for name in names]


def test_full_white_and_clear_pixels():
    """What is opaque stays as it is, what is clear becomes the ground, half is half way."""
    pixels = np.array([[[9, 8, 7, 255], [9, 8, 7, 0], [0, 0, 0, 128]]], np.uint8)
    data = png(pixels, RGBA, 8)
    actual = decoded(ImageDecoder(alpha="white"), data)
    assert [[[9, 8, 7], [255, 255, 255], [127, 127, 127]]] == actual.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("white", "#ffffff"),
        ("black", "#000000"),
        ("#0aF1c2", "#0af1c2"),
        ("drop", ""),
        ("#fff", ""),
    ],
)
def test_a_ground_has_one_form(text, expected):
    """Six hexadecimal digits in lower case, or it is none."""
    assert expected == color(text)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(["uint8", "uint16"]))
def test_the_rule_never_overflows(data, dtype):
    """The widest numbers fit: what NumPy computes is what integers without end would be."""
    most = np.iinfo(dtype).max
    number = st.one_of(st.sampled_from([0, 1, most - 1, most]), st.integers(0, most))
    rgba = np.array([[data.draw(st.lists(number, min_size=4, max_size=4))]], dtype)
    ground = "#" + bytes(data.draw(st.lists(st.integers(0, 255), min_size=3, max_size=3))).hex()
    actual = on_ground(rgba, ground, lambda pixels, dtype: pixels.astype(dtype))
    assert mixed(rgba, ground).tolist() == actual.tolist()
    assert (
        gray(actual).tolist() == luma(actual, lambda pixels, dtype: pixels.astype(dtype)).tolist()
    )
