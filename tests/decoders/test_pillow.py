"""Pillow's path: the written rules, with pixels that the tests know beforehand."""

from __future__ import annotations

import io
import struct
import sys
import warnings
from threading import Thread

import numpy as np
import PIL
import pytest
from bmp_files import bmp
from PIL import Image, ImageFile
from tiff_files import BLACK_IS_ZERO, RGB, tiff

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder
from tfstream.errors import DecodeError
from tfstream.testing import images

NOISE = images.noise()
LUMA = np.asarray(Image.fromarray(NOISE).convert("L"))[..., None]
PHOTO = images.encode(images.smooth(), "JPEG")
SPACES = ["CMYK", "LAB"]
if int(PIL.__version__.partition(".")[0]) >= 13:  # 12.3 cannot read the YCbCr that it writes
    SPACES.append("YCbCr")


def decode(data: bytes, color_mode: str = "rgb", max_pixels: int = 1_000_000):
    return pillow.decode(data, ImageDecoder(color_mode=color_mode, max_pixels=max_pixels))


def refusal(data: bytes, **more) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        decode(data, **more)
    return caught.value


def error_of(data: bytes, **more) -> str:
    return str(refusal(data, **more))


def same(expected, actual) -> bool:
    return actual.dtype == np.uint8 and np.array_equal(expected, actual)


@pytest.mark.parametrize(
    "data",
    [
        images.encode(NOISE, "PNG"),
        images.bmp(NOISE),
        images.bmp(NOISE, top_down=True),
        images.bmp(NOISE, masks=(0xFF000000, 0xFF0000, 0xFF00)),
        images.bmp(NOISE) + b"more",
        struct.pack("<2s4I4H", b"BM", 510, 0, 26, 12, 14, 11, 1, 24) + images.bmp(NOISE)[54:],
        images.encode(NOISE, "WEBP", lossless=True),
        images.animation("WEBP", lossless=True),
        images.animation("PNG"),
        images.animation("TIFF"),
        images.encode(NOISE, "TIFF", compression="tiff_lzw"),
        images.encode(NOISE, "JPEG2000"),
        images.encode(NOISE, "PPM"),
    ],
)
def test_lossless_formats_give_the_pixels_that_were_written(data):
    """The first frame, exactly: rgb as it was, rgba opaque, grayscale as ITU-R 601."""
    opaque = np.full((*NOISE.shape[:2], 1), 255)
    assert same(NOISE, decode(data))
    assert same(np.concatenate([NOISE, opaque], axis=-1), decode(data, "rgba"))
    assert same(LUMA, decode(data, "grayscale"))


@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF"])
def test_alpha_is_dropped_and_not_composited(format):
    """A transparent pixel keeps its colour; with `rgba` it keeps its alpha as well."""
    pixels = images.noise(channels=4)
    options = {"lossless": True, "exact": True} if format == "WEBP" else {}
    data = images.encode(pixels, format, **options)
    assert same(pixels, decode(data, "rgba"))
    assert same(pixels[..., :3], decode(data))


def test_a_transparent_gif_pixel_has_the_colour_of_its_palette():
    """rgb shows the colour beneath; rgba says that it is transparent."""
    data = images.transparent_gif(NOISE)
    opaque = Image.fromarray(NOISE).quantize(64).convert("RGB")
    assert same(np.asarray(opaque), decode(data))
    clear = np.asarray(opaque)[0, 0]
    expected = np.where((np.asarray(opaque) == clear).all(axis=-1), 0, 255)
    assert same(expected, decode(data, "rgba")[..., 3])


def test_a_gif_fills_its_screen():
    """The frame stands where it belongs on the logical screen."""
    alone = decode(images.gif(NOISE, screen=(14, 11)))
    placed = decode(images.gif(NOISE, screen=(20, 16), at=(4, 3)))
    assert placed.shape == (16, 20, 3)
    assert same(alone, placed[3:14, 4:18])


@pytest.mark.parametrize("format", ["PNG", "TIFF", "PPM", "JPEG2000"])
def test_16_bit_gray_becomes_its_upper_byte(format):
    """Not clipped at 255, as Pillow's own conversion would."""
    values = images.noise()[..., 0].astype(np.uint16) * 256 + images.noise(seed=1)[..., 0]
    expected = (values >> 8).astype(np.uint8)[..., None]
    data = images.encode(values, format)
    assert same(expected, decode(data, "grayscale"))
    assert same(np.repeat(expected, 3, axis=-1), decode(data))


def test_a_tiff_says_which_end_is_white():
    """16-bit gray with WhiteIsZero is turned round, as Pillow does for 8 bits."""
    values = images.noise()[..., 0].astype(np.uint16) * 257
    file = io.BytesIO()
    Image.fromarray(values).save(file, "TIFF")
    tag = struct.pack("<HHI", 262, 3, 1)  # PhotometricInterpretation, one short
    data = file.getvalue()
    at = data.index(tag) + len(tag)
    inverted = data[:at] + struct.pack("<H", 0) + data[at + 2 :]
    assert same(255 - decode(data), decode(inverted))


def test_gray_of_a_jpeg_is_its_own_luma():
    """The first channel of a YCbCr file, not a mixture of the converted colours."""
    with Image.open(io.BytesIO(PHOTO)) as image:
        image.draft("YCbCr", None)
        expected = np.asarray(image)[..., :1]
    assert same(expected, decode(PHOTO, "grayscale"))


@pytest.mark.parametrize("mode", SPACES)
@pytest.mark.parametrize("color_mode", ["rgb", "rgba", "grayscale"])
def test_other_colour_spaces_are_converted_by_way_of_rgb(mode, color_mode):
    """CMYK, Lab and YCbCr give the colours of their RGB form in each mode."""
    data = images.encode(NOISE, "TIFF", mode=mode)
    rgb = Image.fromarray(decode(data))
    expected = np.asarray(rgb.convert({"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}[color_mode]))
    assert same(expected.reshape(11, 14, -1), decode(data, color_mode))


def test_an_icon_is_its_largest_picture():
    """Of several sizes the largest is taken."""
    data = images.encode(images.noise(32, 32), "ICO", sizes=[(16, 16), (32, 32)])
    assert same(images.noise(32, 32), decode(data))


@pytest.mark.parametrize("mode", ["P", "L", "RGB"])
def test_no_warning_of_pillow_comes_out(mode):
    """A transparency that cannot be kept is dropped without Pillow's warning."""
    transparency = {"P": bytes(range(256)), "L": 7, "RGB": (1, 2, 3)}[mode]
    data = images.encode(NOISE, "PNG", mode=mode, transparency=transparency)
    for color_mode, channels in (("rgb", 3), ("rgba", 4), ("grayscale", 1)):
        assert (11, 14, channels) == decode(data, color_mode).shape  # warnings are errors here


def test_a_large_image_is_no_warning_and_its_limit_is_ours():
    """Pillow's warning level is not ours: what `max_pixels` allows decodes in silence."""
    data = images.encode(np.zeros((9000, 10_000), bool), "PNG")
    assert decode(data, "grayscale", 90_000_000).shape == (9000, 10_000, 1)
    assert "PNG of 10,000 x 9,000 pixels: more than max_pixels=89,999,999" in error_of(
        data, max_pixels=89_999_999
    )


@pytest.mark.parametrize("format", ["TIFF", "JPEG2000", "AVIF"])
def test_a_size_that_the_header_hides_is_checked_before_the_pixels(format):
    """Formats whose size only Pillow reads are held to `max_pixels` as well."""
    data = images.encode(images.smooth(), format)
    assert decode(data, max_pixels=64 * 48).shape == (48, 64, 3)
    error = refusal(data, max_pixels=3071)
    assert "of 64 x 48 pixels: more than max_pixels=3,071" in str(error)
    assert error.kind.endswith(" too large")


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (
            PHOTO[:-2],
            "truncated JPEG",
            f"truncated JPEG: {len(PHOTO) - 2:,} bytes without an end marker",
        ),
        (PHOTO[:500], "truncated JPEG", "truncated JPEG: 500 bytes without an end marker"),
        (b"<html>", "not an image (HTML)", "not an image: HTML"),
        (b"II*\0\xff\xff\xff\x7f", "truncated TIFF", "truncated TIFF: its 8 bytes"),
        (
            images.encode(NOISE, "PNG")[:200],
            "truncated PNG",
            "truncated PNG: image file is truncated",
        ),
        (
            images.encode(NOISE, "GIF")[:-9],
            "truncated GIF",
            "truncated GIF: image file is truncated",
        ),
        (images.png_of_size(40, 30), "truncated PNG", "truncated PNG: "),
        (
            images.encode(NOISE, "PNG").replace(b"IDAT", b"IDAT\xff"),
            "broken PNG",
            "broken PNG: ",
        ),
        (
            images.jpeg_frame(PHOTO, bits=12),
            "JPEG not supported",
            "JPEG not supported: cannot handle 12-bit layers",
        ),
        (
            images.encode(NOISE[..., 0].astype(np.float32), "TIFF"),
            "TIFF not supported (32-bit float)",
            "TIFF, 14 x 11, 32-bit float: not supported",
        ),
        (
            tiff(NOISE[..., 0].astype(np.float64)),
            "TIFF not supported (64-bit float)",
            "TIFF, 14 x 11, 64-bit float: not supported",
        ),
        (
            tiff(NOISE.astype(np.float16), RGB),
            "TIFF not supported (16-bit float)",
            "TIFF, 14 x 11, 16-bit float: not supported",
        ),
        (
            images.encode(NOISE[..., 0].astype(np.int32), "TIFF"),
            "TIFF not supported (32-bit or signed integers)",
            "TIFF, 14 x 11, 32-bit or signed integers: not supported",
        ),
        (
            tiff(np.repeat(NOISE.astype(np.uint16), 2, axis=-1)[..., :5], BLACK_IS_ZERO),
            "TIFF not supported",
            "TIFF not supported: unknown pixel mode",
        ),
        (
            tiff(NOISE[..., 0].astype(np.int8)),
            "TIFF not supported (8-bit signed integers)",
            "TIFF, 14 x 11, 8-bit signed integers: not supported",
        ),
        (
            tiff(NOISE, RGB, tags={259: 34_712}),
            "TIFF not supported (compression)",
            "TIFF not supported (compression): its number is 34,712, which Pillow does not unpack",
        ),
        (
            b"Pf 2 1 -1.0\n" + bytes(8),
            "PNM not supported (32-bit float)",
            "PNM, 2 x 1, 32-bit float: not supported",
        ),
        (
            bmp(NOISE[..., 0], 32, masks=(0xFF, 0xFF00, 0x3F0000)),
            "BMP not supported",
            "BMP not supported: Unsupported BMP bitfields layout",
        ),
    ],
)
def test_what_cannot_be_read_is_said(data, kind, expected):
    """One class of error, whatever Pillow raised, with the reason in its text and a kind."""
    error = refusal(data)
    assert str(error).startswith(expected)
    assert kind == error.kind


def test_a_transparent_colour_that_pillow_misreads_is_refused():
    """Pillow compares a 4-bit key with 8-bit pixels: no wrong alpha, and rgb is fine."""
    values = images.noise()[..., 0] >> 4
    data = images.gray_png(values, bits=4, transparent=3)
    error = refusal(data, color_mode="rgba")
    assert str(error) == "PNG, 14 x 11, a transparent colour of 4 bits: not supported"
    assert error.kind == "PNG not supported (a transparent colour of 4 bits)"
    assert same(values[..., None] * 17, decode(data, "grayscale"))


def test_heic_without_its_package_names_the_pip_line(monkeypatch):
    """The error is the remedy."""
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    error = refusal(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    assert str(error) == "HEIC: needs another package: pip install pillow-heif"
    assert error.kind == "HEIC needs a package"


def test_a_pillow_without_avif_names_the_version(monkeypatch):
    """Pillow reads AVIF from 11.3 on."""
    monkeypatch.setitem(sys.modules, "PIL.AvifImagePlugin", None)
    data = images.encode(images.smooth(), "JPEG")
    assert error_of(b"\0\0\0\x18ftypavif\0\0\0\0mif1avif" + data) == (
        "AVIF: needs another package: pip install 'pillow>=11.3'"
    )


def test_an_error_without_a_text_is_named_by_its_class(monkeypatch):
    """A MemoryError says nothing of itself; the message does."""

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("PIL.PngImagePlugin.PngImageFile.load", fail)
    assert error_of(images.encode(NOISE, "PNG")) == "broken PNG: MemoryError"


def test_nothing_global_is_changed():
    """Pillow's flags and registry, and the warning filters, are as before, in threads too."""
    files = list(images.odd().values())
    before = (
        Image.MAX_IMAGE_PIXELS,
        ImageFile.LOAD_TRUNCATED_IMAGES,
        dict(Image.OPEN),
        list(warnings.filters),
    )
    threads = [Thread(target=lambda: [decode(data) for data in files]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = (
        Image.MAX_IMAGE_PIXELS,
        ImageFile.LOAD_TRUNCATED_IMAGES,
        dict(Image.OPEN),
        list(warnings.filters),
    )
    assert before == after
