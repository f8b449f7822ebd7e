"""Names that are those of images: what counts as data where nothing else says so."""

from __future__ import annotations

EXTENSIONS = frozenset(
    f".{name}"
    for name in (
        *("avif", "bmp", "gif", "heic", "heif", "ico", "j2k", "jp2", "jpe", "jpeg", "jpg", "jxl"),
        *("pbm", "pgm", "png", "pnm", "ppm", "tif", "tiff", "webp"),
    )
)
"""Of the formats that tfstream reads; lower case."""


def is_image(key: str) -> bool:
    """Whether a key is named like an image that tfstream reads."""
    name = key.rpartition("/")[2]
    return "." in name and f".{name.rpartition('.')[2].lower()}" in EXTENSIONS
