"""JPEG XL files of 2 x 3 pixels, lossless; made with imagecodecs 2026.3.6 (libjxl)."""

from __future__ import annotations

import numpy as np

VALUES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) * 10

_RGB = (
    "ff0a08401009080401007c004b188b154219b62d3cef02610064d0a0418306f5ecbb4e927425c2a3002700",
    VALUES[..., :3],
)
_BOXES = "0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20"

FILES = {
    "rgb": _RGB,
    "rgb in boxes": (_BOXES + "000000336a786c63" + _RGB[0], _RGB[1]),
    "rgb in parts": (_BOXES + "000000376a786c7080000000" + _RGB[0], _RGB[1]),
    "rgba": (
        "ff0a0840b0120810100070004b18132f078b00098f0cce319d88a9e4c32f200680069d4b6f0b8800",
        VALUES,
    ),
    "gray": ("ff0a0840101437020804010034004b188b150a1d27834f10b40959", VALUES[..., :1]),
    "gray with alpha": (
        "ff0a0840b0286e040810100070004b188b154219b623af0b1c0030001e0909090909b537cfb2d2002700",
        VALUES[..., 2:4],
    ),
    "animation": (
        "ff0a08404113008809080401007c004b188b154219b62d3cef02610064d0a0418306f5ecbb4e927425"
        "c2a30027000804050080004b188b154219b62d3cef0261004883060d1a34c862db7592f44089f028c00900",
        VALUES[..., :3],
    ),
}
FILES = {name: (bytes.fromhex(text), pixels) for name, (text, pixels) in FILES.items()}
"""Name -> file, and the pixels that it has: 1 to 4 channels."""
