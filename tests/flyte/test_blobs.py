"""Values that are passed as files: what literals say, in both SDKs, and how they fail."""

from __future__ import annotations

from typing import Union

import keras
import pytest
import tensorflow as tf
from flytekit.core.context_manager import FlyteContextManager

from tfstream.flyte import TrainingCheckpoint

FROZEN = {
    tf.Tensor: ("tfstream.Tensor", "TensorFlowTensor"),
    tf.RaggedTensor: ("tfstream.RaggedTensor", "TensorFlowRaggedTensor"),
    tf.SparseTensor: ("tfstream.SparseTensor", "TensorFlowSparseTensor"),
    TrainingCheckpoint: ("tfstream.TrainingCheckpoint", "TensorFlowTrainingCheckpoint"),
}
"""Names and formats are in the literals and interfaces of others, so they never change."""


@pytest.fixture
def context():
    """flytekit's."""
    return FlyteContextManager.current_context()


@pytest.mark.parametrize("kind", FROZEN, ids=lambda kind: kind.__name__)
def test_names_are_frozen(engine, engine2, kind):
    """In both SDKs."""
    name, form = FROZEN[kind]
    for each in (engine, engine2):
        assert name == each.get_transformer(kind).name
        literal_type = each.to_literal_type(kind)
        assert form == literal_type.blob.format
        assert kind is each.get_transformer(kind).guess_python_type(literal_type)


def test_models_have_one_transformer(engine, engine2):
    """flytekit's own there, ours in flyte 2, and the same format; subclasses too."""

    class Mine(keras.Model):
        pass

    for kind in (keras.Model, keras.Sequential, Mine, tf.keras.Model):
        assert "TensorFlow Model" == engine.get_transformer(kind).name
        assert "tfstream.Model" == engine2.get_transformer(kind).name
    forms = {each.to_literal_type(keras.Model).blob.format for each in (engine, engine2)}
    assert {"TensorFlowModel"} == forms


@pytest.mark.parametrize("kind", ["dense", "ragged", "sparse"])
def test_tensors_travel(engine, context, kind):
    """As files."""
    value = tf.constant([["a", ""]])
    if kind == "ragged":
        value = tf.RaggedTensor.from_tensor(value, padding="")
    if kind == "sparse":
        value = tf.sparse.from_dense(value)
    annotated = next(each for each in FROZEN if isinstance(value, each))
    expected = engine.to_literal_type(annotated)
    literal = engine.to_literal(context, value, annotated, expected)
    found = engine.to_python_value(context, literal, annotated)
    assert str(value) == str(found)


def test_a_union_is_no_guess(engine, context):
    """Each value goes as its own type."""
    kind = Union[list[tf.Tensor], tf.RaggedTensor, tf.Tensor]  # noqa: UP007
    expected = engine.to_literal_type(kind)
    for value in (tf.constant(1), tf.ragged.constant([[1], []]), [tf.constant(2)]):
        literal = engine.to_literal(context, value, kind, expected)
        assert type(value) is type(engine.to_python_value(context, literal, kind))


def test_other_files_are_refused(engine, context):
    """By name, before anything is downloaded."""
    value = engine.to_literal(context, tf.constant(1), tf.Tensor, engine.to_literal_type(tf.Tensor))
    transformer = engine.get_transformer(tf.SparseTensor)
    with pytest.raises(Exception, match="this is a TensorFlowTensor, and TensorFlowSparse") as told:
        transformer.to_python_value(context, value, tf.SparseTensor)
    assert "TypeTransformerFailedError" == type(told.value).__name__


def test_errors_of_tensorflow_are_told(engine, context, tmp_path):
    """Never a bare OpError, which flytekit would show as an IndexError."""
    from flytekit.core.type_engine import TypeTransformerFailedError

    literal = engine.to_literal(
        context, tf.constant(1), tf.Tensor, engine.to_literal_type(tf.Tensor)
    )
    (tmp_path / "bad").write_bytes(b"no record" * 10)
    literal.scalar.blob._uri = str(tmp_path / "bad")
    with pytest.raises(TypeTransformerFailedError, match="DataLossError"):
        engine.get_transformer(tf.Tensor).to_python_value(context, literal, tf.Tensor)


def test_decks_show_no_values(engine, engine2, context):
    """But shapes; other people's texts are escaped."""
    value = tf.constant(["<b>secret</b>"])
    shown = engine.get_transformer(tf.Tensor).to_html(context, value, tf.Tensor)
    assert "shape=(1,)" in shown
    assert "secret" not in shown
    checkpoint = TrainingCheckpoint(model=(), hyperparameters={"note": "<script>"})
    for told in (
        engine.get_transformer(TrainingCheckpoint).to_html(context, checkpoint, None),
        engine2.get_transformer(TrainingCheckpoint).to_html(checkpoint, None),
    ):
        assert "&lt;script&gt;" in told
        assert "<script>" not in told
