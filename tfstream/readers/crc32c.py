"""The masked CRC-32C of TFRecord."""

from __future__ import annotations

from tfstream.errors import MissingDependencyError

_DELTA = 0xA282EAD8


def masked_crc32c(data: bytes) -> int:
    """
    The sum, turned and shifted, so that sums of sums do no harm.

    Errors:
        MissingDependencyError: `google-crc32c` is absent.
    """
    try:
        from google_crc32c import value
    except ImportError as error:
        raise MissingDependencyError(
            'TFRecord files need google-crc32c: pip install "tfstream[tfrecord]"'
        ) from error
    total: int = value(data)
    return ((total >> 15 | total << 17) + _DELTA) & 0xFFFFFFFF
