"""Masks: the numbers that are stored, or an error; never those that Pillow makes of them."""

from __future__ import annotations

import io

import numpy as np
import pillow_heif
import pytest
from bmp_files import bmp, rle8, with_body
from PIL import Image
from tiff_files import PALETTE, WHITE_IS_ZERO, tiff

from tfstream.decoders import mask
from tfstream.errors import DecodeError
from tfstream.testing import images

VALUES = np.random.default_rng(0).integers(0, 256, (11, 14), np.uint8)
DEEP = np.random.default_rng(1).integers(0, 65_536, (11, 14), np.uint16)
GRAYS = np.repeat(np.arange(256, dtype=np.uint8)[:, np.newaxis], 3, axis=1)
BLACK_AND_WHITE = GRAYS[[0, 255]]


def low(bits: int) -> np.ndarray:
    """Values of so many bits."""
    return VALUES & ((1 << bits) - 1)


def small_tiff(bits: int, **more) -> bytes:
    """A TIFF whose values share bytes."""
    digits = np.unpackbits(low(bits)[..., np.newaxis], axis=-1)[..., -bits:]
    body = np.packbits(digits.reshape(11, -1), axis=-1).tobytes()
    return tiff(low(bits), bits=bits, body=body, **more)


def palette_tiff() -> bytes:
    """As Pillow writes it."""
    image, file = Image.fromarray(VALUES, "P"), io.BytesIO()
    image.putpalette(images.noise(256, 1).tobytes())
    image.save(file, "TIFF")
    return file.getvalue()


def pgm(values: np.ndarray, most: int, kind: str = "P5") -> bytes:
    """Gray, with a number that stands for white."""
    height, width = values.shape
    text = " ".join(map(str, values.flat)).encode()
    body = text if kind == "P2" else values.astype(">u2" if most > 255 else ">u1").tobytes()
    return f"{kind}\n{width} {height}\n{most}\n".encode() + body


def heic(mode: str, values: np.ndarray) -> bytes:
    """Gray without a loss, as pillow-heif writes it."""
    file = io.BytesIO()
    made = pillow_heif.from_bytes(mode=mode, size=values.shape[::-1], data=values.tobytes())
    made.save(file, quality=-1)
    return file.getvalue()


def decoded(data: bytes, dtype: str = "uint16") -> np.ndarray:
    return mask.decode(data, dtype=dtype, max_pixels=1000)


def refusal(data: bytes) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        decoded(data)
    return caught.value


STORED = {
    **{f"PNG, {bits} bits": (images.gray_png(low(bits), bits=bits), bits) for bits in (1, 2, 4, 8)},
    "PNG, 16 bits": (images.gray_png(DEEP, bits=16), 16),
    **{f"TIFF, {bits} bits": (small_tiff(bits), bits) for bits in (1, 2, 4)},
    "TIFF, 8 bits": (tiff(VALUES), 8),
    "TIFF, 16 bits": (tiff(DEEP), 16),
    "TIFF, 16 bits, Motorola": (tiff(DEEP, order=">"), 16),
    "TIFF with a palette": (palette_tiff(), 8),
    "PGM": (pgm(VALUES, 255), 8),
    "PGM as text": (pgm(VALUES, 255, "P2"), 8),
    "PGM of 16 bits": (pgm(DEEP, 65_535), 16),
    "PGM of 16 bits as text": (pgm(DEEP, 65_535, "P2"), 16),
    "BMP, 1 bit": (bmp(low(1), 1, palette=BLACK_AND_WHITE), 1),
    "BMP, 8 bits": (bmp(VALUES, 8, palette=GRAYS), 8),
    "BMP, 8 bits, RLE": (with_body(rle8(VALUES), (11, 14), 8, 1, palette=GRAYS), 8),
    "BMP of few grays": (bmp(low(4), 8, palette=GRAYS[:16]), 4),
    **{
        f"BMP, {bits} bits of colours": (
            bmp(low(bits), bits, palette=images.noise(1 << bits, 1)[:, 0]),
            bits,
        )
        for bits in (1, 4, 8)
    },
    "GIF": (images.encode(VALUES, "GIF", optimize=False), 8),
    "JPEG 2000": (images.encode(VALUES, "JPEG2000"), 8),
    "JPEG 2000 of 16 bits": (images.encode(DEEP, "JPEG2000"), 16),
    "HEIC": (heic("L", VALUES), 8),
}


@pytest.mark.parametrize("name", STORED)
def test_the_values_are_those_stored(name):
    """Of each format and depth, to the last bit."""
    data, bits = STORED[name]
    expected = DEEP if bits == 16 else low(bits)
    assert np.array_equal(expected, decoded(data))


ALTERED = {
    "PGM of 5": (pgm(VALUES % 6, 5), "PNM", "its maximum is 5"),
    "PGM of 5 as text": (pgm(VALUES % 6, 5, "P2"), "PNM", "its maximum is 5"),
    "PGM of 1000": (pgm(DEEP % 1001, 1000), "PNM", "its maximum is 1000"),
    "PBM": (images.encode(VALUES, "PPM", mode="1"), "PNM", "black is 1"),
    "PBM as text": (b"P1 3 1 1 0 1", "PNM", "black is 1"),
    **{
        f"TIFF, {bits} bits, inverse": (
            small_tiff(bits, photometric=WHITE_IS_ZERO),
            "TIFF",
            "white is zero",
        )
        for bits in (1, 2, 4, 8)
    },
    "TIFF, 16 bits, inverse": (tiff(DEEP, WHITE_IS_ZERO), "TIFF", "white is zero"),
    "HEIC of 10 bits": (heic("L;16", DEEP), "HEIC", "10 bits"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_values_that_pillow_changes_are_refused(name):
    """Scaled, or turned round: no class by another number, but an error that says what to do."""
    data, format, why = ALTERED[name]
    error = refusal(data)
    assert f"{format} as a mask" == error.kind
    assert (
        f"{format} as a mask: {why}, so Pillow gives other values than those stored; save it as PNG"
    ) == str(error)


def test_a_tiff_that_does_not_say_which_end_is_white_is_refused():
    """Pillow takes zero for white then."""
    says = b"\x06\x01\x03\x00"  # tag 262, a short
    assert "white is zero" in str(refusal(tiff(VALUES).replace(says, b"\x07\x01\x03\x00")))


@pytest.mark.parametrize(("bits", "signed"), [(4, 0), (12, 0), (8, 1)])
def test_other_depths_of_jpeg_2000_are_refused(bits, signed):
    """Pillow moves them to the upper bits, and signed ones up by half."""
    data = images.encode(VALUES, "JPEG2000", no_jp2=True)
    at = 42  # of the codestream: signed(1 bit), bits - 1 (7 bits)
    changed = data[:at] + bytes([signed << 7 | bits - 1]) + data[at + 1 :]
    error = refusal(changed)
    assert "JPEG 2000 as a mask" == error.kind
    assert str(error).startswith(f"JPEG 2000 as a mask: {'signed' if signed else f'{bits} bits'},")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (tiff(VALUES.astype(np.int8)), "TIFF not supported (8-bit signed integers)"),
        (tiff(VALUES.astype(np.float32)), "TIFF not supported (32-bit float)"),
        (b"Pf 2 1 -1.0\n" + bytes(8), "PNM not supported (32-bit float)"),
        (bmp(low(4), 4, palette=GRAYS[:16]), "BMP not supported (4 bits with a gray palette)"),
        (
            bmp(low(1), 8, palette=BLACK_AND_WHITE),
            "BMP not supported (8 bits with a gray palette)",
        ),
        (tiff(VALUES, PALETTE, tags={259: 34_712}), "TIFF not supported (compression)"),
        (images.encode(images.noise(), "PNG"), "mask of colours"),
        (tiff(VALUES.astype(np.int16) - 300), "mask of negative values"),
        (tiff(VALUES.astype(np.int32) + 65_536), "mask of large values"),
    ],
)
def test_what_is_no_mask_is_said(data, kind):
    """What nobody reads, colours, and numbers that do not fit."""
    assert kind == refusal(data).kind
