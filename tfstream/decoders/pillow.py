"""
The second decoder: reads what TensorFlow refuses, crashes on or gets wrong, and has the last
word on a broken file.

The rules, the same as on TensorFlow's path:

* the first frame, on the format's own canvas (a GIF's logical screen)
* alpha is dropped, unless the decoder says what to mix it with: a transparent pixel has the
  colour stored for it, in a GIF that of its palette. With `rgba` it is kept, and is opaque
  where there is none
* 16-bit gray becomes 8-bit by its upper byte (Pillow's own conversion clips at 255)
* `grayscale` is ITU-R 601 luma, for JPEG its own luma channel
* gamma and colour profiles are not applied; orientation not here (`ImageDecoder.oriented`)

Pillow's flags, its registry of formats and Python's warning filters are global: none is
touched. So the class of the format that the header names is called by itself, without
`Image.open`, which warns about large images; the size is checked here instead.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfstream.decoders.alpha import luma, on_ground
from tfstream.decoders.headers import ImageHeader, check_size, look
from tfstream.decoders.refusal import of_pillow, refused, unsupported
from tfstream.decoders.tiff import BITS, COMPRESSION, PHOTOMETRIC, WHITE_IS_ZERO, Directory
from tfstream.errors import DecodeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    from tfstream.decoders.image import ImageDecoder

_CLASSES = {
    "JPEG": ("PIL.JpegImagePlugin", "JpegImageFile"),
    "PNG": ("PIL.PngImagePlugin", "PngImageFile"),
    "GIF": ("PIL.GifImagePlugin", "GifImageFile"),
    "BMP": ("PIL.BmpImagePlugin", "BmpImageFile"),
    "WebP": ("PIL.WebPImagePlugin", "WebPImageFile"),
    "TIFF": ("PIL.TiffImagePlugin", "TiffImageFile"),
    "JPEG 2000": ("PIL.Jpeg2KImagePlugin", "Jpeg2KImageFile"),
    "ICO": ("PIL.IcoImagePlugin", "IcoImageFile"),
    "PNM": ("PIL.PpmImagePlugin", "PpmImageFile"),
    "AVIF": ("PIL.AvifImagePlugin", "AvifImageFile"),
    "HEIC": ("pillow_heif", "HeifImageFile"),
}
FORMATS = frozenset(_CLASSES)
"""What Pillow reads here, and nothing else: not its PSD, PDF or SVG."""
_INSTALL = {"AVIF": "pip install 'pillow>=11.3'", "HEIC": "pip install pillow-heif"}

_MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}
_FIRST_TO = {"CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "RGBa": "RGBA", "La": "LA"}
"""Modes that Pillow converts to some others only by way of these."""


def decode(data: bytes, decoder: ImageDecoder) -> NDArray[Any]:
    """
    Pixels as [height, width, channels] of `decoder.dtype`, for `decoder.oriented`.

    Raises DecodeError for everything that is no readable image of at most `max_pixels`; the
    text has the cause but not the key, which the caller knows.
    """
    header = look(data)
    if header.width and header.height:
        check_size(header.format, header.width, header.height, decoder.max_pixels)
    _refuse_unread(header, data, decoder.dtype)
    try:
        image = opened(header, data)
        check_size(header.format, *image.size, decoder.max_pixels)
        return _pixels(image, header, decoder)
    except DecodeError:
        raise
    except Exception as error:  # hostile bytes bring up any class; none is lost, all are told
        raise of_pillow(header.format, error) from error


def _refuse_unread(header: ImageHeader, data: bytes, dtype: str) -> None:
    """What is known from the header to have no pixels for anyone here."""
    if (header.format, header.odd) == ("JPEG", "truncated"):
        raise refused("truncated JPEG", f"{len(data):,} bytes without an end marker")
    if header.unreadable:
        raise unsupported(header.format, header.unreadable, header[1:3])
    if header.format == "JPEG XL":
        raise _no_jpeg_xl(dtype)


def _no_jpeg_xl(dtype: str) -> DecodeError:
    if dtype == "uint16":
        return _not_exact("JPEG XL")
    try:
        from tensorflow import io as ops
    except ImportError:
        ops = None
    if hasattr(ops, "decode_jxl"):
        return refused("broken JPEG XL", "TensorFlow cannot decode it")
    why = "TensorFlow reads it from 2.21 on; or convert it to PNG or JPEG"
    return refused("JPEG XL needs a newer TensorFlow", why)


def _not_exact(name: str) -> DecodeError:
    return refused(
        f"{name} not exact in 16 bits",
        "its decoder gives the upper 8 bits only; ImageDecoder(dtype='uint8') takes those",
    )


def opened(header: ImageHeader, data: bytes) -> Image.Image:
    """The image as it is stored, its pixels not yet unpacked."""
    name = header.format
    module, kind = _CLASSES[name]
    if name == "TIFF":
        data = _tiff(Directory(data))
    try:
        image: Image.Image = getattr(import_module(module), kind)(io.BytesIO(data))
    except ImportError as error:
        raise DecodeError(
            f"{name}: needs another package: {_INSTALL[name]}", kind=f"{name} needs a package"
        ) from error
    if name == "BMP" and header.bits != _BITS_OF_GRAY.get(image.mode, header.bits):
        raise unsupported("BMP", f"{header.bits} bits with a gray palette", image.size)
    return image.ico.getimage(image.size) if name == "ICO" else image  # type: ignore[attr-defined]


_BITS_OF_GRAY = {"1": 1, "L": 8}
"""What Pillow takes a BMP for that has a palette of grays, whatever it has."""


def _tiff(directory: Directory) -> bytes:
    """Its bytes, not turned: newer Pillows do that by themselves."""
    from PIL.TiffImagePlugin import COMPRESSION_INFO

    number = next(iter(directory.values(COMPRESSION)), 1)
    if number not in COMPRESSION_INFO:
        why = f"its number is {number:,}, which Pillow does not unpack; save it as PNG"
        raise refused("TIFF not supported (compression)", why)
    return directory.upright()


def _pixels(image: Image.Image, header: ImageHeader, decoder: ImageDecoder) -> NDArray[Any]:
    import numpy as np

    mode = _MODES[decoder.color_mode]
    if header.format == "JPEG" and mode == "L" and header.odd != "lossless":
        image.draft("L", None)  # type: ignore[no-untyped-call, unused-ignore]
    image.load()
    mixed = decoder.alpha != "drop" and image.has_transparency_data
    _refuse_misread(image, header, "RGBA" if mixed else mode, decoder.dtype)
    if image.mode.startswith("I"):
        return _of_gray(_gray_16(image), mode, decoder.dtype)
    pixels: NDArray[Any] = _converted(image, "RGBA" if mixed else mode)
    if decoder.dtype == "uint16":
        pixels = pixels.astype(np.uint16) * 257
    if mixed:
        pixels = on_ground(pixels, decoder.alpha, _cast)
        pixels = luma(pixels, _cast) if mode == "L" else pixels
    return pixels


def _refuse_misread(image: Image.Image, header: ImageHeader, mode: str, dtype: str) -> None:
    """What Pillow reads without an error, but not as the file has it."""
    bits = image.info.get("bit_depth", header.bits or 8)  # pillow-heif says it there
    what = ""
    if image.mode == "I" and header.format == "TIFF":
        what = "32-bit or signed integers"
    elif mode == "RGBA" and header.transparent and bits != 8 and image.mode != "P":
        what = f"a transparent colour of {bits} bits"  # Pillow compares it with 8 bits
    if what:
        raise unsupported(header.format, what, image.size)
    if dtype == "uint16" and bits > 8 and not image.mode.startswith("I"):
        raise _not_exact(header.format)


def _gray_16(image: Image.Image) -> NDArray[np.uint16]:
    """A TIFF says how many of the 16 bits it uses, and which end is white."""
    import numpy as np

    tags: Any = getattr(image, "tag_v2", {})
    unused = np.uint16(16 - tags.get(BITS, (16,))[0])
    values: NDArray[np.uint16] = np.asarray(image).astype(np.uint16) << unused
    return ~values if tags.get(PHOTOMETRIC) == WHITE_IS_ZERO else values


def _of_gray(values: NDArray[np.uint16], mode: str, dtype: str) -> NDArray[Any]:
    import numpy as np

    pixels = values if dtype == "uint16" else (values >> 8).astype(np.uint8)
    opaque = np.full_like(pixels, np.iinfo(pixels.dtype).max)
    return np.stack([opaque if channel == "A" else pixels for channel in mode], axis=-1)


def _converted(image: Image.Image, mode: str) -> NDArray[np.uint8]:
    import numpy as np

    if mode != "RGBA":
        image.info.pop("transparency", None)  # it is dropped; Pillow warns where it cannot keep it
    if image.mode in _FIRST_TO:
        image = image.convert(_FIRST_TO[image.mode])
    return np.array(image.convert(mode)).reshape(image.height, image.width, len(mode))


def _cast(pixels: NDArray[Any], dtype: str) -> NDArray[Any]:
    return pixels.astype(dtype)
