"""
The second decoder: reads what TensorFlow refuses, crashes on or gets wrong, and has the last
word on a broken file.

The rules, the same as on TensorFlow's path:

* the first frame, on the format's own canvas (a GIF's logical screen)
* alpha is dropped, not composited: a transparent pixel has the colour stored for it, in a
  GIF that of its palette. With `rgba` it is kept, and is 255 where there is none
* 16-bit gray becomes 8-bit by its upper byte (Pillow's own conversion clips at 255)
* `grayscale` is ITU-R 601 luma, for JPEG its own luma channel
* EXIF orientation, gamma and colour profiles are not applied

Pillow's flags, its registry of formats and Python's warning filters are global: none is
touched. So the class of the format that the header names is called by itself, without
`Image.open`, which warns about large images; the size is checked here instead.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfstream.decoders.headers import ImageHeader, check_size, look
from tfstream.errors import DecodeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

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
_INSTALL = {"AVIF": "pip install 'pillow>=11.3'", "HEIC": "pip install pillow-heif"}

_MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}
_FIRST_TO = {"CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "RGBa": "RGBA", "La": "LA"}
"""Modes that Pillow converts to some others only by way of these."""


def decode(data: bytes, *, color_mode: str, max_pixels: int) -> NDArray[np.uint8]:
    """
    Pixels as [height, width, channels].

    Raises DecodeError for everything that is no readable image of at most `max_pixels`; the
    text has the cause but not the key, which the caller knows.
    """
    header = look(data)
    if (header.format, header.odd) == ("JPEG", "truncated"):
        raise DecodeError(f"truncated JPEG: {len(data):,} bytes without an end marker")
    if header.width and header.height:
        check_size(header.format, header.width, header.height, max_pixels)
    try:
        image = _open(header.format, data)
        check_size(header.format, *image.size, max_pixels)
        return _pixels(image, header, _MODES[color_mode])
    except DecodeError:
        raise
    except Exception as error:  # hostile bytes bring up any class; none is lost, all are told
        raise DecodeError(f"broken {header.format}: {_reason(error)}") from error


def _open(name: str, data: bytes) -> Image.Image:
    """The image, its pixels not yet unpacked."""
    if name not in _CLASSES:
        raise DecodeError(f"{name}: not supported; convert it to PNG or JPEG")
    module, kind = _CLASSES[name]
    try:
        opened = getattr(import_module(module), kind)(io.BytesIO(data))
    except ImportError as error:
        raise DecodeError(f"{name}: needs another package: {_INSTALL[name]}") from error
    image: Image.Image = opened.ico.getimage(opened.size) if name == "ICO" else opened
    return image


def _pixels(image: Image.Image, header: ImageHeader, mode: str) -> NDArray[np.uint8]:
    import numpy as np

    _refuse_misread(image, header, mode)
    if header.format == "JPEG" and mode == "L":
        image.draft("L", None)  # type: ignore[no-untyped-call, unused-ignore]
    image.load()
    if image.mode.startswith("I"):
        image = _upper_byte(image)
    if mode != "RGBA":
        image.info.pop("transparency", None)  # it is dropped; Pillow warns where it cannot keep it
    if image.mode in _FIRST_TO:
        image = image.convert(_FIRST_TO[image.mode])
    return np.array(image.convert(mode)).reshape(image.height, image.width, len(mode))


def _refuse_misread(image: Image.Image, header: ImageHeader, mode: str) -> None:
    what = ""
    if image.mode == "F":
        what = "32-bit float"
    elif image.mode == "I" and header.format == "TIFF":
        what = "32-bit or signed integers"
    elif mode == "RGBA" and header.transparent and header.bits in (2, 4, 16) and image.mode != "P":
        what = f"a transparent colour of {header.bits} bits"  # Pillow compares it with 8 bits
    if what:
        width, height = image.size
        raise DecodeError(f"{header.format}, {width:,} x {height:,}, {what}: not supported")


def _upper_byte(image: Image.Image) -> Image.Image:
    """16-bit gray as 8-bit; a TIFF says how many of the 16 bits it uses, and which end is white."""
    import numpy as np
    from PIL import Image

    tags: Any = getattr(image, "tag_v2", {})
    (bits,) = tags.get(258, (16,))  # BitsPerSample
    values = (np.asarray(image) >> (bits - 8)).astype(np.uint8)
    return Image.fromarray(~values if tags.get(262) == 0 else values)  # WhiteIsZero


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return text or type(error).__name__
