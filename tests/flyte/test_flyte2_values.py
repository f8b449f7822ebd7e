"""What flyte 2 passes from one task to another, in one process."""

from __future__ import annotations

import json
from typing import Annotated

import flyte
import keras
import pytest
import tensorflow as tf

from tfstream import DatasetSpec
from tfstream.flyte import TFDataset, TrainingCheckpoint

pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
"""Keras' own, with NumPy 2.4, when it saves."""

env = flyte.TaskEnvironment(name="values")
Saved = Annotated[tf.data.Dataset, TFDataset(mode="save")]


@pytest.fixture
def passed(engine2, tmp_path):
    """A value of one type as a task gets it that takes another."""

    def of(value, given, taken):
        found = []

        @env.task
        async def hand_on() -> None:
            literal = await engine2.to_literal(value, given, engine2.to_literal_type(given))
            found.append(await engine2.to_python_value(literal, taken))

        flyte.init(root_dir=tmp_path)
        flyte.with_runcontext(mode="local", raw_data_path=str(tmp_path / "raw")).run(hand_on)
        return found[0]

    return of


def labels_of(data):
    """Of an epoch, in order."""
    return [labels.numpy().tolist() for _, labels in data]


@pytest.mark.slow
def test_a_spec_and_a_dataset_feed_each_other(passed, data):
    """Both travel as the spec, which a dict or a text stands for, too."""
    spec, text = data.spec, data.spec.to_json()
    assert spec == passed(data, tf.data.Dataset, DatasetSpec)
    assert spec == passed(json.loads(text), DatasetSpec, DatasetSpec)
    for value, kind in ((spec, DatasetSpec), (text, tf.data.Dataset)):
        assert spec == passed(value, kind, tf.data.Dataset).spec


@pytest.mark.slow
def test_a_graph_and_elements_feed_a_dataset(passed, data):
    """Also where the graph is too large for a literal, and is passed on as it came."""
    whole = data.epochs(1)
    noise = tf.random.stateless_uniform([300_000], [1, 2])
    large = whole.map(lambda images, labels: (images + noise[0], labels))
    assert labels_of(whole) == labels_of(passed(whole, tf.data.Dataset, tf.data.Dataset))
    assert labels_of(whole) == labels_of(passed(large, tf.data.Dataset, tf.data.Dataset))
    assert labels_of(whole) == labels_of(passed(whole, Saved, tf.data.Dataset))


def test_files_come_back(passed, data):
    """Tensors, in a list and Optional too, a model and a checkpoint."""
    texts, many = tf.constant(["a", ""]), [tf.constant(True), tf.zeros([0, 2], tf.bfloat16)]
    ragged, sparse = tf.ragged.constant([[1.5], []]), tf.sparse.eye(2, dtype=tf.int64)
    assert [b"a", b""] == passed(texts, tf.Tensor, tf.Tensor).numpy().tolist()
    assert [[1.5], []] == passed(ragged, tf.RaggedTensor, tf.RaggedTensor).to_list()
    found = passed(sparse, tf.SparseTensor | None, tf.SparseTensor | None)
    assert [[1, 0], [0, 1]] == tf.sparse.to_dense(found).numpy().tolist()
    kinds = [each.dtype for each in passed(many, list[tf.Tensor], list[tf.Tensor])]
    assert [tf.bool, tf.bfloat16] == kinds
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    assert 8 == passed(model, keras.Model, keras.Model).count_params()
    checkpoint = TrainingCheckpoint(model=model, data=data, step=2)
    again = passed(checkpoint, TrainingCheckpoint, TrainingCheckpoint)
    assert checkpoint.position == again.position


@pytest.mark.parametrize(
    ("value", "given", "taken", "message"),
    [
        (tf.constant(1), tf.RaggedTensor, tf.RaggedTensor, "RaggedTensor"),
        (tf.constant(1), tf.Tensor, tf.SparseTensor, "and TensorFlowSparseTensor is expected"),
        ("no JSON", tf.data.Dataset, tf.data.Dataset, "not JSON"),
        ({"a": 1}, DatasetSpec, DatasetSpec, "expected the version"),
        (1, int, DatasetSpec, "neither a DatasetSpec nor a dataset"),
    ],
    ids=["tensor", "blob", "text", "dict", "int"],
)
def test_other_values_are_refused(passed, value, given, taken, message):
    """With a text, as Flyte's own errors."""
    with pytest.raises(Exception, match=message):
        passed(value, given, taken)
