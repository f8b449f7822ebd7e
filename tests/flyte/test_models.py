"""Models in Keras' own format."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from flytekit.core.context_manager import FlyteContextManager

from tfstream.flyte import models

pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
"""Keras' own, with NumPy 2.4, when it saves."""


def model_of(*more):
    """A small one, compiled."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), *more])
    model.compile("adam", "mse")
    return model


def test_a_model_comes_back(tmp_path):
    """With its weights and its optimizer."""
    model = model_of()
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    models.write(model, tmp_path / "model.keras")
    found = models.read(tmp_path / "model.keras")
    for old, new in zip(model.get_weights(), found.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert 1 == int(found.optimizer.iterations)


def test_python_in_a_model_does_not_run(tmp_path):
    """A Lambda layer's function is bytecode: it is refused when it is read."""
    models.write(model_of(keras.layers.Lambda(lambda x: x + 1)), tmp_path / "model.keras")
    with pytest.raises(ValueError, match="safe"):
        models.read(tmp_path / "model.keras")


def test_flytekit_reads_in_safe_mode_too(engine):
    """Its own transformer is in charge there, and must not run such code either."""
    context = FlyteContextManager.current_context()
    model = model_of(keras.layers.Lambda(lambda x: x + 1))
    expected = engine.to_literal_type(keras.Model)
    literal = engine.to_literal(context, model, keras.Model, expected)
    with pytest.raises(Exception, match="safe"):
        engine.to_python_value(context, literal, keras.Model)


def test_reports_show_its_size():
    """And say where it is not built."""
    assert "Sequential" in models.shown(model_of())
    assert "8 parameters" in models.shown(model_of())
    assert "not built" in models.shown(keras.Sequential([keras.layers.Dense(1)]))
