"""
Tiny image files, made in memory: ordinary ones, and the odd ones that decoders trip over.

Pillow writes what it can; the rest is packed by hand. `odd()` has one of each oddity, by name.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]


def noise(height: int = 11, width: int = 14, channels: int = 3, *, seed: int = 0) -> Pixels:
    """Random pixels [height, width, channels]: what differs anywhere is seen."""
    import numpy as np

    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)


def smooth(height: int = 48, width: int = 64) -> Pixels:
    """A colour gradient [height, width, 3], which compresses as photographs do."""
    import numpy as np

    rows, columns = np.mgrid[0:height, 0:width]
    planes = (rows * 255 // height, columns * 255 // width, (rows + columns) % 256)
    return np.stack(planes, axis=-1).astype(np.uint8)


def encode(pixels: NDArray[Any], format: str, *, mode: str | None = None, **options: Any) -> bytes:
    """
    Pixels as Pillow writes them: `encode(noise(), "JPEG", mode="CMYK", quality=95)`.

    [height, width, frames, channels] is an animation, its frames on the third axis.
    """
    from PIL import Image

    frames = [pixels] if pixels.ndim < 4 else [pixels[:, :, at] for at in range(pixels.shape[2])]
    gray = pixels.ndim > 2 and pixels.shape[-1] == 1
    pictures = [Image.fromarray(frame[..., 0] if gray else frame) for frame in frames]
    pictures = [picture.convert(mode) if mode else picture for picture in pictures]
    file = io.BytesIO()
    if len(pictures) > 1:
        options = {"save_all": True, "append_images": pictures[1:], **options}
    pictures[0].save(file, format, **options)
    return file.getvalue()


def animation(format: str, *, frames: int = 3, **options: Any) -> bytes:
    """Frames of noise; the first is `noise()`."""
    import numpy as np

    return encode(np.stack([noise(seed=at) for at in range(frames)], axis=2), format, **options)


def bmp(pixels: Pixels, *, top_down: bool = False, masks: tuple[int, ...] = ()) -> bytes:
    """RGB pixels as a BMP of 24 bits, or of 32 with `masks` (bit fields for red, green, blue)."""
    import numpy as np

    height, width = pixels.shape[:2]
    rows = pixels if top_down else pixels[::-1]
    if masks:
        steps = np.array([(mask & -mask).bit_length() - 1 for mask in masks], np.uint32)
        body = bytes(np.bitwise_or.reduce(rows.astype("<u4") << steps, axis=-1).astype("<u4"))
    else:
        padding = bytes(-3 * width % 4)
        body = b"".join(row[:, ::-1].tobytes() + padding for row in rows)
    extra = struct.pack("<3I", *masks) if masks else b""
    start = 54 + len(extra)
    head = struct.pack("<2sIII", b"BM", start + len(body), 0, start)
    sizes = (40, width, -height if top_down else height, 1, 32 if masks else 24)
    info = struct.pack("<IiiHHIIiiII", *sizes, 3 if masks else 0, len(body), 0, 0, 0, 0)
    return head + info + extra + body


def gif(pixels: Pixels, *, screen: tuple[int, int], at: tuple[int, int] = (0, 0)) -> bytes:
    """One frame at (left, top) of a screen of (width, height)."""
    data = encode(pixels, "GIF", mode="P")
    frame = data.index(b"\x2c" + bytes(4))
    moved = struct.pack("<HH", *at)
    return data[:6] + struct.pack("<HH", *screen) + data[10 : frame + 1] + moved + data[frame + 5 :]


def transparent_gif(pixels: Pixels) -> bytes:
    """One frame whose first pixel's palette entry is the transparent one."""
    from PIL import Image

    picture = Image.fromarray(pixels).quantize(64)
    file = io.BytesIO()
    picture.save(file, "GIF", transparency=picture.getpixel((0, 0)), optimize=False)
    return file.getvalue()


def jpeg_frame(data: bytes, *, marker: int = 0xC0, bits: int = 8) -> bytes:
    """A baseline JPEG whose frame header is changed: `marker` 0xc3 says lossless."""
    at = data.index(b"\xff\xc0")
    return data[: at + 1] + bytes([marker]) + data[at + 2 : at + 4] + bytes([bits]) + data[at + 5 :]


def gray_png(values: NDArray[Any], *, bits: int, transparent: int | None = None) -> bytes:
    """Values [height, width] below 2 ** bits, one of which may be the transparent one."""
    import numpy as np

    height, width = values.shape
    digits = np.unpackbits(values.astype(">u2").view(np.uint8).reshape(height, width, 2), axis=-1)
    rows = np.packbits(digits[..., -bits:].reshape(height, -1), axis=-1)
    body = b"".join(b"\0" + bytes(row) for row in rows)
    key = b"" if transparent is None else _chunk(b"tRNS", struct.pack(">H", transparent))
    return _png(width, height, bits, 0, body, key)


def png_of_size(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims to be as large as you say."""
    return _png(width, height, 8, 2, b"")


def _png(width: int, height: int, bits: int, colour: int, body: bytes, more: bytes = b"") -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    pixels = _chunk(b"IDAT", zlib.compress(body))
    return b"\x89PNG\r\n\x1a\n" + header + more + pixels + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)


def odd() -> dict[str, bytes]:
    """Files that TensorFlow crashes on, gets wrong or refuses; Pillow reads each of them."""
    import numpy as np

    colours = noise()
    return {
        "animated opaque WebP": animation("WEBP", lossless=True),
        "animated GIF": animation("GIF"),
        "transparent GIF": transparent_gif(colours),
        "GIF smaller than its screen": gif(colours, screen=(20, 16), at=(4, 3)),
        "top-down BMP": bmp(colours, top_down=True),
        "palette BMP": encode(colours, "BMP", mode="P"),
        "BMP with bit fields": bmp(colours, masks=(0xFF000000, 0xFF0000, 0xFF00)),
        "1-bit BMP": encode(colours, "BMP", mode="1"),
        "BMP with trailing bytes": bmp(colours) + b"more",
        "WebP with alpha": encode(noise(channels=4), "WEBP", lossless=True),
        "TIFF": encode(colours, "TIFF"),
        "16-bit TIFF": encode(colours.astype(np.uint16)[..., 0] * 257, "TIFF"),
        "JPEG 2000": encode(colours, "JPEG2000"),
        "ICO": encode(noise(32, 32), "ICO", sizes=[(32, 32)]),
        "PNM": encode(colours, "PPM"),
    }
