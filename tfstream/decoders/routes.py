"""
Who decodes an image: the one table, from its header to a decoder and a number for it.

```
route = decoder + 16 * (orientation - 1)
```

The number is what travels to the graph beside the bytes. TensorFlow gets only what it decodes
as Pillow does, bit for bit (JPEG: with the accurate DCT; gray from a colour PNG: within one
level). All else goes through `pillow.decode`; so does GIF, whose damage TensorFlow does not tell.
"""

from __future__ import annotations

from typing import Any

from tfstream.decoders.layouts import ImageHeader

JPEG, JPEG_2, JPEG_4, JPEG_8, PNG, PNG_LUMA, PNG_MIXED = range(7)
BMP, WEBP, WEBP_MIXED, JXL, PILLOW = range(7, 12)
"""
`JPEG_2` gives half the size. `LUMA`: to be made gray here, since libpng's gray depends on the
file's gamma (seen: 59 of 255 levels). `MIXED`: with alpha, to be mixed with a plain ground.
"""

_NAMES = (
    *("jpeg", "jpeg/2", "jpeg/4", "jpeg/8", "png", "png", "png"),
    *("bmp", "webp", "webp", "jxl", "pillow"),
)
DECODERS = 16  # room for 12; a power of 2, so that the parts of a route can be seen in hex

TENSORFLOW = {
    "JPEG": (JPEG, (3, 1)),
    "PNG": (PNG, (3, 4, 1)),
    "BMP": (BMP, (3,)),
    "WebP": (WEBP, (3, 4)),
    "JPEG XL": (JXL, (3, 4, 1)),
}
"""Format -> decoder, and the numbers of channels that it can give."""


def packed(decoder: int, orientation: int) -> int:
    """One number of both."""
    return decoder + DECODERS * (orientation - 1)


def decoder_of(route: Any) -> Any:
    """The first part of a route, which may be a tensor."""
    return route % DECODERS


def orientation_of(route: Any) -> Any:
    """The second part of a route, which may be a tensor: 1 to 8."""
    return route // DECODERS + 1


def route_name(route: int) -> str:
    """What `stats().decode_paths` calls it: `png`, `pillow`, `jpeg/2` for a half-size decode."""
    return _NAMES[decoder_of(int(route))]


def choose(header: ImageHeader, *, channels: int, dtype: str, mixed: bool) -> int:
    """
    The decoder for an image.

    `mixed` says that alpha is to be mixed with a ground instead of kept or dropped.
    """
    decoder, possible = TENSORFLOW.get(header.format, (PILLOW, ()))
    if header.odd or (decoder == JXL and dtype != "uint8"):
        return PILLOW
    if mixed and _has_alpha(header):
        return {PNG: PNG_MIXED, WEBP: WEBP_MIXED}.get(decoder, PILLOW)
    if channels not in possible or not _channels_fit(header, channels):
        return PILLOW
    if header.gamma and channels == 1 and (header.channels or 0) >= 3:
        return PNG_LUMA
    return decoder


def _has_alpha(header: ImageHeader) -> bool:
    return header.channels in (2, 4) or header.transparent


def _channels_fit(header: ImageHeader, channels: int) -> bool:
    if header.format == "WebP":  # TensorFlow adds and drops no alpha here
        return header.channels == channels
    if header.format == "PNG" and channels == 4:  # to 1, 2 or 4 bits it adds 1, 3 or 15
        return header.transparent or (header.bits or 0) >= 8
    return True


def scaled(header: ImageHeader, least: tuple[int, int]) -> int:
    """The JPEG decoder whose picture is the smallest of at least (height, width) `least`."""
    height, width = header.height or 0, header.width or 0
    for decoder, ratio in ((JPEG_8, 8), (JPEG_4, 4), (JPEG_2, 2)):
        if -(-height // ratio) >= least[0] and -(-width // ratio) >= least[1]:
            return decoder
    return JPEG
