"""Decoding with Pillow, for the contenders that do not use TensorFlow's decoder."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from benchmarks.job import SIZE


def decoded(data: bytes) -> np.ndarray:
    """JPEG bytes to an array of 224 x 224 x 3 bytes."""
    with Image.open(io.BytesIO(data)) as image:
        small = image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return np.asarray(small)
