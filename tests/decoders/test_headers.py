"""What an image's first bytes say, and what is said of anything else."""

from __future__ import annotations

import gzip
import struct

import jxl_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiff_files import RGB, tiff

from tfstream.decoders.headers import ImageHeader, check_size, look
from tfstream.errors import DecodeError
from tfstream.testing import images

JPEG = images.encode(images.smooth(), "JPEG", progressive=True)
FILES = {
    **images.odd(),
    "JPEG": JPEG,
    "PNG": images.encode(images.noise(), "PNG"),
    "GIF": images.encode(images.noise(), "GIF"),
    "WebP": images.encode(images.noise(), "WEBP"),
    "AVIF": images.encode(images.smooth(), "AVIF"),
}
OS2 = struct.pack("<2s4I4H", b"BM", 510, 0, 26, 12, 14, 11, 1, 24) + images.bmp(images.noise())[54:]


NO_SIZE = "broken TIFF: no width and height in its first directory"


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (JPEG, ImageHeader("JPEG", 64, 48, 3, 8)),
        (images.encode(images.smooth(), "JPEG", mode="L"), ImageHeader("JPEG", 64, 48, 1, 8)),
        (FILES["PNG"], ImageHeader("PNG", 14, 11, 3, 8)),
        (images.encode(images.noise(channels=4), "PNG"), ImageHeader("PNG", 14, 11, 4, 8)),
        (images.animation("PNG"), ImageHeader("PNG", 14, 11, 3, 8)),
        (
            images.gray_png(images.noise()[..., 0] >> 7, bits=1, transparent=1),
            ImageHeader("PNG", 14, 11, 1, 1, transparent=True),
        ),
        (FILES["GIF"], ImageHeader("GIF", 14, 11, 3, 8)),
        (FILES["animated GIF"], ImageHeader("GIF", 14, 11, 3, 8)),
        (FILES["transparent GIF"], ImageHeader("GIF", 14, 11, 3, 8)),
        (FILES["GIF smaller than its screen"], ImageHeader("GIF", 20, 16, 3, 8)),
        (
            images.gif(images.noise(), screen=(10, 10), at=(3, 2)),
            ImageHeader("GIF", 17, 13, 3, 8),
        ),
        (images.bmp(images.noise()), ImageHeader("BMP", 14, 11, 3, 8)),
        (FILES["WebP"], ImageHeader("WebP", 14, 11, 3, 8)),
        (FILES["WebP with alpha"], ImageHeader("WebP", 14, 11, 4, 8)),
        (
            images.encode(images.noise(channels=4), "WEBP", quality=80),
            ImageHeader("WebP", 14, 11, 4, 8),
        ),
        (FILES["ICO"], ImageHeader("ICO", 32, 32)),
        (
            images.encode(images.noise(32, 32), "ICO", sizes=[(32, 32)], bitmap_format="bmp"),
            ImageHeader("ICO", 32, 32),
        ),
        (OS2, ImageHeader("BMP", 14, 11, 3, 8, odd="OS/2")),
        (FILES["PNM"], ImageHeader("PNM", 14, 11, 3, 8)),
        (b"P5 # width\n 7 # height\n 9 255\n", ImageHeader("PNM", 7, 9, 1, 8)),
        (b"P2 7 9 65535\n", ImageHeader("PNM", 7, 9, 1, 16)),
        (
            b"P6 7 9 # white\n256\n",
            ImageHeader("PNM", 7, 9, 3, 16, altered="its maximum is 256"),
        ),
        (b"P1 7 9\n 1 0 1 1000 \n", ImageHeader("PNM", 7, 9, 1, 8, altered="black is 1")),
        (
            b"PF 7 9 -1.0\n",
            ImageHeader("PNM", 7, 9, 3, 8, unreadable="32-bit float", altered="its maximum is 1"),
        ),
        (FILES["TIFF"], ImageHeader("TIFF", 14, 11, bits=8)),
        (FILES["16-bit TIFF"], ImageHeader("TIFF", 14, 11, bits=16)),
        (tiff(images.noise(), RGB, order="<", big=True), ImageHeader("TIFF", 14, 11, bits=8)),
        (
            tiff(images.noise(), RGB, order=">", big=True),
            ImageHeader("TIFF", 14, 11, bits=8, unreadable="big-endian BigTIFF"),
        ),
        (images.encode(images.noise(), "TIFF", mode="1"), ImageHeader("TIFF", 14, 11, bits=1)),
        (
            tiff(images.noise()[..., 0].astype(np.float64)),
            ImageHeader("TIFF", 14, 11, bits=64, unreadable="64-bit float"),
        ),
        (
            tiff(images.noise(), RGB, bits=24, tags={339: 3}),
            ImageHeader("TIFF", 14, 11, bits=24, unreadable="floating point"),
        ),
        (FILES["JPEG 2000"], ImageHeader("JPEG 2000", 14, 11, 3, 8)),
        (
            images.encode(images.noise(), "JPEG2000", no_jp2=True),
            ImageHeader("JPEG 2000", 14, 11, 3, 8),
        ),
        (
            images.encode(images.noise()[..., 0].astype(np.uint16), "JPEG2000"),
            ImageHeader("JPEG 2000", 14, 11, 1, 16),
        ),
        (FILES["AVIF"], ImageHeader("AVIF", 64, 48, bits=8)),
        (
            FILES["AVIF"].replace(b"pixi\0\0\0\0\3\x08\x08\x08", b"pixi\0\0\0\0\3\x08\x0a\x08"),
            ImageHeader("AVIF", 64, 48, bits=10),
        ),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", ImageHeader("HEIC")),
        (b"\0\0\0\x18ftypmif1\0\0\0\0miafavif", ImageHeader("AVIF")),
        (b"\xff\x0a\xff\x07", ImageHeader("JPEG XL", 512, 256)),
        (jxl_files.FILES["rgb"][0], ImageHeader("JPEG XL", 3, 2)),
        (jxl_files.FILES["rgb in boxes"][0], ImageHeader("JPEG XL", 3, 2)),
        (jxl_files.FILES["rgb in parts"][0], ImageHeader("JPEG XL", 3, 2)),
    ],
)
def test_the_header_of_each_format(data, expected):
    """Format, size, channels and bits are what the file was made with."""
    assert expected == look(data)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("animated opaque WebP", "animated"),
        ("top-down BMP", "top-down"),
        ("palette BMP", "8-bit, compression 0"),
        ("BMP with bit fields", "32-bit, compression 3"),
        ("BMP with trailing bytes", "+4 bytes"),
    ],
)
def test_what_is_odd_is_said(name, expected):
    """The header names what TensorFlow would crash on or get wrong."""
    assert expected == look(FILES[name]).odd


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (images.jpeg_frame(images.encode(images.smooth(), "JPEG"), marker=0xC3), "lossless"),
        (images.jpeg_frame(images.encode(images.smooth(), "JPEG"), marker=0xC5), "hierarchical"),
        (images.jpeg_frame(images.encode(images.smooth(), "JPEG"), marker=0xC9), "arithmetic"),
        (images.jpeg_frame(images.encode(images.smooth(), "JPEG"), bits=12), "12-bit"),
        (images.encode(images.smooth(), "JPEG", mode="CMYK"), "CMYK"),
        (JPEG[:-2], "truncated"),
        (JPEG + b"garbage", ""),
        (images.animation("MPO"), ""),
        (images.encode(images.noise(), "WEBP")[:-8], "truncated"),
    ],
)
def test_odd_jpeg_processes_and_cut_ends(data, expected):
    """Other coding processes than TensorFlow's, and a missing end, are seen without decoding."""
    assert expected == look(data).odd


def test_large_segments_and_fill_bytes_are_stepped_over():
    """An EXIF thumbnail, a 500 kB profile and fill bytes do not hide the frame, nor pose as it."""
    thumbnail = segment(0xE1, b"Exif\0\0" + images.encode(images.noise(), "JPEG"))
    profile = segment(0xE2, b"ICC_PROFILE\0" + b"\xff\xc0" * 30_000) * 8
    data = JPEG[:2] + thumbnail + profile + b"\xff" * 9 + JPEG[2:]
    assert look(JPEG) == look(data)


def test_a_thumbnail_does_not_hide_a_cut_end():
    """The end marker of an EXIF thumbnail is not taken for the photograph's."""
    thumbnail = segment(0xE1, b"Exif\0\0" + images.encode(images.noise(), "JPEG"))
    assert look(JPEG[:2] + thumbnail + JPEG[2:-2]).odd == "truncated"


def test_a_cut_picture_of_an_icon_is_passed_over():
    """The size is that of the largest that has a header; one that has none may not be needed."""
    data = bytearray(images.encode(images.noise(32, 32), "ICO", sizes=[(16, 16), (32, 32)]))
    assert look(bytes(data))[1:3] == (32, 32)
    struct.pack_into("<I", data, 18, len(data))  # where the first, the small one, begins
    assert look(bytes(data))[1:3] == (32, 32)
    struct.pack_into("<I", data, 34, len(data))
    with pytest.raises(DecodeError, match="truncated ICO"):
        look(bytes(data))


def test_an_icon_is_as_large_as_its_picture_says():
    """The directory of an icon says 32 x 32; the PNG inside counts."""
    data = FILES["ICO"]
    at = data.index(b"IHDR") + 4
    assert look(data[:at] + struct.pack(">II", 60_000, 50_000) + data[at + 8 :])[1:3] == (
        60_000,
        50_000,
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "not an image: empty (0 bytes)"),
        (FILES["JPEG 2000"][:60], "broken JPEG 2000: no codestream in it"),
        (FILES["JPEG 2000"][:100], "truncated JPEG 2000: its 100 bytes end in the header"),
        (FILES["TIFF"][:6], "truncated TIFF: its 6 bytes end in the header"),
        (tiff(images.noise(), RGB).replace(b"\1\1\3\0", b"\1\1\5\0"), NO_SIZE),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "broken JPEG XL: no codestream in it"),
        (b"\xff\x0a\0", "truncated JPEG XL: its 3 bytes end in the header"),
        (b" <!DOCTYPE HTML><p>", "not an image: HTML"),
        (b"<?xml version='1.0'?><Error>", "not an image: XML"),
        (b"<?xml version='1.0'?>\n<svg>", "not an image: SVG"),
        (b'{"a": 1}', "not an image: JSON"),
        (b"label,file\n1,x.jpg\n", "not an image: text"),
        (b"BMW is a car maker, not a bitmap", "not an image: text"),
        (b"version https://git-lfs.github.com/spec/v1\n", "not an image: Git LFS pointer"),
        (gzip.compress(JPEG), "not an image: gzip"),
        (b"PK\3\4rest", "not an image: zip"),
        (b"%PDF-1.7", "not an image: PDF"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "not an image: a video or another file of the MP4 family"),
        (bytes(range(1, 20)), "not an image: starts with 0x0102030405060708"),
        (b"\x89PN", "not an image: starts with 0x89504e"),
        (JPEG[:20], "truncated JPEG: its 20 bytes end in the header"),
        (JPEG[:2] + b"\xff\xda", "broken JPEG: no frame header before its pixels"),
        (b"\xff\xd8" + b"\xff\xd0" * 5000, "broken JPEG: no frame header before its pixels"),
        (FILES["PNG"][:24], "truncated PNG: its 24 bytes end in the header"),
        (images.png_of_size(0, 5), "broken PNG: 0 x 5 pixels"),
        (
            FILES["PNG"].replace(b"IHDR", b"CgBI"),
            "broken PNG: no IHDR chunk, or an unknown colour type in it",
        ),
        (b"GIF89a\1\0\1\0\0\0\0;", "broken GIF: there is no picture in it"),
        (
            FILES["WebP"].replace(b"VP8 ", b"junk"),
            "broken WebP: no VP8, VP8L or VP8X chunk at its start",
        ),
        (b"P6\nwide high\n", "broken PNM: no width and height at its start"),
        (b"\0\0\1\0\0\0", "truncated ICO: its 6 bytes end in the header"),
    ],
)
def test_what_is_no_image_is_named(data, expected):
    """The error says what the bytes look like, and quotes none of a text."""
    with pytest.raises(DecodeError) as caught:
        look(data)
    assert expected == str(caught.value)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "not an image (empty)"),
        (b"<html>", "not an image (HTML)"),
        (b"label,file", "not an image (text)"),
        (b"PK\3\4rest", "not an image (zip)"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "not an image (MP4)"),
        (bytes(range(1, 20)), "not an image (unknown)"),
        (JPEG[:20], "truncated JPEG"),
        (images.png_of_size(0, 5), "broken PNG"),
        (b"GIF89a\1\0\1\0\0\0\0;", "broken GIF"),
    ],
)
def test_a_kind_has_nothing_of_the_file(data, kind):
    """Failures can be counted by it: few words, the same for all files of its kind."""
    with pytest.raises(DecodeError) as caught:
        look(data)
    assert kind == caught.value.kind


def test_space_without_end_is_no_riddle():
    """4 kB of blanks where a PNM's size should be are refused at once, in linear time."""
    with pytest.raises(DecodeError, match="no width and height"):
        look(b"P5" + b" " * 4000 + b"x")


def test_places_beyond_all_memory_are_the_end_of_the_file():
    """A BigTIFF whose directory stands at 2 ** 63 is cut, not an OverflowError."""
    with pytest.raises(DecodeError, match="truncated TIFF"):
        look(b"II+\0\x08\0\0\0" + struct.pack("<Q", 2**63))


def test_a_size_within_the_limit_passes():
    """The limit itself is allowed; one pixel more is an error that gives the way out."""
    check_size("PNG", 1000, 2000, 2_000_000)
    with pytest.raises(DecodeError) as caught:
        check_size("PNG", 1000, 2000, 1_999_999)
    assert str(caught.value) == (
        "PNG of 1,000 x 2,000 pixels: more than max_pixels=1,999,999; a decoder with a larger "
        "limit reads it: ImageDecoder(max_pixels=...)"
    )
    assert caught.value.kind == "PNG too large"


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_anywhere_is_an_image_or_an_error(name):
    """At every length `look` gives a header of that format or DecodeError, nothing else."""
    expected = look(FILES[name]).format
    for length in range(min(len(FILES[name]), 1500)):
        try:
            found = look(FILES[name][:length]).format
        except DecodeError:
            continue
        assert expected == found


@settings(max_examples=300, deadline=None)
@given(
    data=st.sampled_from([*FILES.values(), b""]),
    at=st.integers(0, 400),
    patch=st.binary(max_size=24),
    rest=st.booleans(),
)
def test_any_bytes_are_an_image_or_an_error(data, at, patch, rest):
    """Changed headers and plain noise give a header with pixels, or DecodeError."""
    changed = data[:at] + patch + (data[at + len(patch) :] if rest else b"")
    try:
        header = look(changed)
    except DecodeError:
        return
    assert header.width is None or (header.width > 0 and header.height > 0)
