"""Thirty pictures to train on, in ten batches of three."""

from __future__ import annotations

import pytest

from tfstream.testing.images import encode, noise


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A folder with two classes."""
    root = tmp_path_factory.mktemp("photos")
    for number in range(30):
        place = root / ("cat", "dog")[number % 2] / f"{number:02}.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(encode(noise(8, 8, seed=number), "PNG"))
    return root
