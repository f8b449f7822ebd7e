"""What training changes in a model, taken out and put back."""

from __future__ import annotations

import keras
import pytest
import tensorflow as tf

import tfstream
from tests.keras.trainings import model_of
from tfstream.keras.state import build, restore, state_of

pytestmark = pytest.mark.slow


@pytest.fixture
def batches():
    """Two batches of noise."""
    images = tf.random.stateless_uniform([6, 8, 8, 3], [1, 2]) * 255
    return tf.data.Dataset.from_tensor_slices((images, [0, 1, 0, 1, 0, 1])).batch(3)


def values(model):
    """All that a checkpoint has."""
    return {
        kind: [each.value.tolist() for each in variables]
        for kind, variables in state_of(model, metrics=True).items()
    }


def test_building_changes_nothing(batches):
    """All variables of a step are there before it, and the step is as it would have been."""
    built, plain = model_of(), model_of()
    build(built, batches)
    assert 0 == built.optimizer.iterations.numpy()
    for model in (built, plain):
        model.fit(batches, verbose=0, shuffle=False)
    assert values(plain) == values(built)


def test_all_state_comes_back(batches):
    """Weights, moments, seeds' states and running sums, in a model that was never trained."""
    trained, fresh = model_of(), model_of()
    trained.fit(batches, verbose=0, shuffle=False)
    names = [each.name for each in state_of(trained, metrics=True)["model"]]
    assert any("seed_generator_state" in name for name in names)
    build(fresh, batches)
    assert values(trained) != values(fresh)
    restore(fresh, state_of(trained, metrics=True))
    assert values(trained) == values(fresh)


def test_narrow_dtypes(batches):
    """bfloat16, which NumPy has not, comes back from raw bytes."""
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(2, dtype="bfloat16")])
    model.compile("sgd", "mse")
    build(model, batches)
    state = state_of(model, metrics=False)
    raw = {
        kind: [
            each._replace(value=each.value.view("V2" if "b" in each.dtype else each.value.dtype))
            for each in variables
        ]
        for kind, variables in state.items()
    }
    expected = values(model)
    for variable in model.variables:
        variable.assign(variable * 0)
    restore(model, raw)
    assert expected == values(model)


def test_an_optimizer_of_the_models_own(batches):
    """One that is another attribute of the model, as adversarial training has it, is saved too."""

    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.flat, self.dense = keras.layers.Flatten(), keras.layers.Dense(2)
            self.second = keras.optimizers.SGD(0.125)

        def call(self, images):
            return self.dense(self.flat(images))

    model = Two()
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    build(model, batches)
    rates = [it.value.tolist() for it in state_of(model, metrics=False)["optimizer"]]
    assert 0.125 in rates


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: model_of(units=5), r"dense.*/kernel is float32 \[192, 4\].*\[192, 5\]"),
        (lambda: model_of(optimizer="sgd"), r"another model: adam.*/iteration"),
        (lambda: model_of(metrics=["accuracy", "mse"]), r"another model"),
    ],
)
def test_another_model(batches, other, words):
    """The error names the variable, and nothing is changed."""
    saved, model = model_of(), other()
    for each in (saved, model):
        build(each, batches)
    before = values(model)
    with pytest.raises(tfstream.CheckpointError, match=words):
        restore(model, state_of(saved, metrics=True))
    assert before == values(model)
