"""
Transparent pictures on a plain ground, in whole numbers.

The same few lines work on NumPy arrays and on TensorFlow's tensors, so that both decoders give
the same pixels to the last bit. `cast(pixels, dtype)` is what they do not share.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Cast = Callable[[Any, str], Any]

_NAMES = {"white": "#ffffff", "black": "#000000"}
_WIDE = {"uint8": "uint16", "uint16": "uint32"}  # most * most + most // 2 fits exactly
_LUMA = (19595, 38470, 7471)  # ITU-R 601: 0.299, 0.587, 0.114 of 65,536, as Pillow rounds them


def color(text: str) -> str:
    """A ground in its one form, `#rrggbb`; an empty string where it is none."""
    text = _NAMES.get(text, text).lower()
    return text if re.fullmatch("#[0-9a-f]{6}", text) else ""


def on_ground(rgba: Any, ground: str, cast: Cast) -> Any:
    """RGBA pixels of 8 or 16 bits -> RGB, each of them mixed with `#rrggbb` by its alpha."""
    import numpy as np

    dtype = rgba.dtype.name
    wide, most = _WIDE[dtype], np.iinfo(dtype).max
    below = np.array([*bytes.fromhex(ground[1:])], wide) * (most // 255)
    picture, alpha = cast(rgba[..., :3], wide), cast(rgba[..., 3:], wide)
    mixed = picture * alpha + (most - alpha) * below + most // 2
    return cast(mixed // most, dtype)


def luma(rgb: Any, cast: Cast) -> Any:
    """RGB pixels of 8 or 16 bits -> the gray that Pillow makes of them."""
    wide = cast(rgb, "uint32")
    red, green, blue = (wide[..., at : at + 1] * weight for at, weight in enumerate(_LUMA))
    return cast((red + green + blue + 32_768) // 65_536, rgb.dtype.name)
