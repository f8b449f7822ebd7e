"""`dtype="uint16"`: all bits of a file that has sixteen, 257 times those of one that has eight."""

from __future__ import annotations

import numpy as np
import pytest
from decoding import MODES, by_pillow, decoded

from tfstream.decoders.image import ImageDecoder
from tfstream.errors import DecodeError
from tfstream.testing import images

GRAY = np.random.default_rng(0).integers(0, 65_536, (11, 14), np.uint16)
EIGHT = {
    "JPEG": images.encode(images.smooth(), "JPEG"),
    "PNG": images.encode(images.noise(), "PNG"),
    "GIF": images.encode(images.noise(), "GIF"),
    "BMP": images.bmp(images.noise()),
    "WebP": images.encode(images.noise(), "WEBP"),
    "WebP with alpha": images.encode(images.noise(channels=4), "WEBP"),
    "AVIF": images.encode(images.smooth(), "AVIF"),
    **{name: images.odd()[name] for name in ("TIFF", "JPEG 2000", "ICO", "PNM", "palette BMP")},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EIGHT)
def test_eight_bits_are_multiplied(name, mode):
    """White stays white: 255 * 257 = 65,535; so does opaque."""
    expected = decoded(ImageDecoder(color_mode=mode), EIGHT[name]).astype(np.uint16) * 257
    decoder = ImageDecoder(color_mode=mode, dtype="uint16")
    for actual in (decoded(decoder, EIGHT[name]), by_pillow(decoder, EIGHT[name])):
        assert actual.dtype == np.uint16
        tolerance = 257 if (name, mode) == ("PNG", "grayscale") else 0
        assert int(np.abs(expected.astype(int) - actual).max()) <= tolerance


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", ["PNG", "TIFF", "PPM", "JPEG2000"])
def test_sixteen_bits_of_gray_are_exact(format, mode):
    """Every value, repeated for colours, opaque; by both decoders where both read it."""
    data = images.encode(GRAY, format)
    parts = {"rgb": [GRAY] * 3, "grayscale": [GRAY]}.get(mode)
    expected = np.stack(parts or [GRAY] * 3 + [np.full_like(GRAY, 65_535)], axis=-1)
    decoder = ImageDecoder(color_mode=mode, dtype="uint16")
    assert np.array_equal(expected, decoded(decoder, data))
    assert np.array_equal(expected, by_pillow(decoder, data))
    assert np.array_equal(expected >> 8, decoded(ImageDecoder(color_mode=mode), data))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("PNM not exact in 16 bits", b"P6 2 1 65535\n" + bytes(range(12))),
        (
            "JPEG 2000 not exact in 16 bits",
            images.encode(images.noise(), "JPEG2000", no_jp2=True).replace(
                b"\0\3\7\1\1\7\1\1\7\1\1", b"\0\3\x0b\1\1\x0b\1\1\x0b\1\1", 1
            ),
        ),
        ("JPEG XL not exact in 16 bits", b"\xff\x0a\xff\x07"),
    ],
)
def test_what_cannot_be_exact_is_refused(kind, data):
    """Deep colours that come as their upper 8 bits are an error that says the way out."""
    with pytest.raises(DecodeError, match=r"ImageDecoder\(dtype='uint8'\) takes those") as caught:
        decoded(ImageDecoder(dtype="uint16"), data)
    assert kind == caught.value.kind


def test_a_deep_heic_is_refused(monkeypatch):
    """pillow-heif gives 8 bits and says in `info` how many there were."""
    import sys
    from types import SimpleNamespace

    from PIL import Image

    def opened(_file):
        image = Image.fromarray(images.noise())
        image.info["bit_depth"] = 10
        return image

    monkeypatch.setitem(sys.modules, "pillow_heif", SimpleNamespace(HeifImageFile=opened))
    data = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"
    assert np.array_equal(images.noise(), by_pillow(ImageDecoder(), data))
    with pytest.raises(DecodeError) as caught:
        by_pillow(ImageDecoder(dtype="uint16"), data)
    assert caught.value.kind == "HEIC not exact in 16 bits"
