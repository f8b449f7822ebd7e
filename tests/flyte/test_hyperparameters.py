"""Hyperparameters as JSON holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tfstream.flyte.hyperparameters import plain


@dataclass
class Inner:
    """Of another."""

    layers: tuple[int, ...] = (4, 2)


@dataclass
class Run:
    """A user's dataclass."""

    rate: float
    inner: Inner


class Named(NamedTuple):
    """A user's NamedTuple."""

    rate: float
    size: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        ({"rate": 0.1, "note": None}, {"rate": 0.1, "note": None}),
        (Run(0.1, Inner()), {"rate": 0.1, "inner": {"layers": [4, 2]}}),
        (Named(0.1, 3), {"rate": 0.1, "size": 3}),
        ({"rate": np.float64(0.5), "sizes": np.arange(2)}, {"rate": 0.5, "sizes": [0, 1]}),
    ],
    ids=["none", "dict", "dataclass", "NamedTuple", "NumPy"],
)
def test_every_way_to_write_them(value, expected):
    """One dict, of what JSON has."""
    assert expected == plain("hyperparameters", value)


@pytest.mark.parametrize(
    "value", [[1], Run, {1: "a"}, {"function": print}, {"bytes": b"a"}, (1, 2)], ids=repr
)
def test_anything_else_is_refused(value):
    """By the name of the argument."""
    with pytest.raises(ValueError, match="`hyperparameters` must be a dict, NamedTuple or data"):
        plain("hyperparameters", value)
