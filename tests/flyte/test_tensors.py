"""Tensors of every kind as files."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf

from tfstream.errors import SpecError
from tfstream.flyte import tensors

DTYPES = (
    *("bfloat16", "bool", "complex64", "complex128", "float16", "float32", "float64"),
    *("float8_e4m3fn", "float8_e5m2", "int4", "int8", "int16", "int32", "int64"),
    *("uint4", "uint8", "uint16", "uint32", "uint64"),
)
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16"} | {
    "qint32": "int32"
}
STRINGS = ["", "é", b"\xff\x00", "a" * 1000]

VALUES = {
    "scalar": tf.constant(3.5),
    "nothing": tf.zeros([2, 0, 3], tf.int64),
    "strings": tf.constant(STRINGS),
    "ragged": tf.ragged.constant([[[1, 2], []], [[3]]]),
    "ragged strings": tf.ragged.constant([["a"], [], ["b", "c"]], row_splits_dtype=tf.int32),
    "uniform rows": tf.RaggedTensor.from_uniform_row_length(
        tf.ragged.constant([[1], [2, 3], [], [4]]), 2
    ),
    "sparse": tf.sparse.from_dense([[1.5, 0], [0, 2]]),
    "sparse strings": tf.SparseTensor([[5, 1]], ["a"], [10, 2]),
    "empty sparse": tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [3, 4]),
}


def again(value, folder):
    """What comes out of the file."""
    tensors.write(value, folder / "value.tfrecord")
    return tensors.read(folder / "value.tfrecord")


def same(left, right):
    """Whether all parts of both are equal, in shape, dtype and values."""
    parts = [tf.nest.flatten(value, expand_composites=True) for value in (left, right)]
    return all(
        one.dtype == other.dtype
        and one.shape == other.shape
        and one.numpy().tolist() == other.numpy().tolist()
        for one, other in zip(*parts, strict=True)
    )


@pytest.mark.parametrize("name", VALUES)
def test_every_kind_and_shape(tmp_path, name):
    """The same class, type, parts, to the bit."""
    value = VALUES[name]
    found = again(value, tmp_path)
    assert tf.type_spec_from_value(value) == tf.type_spec_from_value(found)
    assert same(value, found)


@pytest.mark.parametrize("name", [each for each in DTYPES if hasattr(tf, each) or "_" not in each])
def test_every_dtype(tmp_path, name):
    """Those that NumPy lacks, too."""
    dtype = tf.as_dtype(name)
    value = tf.cast(tf.constant([[1, 0, 2]]), dtype)
    assert same(value, again(value, tmp_path))


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_dtypes(tmp_path, name):
    """TensorFlow's op does not take them, so their bits travel as integers."""
    bits = tf.constant([1, 2, 100], QUANTIZED[name])
    found = again(tf.bitcast(bits, tf.as_dtype(name)), tmp_path)
    assert name == found.dtype.name
    assert [1, 2, 100] == tf.bitcast(found, QUANTIZED[name]).numpy().tolist()


def test_what_holds_no_values_is_refused(tmp_path):
    """A variant, such as a dataset's, means nothing elsewhere."""
    variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    with pytest.raises(ValueError, match="dtype variant holds no values"):
        tensors.write(variant, tmp_path / "value")


@pytest.mark.parametrize(
    "value", [tf.zeros([30]), tf.constant(["a" * 95])], ids=["numbers", "text"]
)
def test_too_large_is_refused(tmp_path, monkeypatch, value):
    """TensorFlow would end the process, so it never gets that far; nothing is written."""
    monkeypatch.setattr(tensors, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match=r"holds at most 2 GiB\. Pass it in parts"):
        tensors.write(value, tmp_path / "value")
    assert not (tmp_path / "value").exists()


def test_damage_is_noticed(tmp_path):
    """Each part has a checksum."""
    file = tmp_path / "value"
    tensors.write(tf.zeros([100]), file)
    data = bytearray(file.read_bytes())
    data[-100] ^= 1
    file.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError):
        tensors.read(file)


def test_newer_versions_are_refused(tmp_path):
    """And what is something else."""
    file = tmp_path / "value"
    with tf.io.TFRecordWriter(str(file)) as writer:
        writer.write(json.dumps({"tfstream_tensor": 2}).encode())
    with pytest.raises(SpecError, match="version 2 was written by a newer tfstream"):
        tensors.read(file)
