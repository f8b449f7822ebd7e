"""Real images for the demo: scikit-learn's 1,797 handwritten digits of 8 x 8 pixels."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
from collections.abc import Mapping

import numpy as np

SHARDS = 3


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The pictures as uint8 and what they show, 0 to 9."""
    from sklearn.datasets import load_digits

    data = load_digits()
    # 0 to 16 there; 16 x 15.9375 is 255, so that white is white
    return np.round(data.images * 15.9375).astype(np.uint8), data.target.astype(np.uint8)


def as_objects() -> dict[str, bytes]:
    """Key -> bytes: every picture as a PNG in its class folder, and all of them as IDX shards."""
    images, labels = digits()
    return {**_single_files(images, labels), **_idx_shards(images, labels)}


def digest(objects: Mapping[str, bytes]) -> str:
    """Another text for other objects: 12 hex digits."""
    found = hashlib.sha256()
    for key, data in sorted(objects.items()):
        found.update(f"{key} {len(data)}\n".encode() + data)
    return found.hexdigest()[:12]


def _single_files(images: np.ndarray, labels: np.ndarray) -> dict[str, bytes]:
    return {
        f"train/{label}/{number:04}.png": _png(image)
        for number, (image, label) in enumerate(zip(images, labels, strict=True))
    }


def _png(image: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def _idx_shards(images: np.ndarray, labels: np.ndarray) -> dict[str, bytes]:
    """Pairs of gzip IDX files, as MNIST has them: a header of counts, then the bytes."""
    objects = {}
    for part in range(SHARDS):
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            objects[f"idx/part-{part}-{name}-ubyte.gz"] = _idx(np.array_split(array, SHARDS)[part])
    return objects


def _idx(array: np.ndarray) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)  # 8: uint8
    return gzip.compress(header + array.tobytes(), mtime=0)  # the same bytes every time
