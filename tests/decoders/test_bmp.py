"""BMPs of every depth, compression and header: the colours that were written, by Pillow."""

from __future__ import annotations

import bmp_files
import numpy as np
import pytest
from bmp_files import bmp, rle4, rle8, with_body
from decoding import MODES, decoded

from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.routes import PILLOW
from tfstream.errors import DecodeError
from tfstream.testing import images

COLORS = images.noise(256, 1).reshape(256, 3)
INDICES = np.random.default_rng(0).integers(0, 256, (11, 14), np.uint8)
NUMBERS = np.random.default_rng(1).integers(0, 1 << 32, (11, 14), np.uint32)


def of_fields(numbers: np.ndarray, masks: tuple[int, ...]) -> np.ndarray:
    """Each field of the bits, scaled to 255."""
    fields = []
    for mask in masks:
        low = (mask & -mask).bit_length() - 1
        fields.append((numbers & mask) >> low)
    scales = [mask >> ((mask & -mask).bit_length() - 1) for mask in masks]
    return np.stack([field * 255 // most for field, most in zip(fields, scales, strict=True)], -1)


def packed(bits: int, **more) -> tuple[bytes, np.ndarray]:
    """A palette file and its colours."""
    indices = INDICES & ((1 << bits) - 1)
    colors = COLORS[: 1 << bits]
    return bmp(indices, bits, palette=colors, **more), colors[indices]


def fields(bits: int, **more) -> tuple[bytes, np.ndarray]:
    """A file with bit fields and its colours."""
    masks = bmp_files.MASKS[bits]
    numbers = NUMBERS & ((1 << bits) - 1)
    return bmp(numbers, bits, masks=masks, **more), of_fields(numbers, masks)


FIVE = (0x7C00, 0x3E0, 0x1F)
THREE = (0xFF0000, 0xFF00, 0xFF)
FILES = {
    "1 bit": packed(1),
    "4 bits": packed(4),
    "8 bits": packed(8),
    "1 bit, top-down": packed(1, top_down=True),
    "8 bits, top-down": packed(8, top_down=True),
    "8 bits, OS/2": packed(8, header=12),
    "8 bits, OS/2 2": packed(8, header=64),
    "8 bits, Windows 4": packed(8, header=108),
    "8 bits, Windows 5": packed(8, header=124),
    "16 bits": (bmp(NUMBERS & 0x7FFF, 16), of_fields(NUMBERS & 0x7FFF, FIVE)),
    "16 bits of fields": fields(16),
    "24 bits, OS/2": (bmp(NUMBERS & 0xFFFFFF, 24, header=12), of_fields(NUMBERS, THREE)),
    "24 bits, top-down": (bmp(NUMBERS & 0xFFFFFF, 24, top_down=True), of_fields(NUMBERS, THREE)),
    "32 bits": (bmp(NUMBERS, 32), of_fields(NUMBERS, THREE)),
    "32 bits of fields": fields(32),
    "32 bits of fields, top-down": fields(32, top_down=True),
    "RLE8": (with_body(rle8(INDICES), (11, 14), 8, 1, palette=COLORS), COLORS[INDICES]),
    "RLE4": (
        with_body(rle4(INDICES & 15), (11, 14), 4, 2, palette=COLORS[:16]),
        COLORS[INDICES & 15],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_each_kind_has_the_colours_that_were_written(name):
    """By Pillow alone: TensorFlow takes every BMP for plain 24 bits, palettes for gray."""
    data, expected = FILES[name]
    decoder = ImageDecoder()
    assert PILLOW == decoder.route(data)
    assert np.array_equal(expected, decoded(decoder, data))


GRAYS = np.repeat(np.arange(256, dtype=np.uint8)[:, np.newaxis], 3, axis=1)


@pytest.mark.parametrize(
    ("bits", "palette"),
    [(4, GRAYS[:16]), (4, GRAYS[:8]), (4, GRAYS[[0, 255]]), (8, GRAYS[[0, 255]])],
)
def test_gray_palettes_that_pillow_misreads_are_refused(bits, palette):
    """It takes black and white for 1 bit, and other grays for 8, whatever the file has."""
    indices = INDICES & (len(palette) - 1)
    with pytest.raises(DecodeError) as caught:
        decoded(ImageDecoder(), bmp(indices, bits, palette=palette))
    expected = f"BMP, 14 x 11, {bits} bits with a gray palette: not supported"
    assert expected == str(caught.value)


@pytest.mark.parametrize(("bits", "palette"), [(1, GRAYS[[0, 255]]), (8, GRAYS), (8, GRAYS[:16])])
def test_other_gray_palettes_are_their_grays(bits, palette):
    """Where the palette and the bits are those of Pillow's own gray modes."""
    indices = INDICES & (len(palette) - 1)
    data = bmp(indices, bits, palette=palette)
    assert np.array_equal(palette[indices], decoded(ImageDecoder(), data))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [{}, {"header": 108}], ids=["Windows 3", "Windows 4"])
def test_plain_24_bits_are_the_same_in_each_mode(mode, more):
    """rgb by TensorFlow, the others by Pillow: the colours, opaque, or their luma."""
    pixels = of_fields(NUMBERS, THREE).astype(np.uint8)
    data = bmp(NUMBERS & 0xFFFFFF, 24, **more)
    like = images.encode(pixels, "PPM")
    decoder = ImageDecoder(color_mode=mode)
    assert np.array_equal(decoded(decoder, like), decoded(decoder, data))


def test_alpha_of_bit_fields_is_kept():
    """Windows 5 has a fourth mask; without it the fourth byte says nothing."""
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    data = bmp(NUMBERS, 32, masks=masks, header=124)
    rgba = ImageDecoder(color_mode="rgba")
    assert np.array_equal(of_fields(NUMBERS, masks), decoded(rgba, data))
    assert set(decoded(rgba, bmp(NUMBERS, 32))[..., 3].flat) == {255}
