"""
`tf.Tensor`, `tf.RaggedTensor` and `tf.SparseTensor` as a TFRecord file, which has checksums.

```
{"tfstream_tensor": 1, "element": {"ragged": {"dtype": "string", …}}}
tf.io.serialize_tensor of each part: the values, then a ragged one's row splits; a sparse one's
indices, values and shape
```
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfstream.errors import SpecError
from tfstream.graph.elements import from_plain, to_plain

_KEY, _VERSION = "tfstream_tensor", 1
MOST_BYTES = 2**31 - 2**20
"""
Of a part. TensorFlow writes one protobuf message, which has at most 2 GiB; with more, it ends
the process (2.21: by SIGSEGV). A mebibyte is left for the shape.
"""
_OF_A_STRING = 6
"""Bytes that protobuf needs beside a string's own, at most."""
_CARRIERS = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
    "int4": "int8",
    "uint4": "uint8",
}
"""What `serialize_tensor` does not take, and what it does take that holds all its values."""


def write(value: Any, path: Path) -> None:
    """
    Any dtype of values, and any shape.

    Errors:
        ValueError: it has more than 2 GiB, or holds no values (a resource, a variant).
    """
    import tensorflow as tf

    element = to_plain(tf.type_spec_from_value(value))
    parts = [_serialized(part) for part in tf.nest.flatten(value, expand_composites=True)]
    with tf.io.TFRecordWriter(str(path)) as file:
        file.write(json.dumps({_KEY: _VERSION, "element": element}).encode())
        for part in parts:
            file.write(part)


def read(path: Path) -> Any:
    """
    On any device that this process has.

    Errors:
        SpecError: something else, or of a newer version.
        tf.errors.DataLossError: damaged.
    """
    import tensorflow as tf

    head, *parts = (record.numpy() for record in tf.data.TFRecordDataset(str(path)))
    described = json.loads(head)
    if described.get(_KEY) != _VERSION:
        raise SpecError(
            f"version {described.get(_KEY)!r:.40} was written by a newer tfstream; this one reads "
            f"{_VERSION}",
            where=f"$.{_KEY}",
        )
    spec = from_plain(described["element"])
    specs = tf.nest.flatten(spec, expand_composites=True)
    tensors = [_parsed(part, each.dtype) for part, each in zip(parts, specs, strict=True)]
    return tf.nest.pack_sequence_as(spec, tensors, expand_composites=True)


def shown(value: Any) -> str:
    """Its shape and dtype."""
    import tensorflow as tf

    return str(tf.type_spec_from_value(value))


def _serialized(part: Any) -> bytes:
    import tensorflow as tf

    if part.dtype in (tf.resource, tf.variant):
        raise ValueError(f"a tensor of dtype {part.dtype.name} holds no values to pass")
    size = _bytes_of(part)
    if size > MOST_BYTES:
        raise ValueError(
            f"a tensor of {size:,} bytes: TensorFlow's own form holds at most 2 GiB. Pass it in "
            "parts, as a list of tensors"
        )
    carrier = _CARRIERS.get(part.dtype.name)
    data: bytes = tf.io.serialize_tensor(_as(carrier, part) if carrier else part).numpy()
    return data


def _bytes_of(part: Any) -> int:
    import tensorflow as tf

    count = int(tf.size(part, tf.int64))
    if part.dtype != tf.string:
        return count * int(part.dtype.size)
    lengths = tf.cast(tf.strings.length(part), tf.int64)
    return int(tf.reduce_sum(lengths)) + count * _OF_A_STRING


def _parsed(data: bytes, dtype: Any) -> Any:
    import tensorflow as tf

    carrier = _CARRIERS.get(dtype.name)
    tensor = tf.io.parse_tensor(data, carrier or dtype)
    return _as(dtype.name, tensor) if carrier else tensor


def _as(dtype: str, tensor: Any) -> Any:
    """The bits of a quantized tensor, the values of one of 4 bits, or the other way round."""
    import tensorflow as tf

    quantized = tensor.dtype.is_quantized or tf.as_dtype(dtype).is_quantized
    return (tf.bitcast if quantized else tf.cast)(tensor, dtype)
