"""A folder as people have them: good images of every kind, and bad ones, each of a known kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tfstream.testing.images import encode, noise, odd, png_of_size, smooth

PHOTO = encode(smooth(), "JPEG")

GOOD = {
    "good/photo.jpg": PHOTO,
    "good/drawing.png": encode(smooth(), "PNG"),
    "good/really a png.jpg": encode(noise(), "PNG"),
    **{f"odd/{name}.png": data for name, data in odd().items()},
}

BAD = {
    "bad/cut.jpg": PHOTO[: len(PHOTO) // 2],
    "bad/also cut.jpg": PHOTO[:-2],
    "bad/cut.png": encode(noise(), "PNG")[:200],
    "bad/page.jpg": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
    "bad/empty.png": b"",
    "bad/notes.jpg": b"remember the milk",
    "bad/packed.jpg": b"\x1f\x8b\x08\0" + bytes(20),
    "bad/huge.png": png_of_size(100_000, 100_000),
    "bad/depth.tiff": encode(smooth()[..., 0].astype(np.float32), "TIFF"),
}

KINDS = {
    "truncated JPEG": ["bad/also cut.jpg", "bad/cut.jpg"],
    "PNG too large": ["bad/huge.png"],
    "TIFF not supported (32-bit float)": ["bad/depth.tiff"],
    "not an image (HTML)": ["bad/page.jpg"],
    "not an image (empty)": ["bad/empty.png"],
    "not an image (gzip)": ["bad/packed.jpg"],
    "not an image (text)": ["bad/notes.jpg"],
    "truncated PNG": ["bad/cut.png"],
}
"""Of BAD: the most frequent first, then by name, as the report has them."""


def fill(folder: Path, objects: dict[str, bytes]) -> Path:
    """Write them as files below the folder."""
    for key, data in objects.items():
        file = folder / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder
