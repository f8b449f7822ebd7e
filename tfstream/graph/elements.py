"""
What a dataset's elements are, as JSON and back. It names no class, so reading it runs no code.

```
TensorSpec           {"tensor": {"dtype": "float32", "shape": [null, 8, 8, 3], "name": null}}
RaggedTensorSpec     {"ragged": {"dtype": "string", "shape": [2, null], "ragged_rank": 1,
                                 "row_splits": "int64"}}
SparseTensorSpec     {"sparse": {"dtype": "int64", "shape": null}}
a tuple              [element, element]
a dict               {"dict": [["image", element], ["label", element]]}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from tfstream.errors import NotPortableError, SpecError

_KEYS = (str, int)
"""Of dicts: what TensorFlow can sort and JSON can hold."""


def to_plain(element: Any) -> Any:
    """
    Lists, dicts, strings and numbers.

    Errors:
        NotPortableError: a part of another kind.
    """
    if type(element) is tuple:
        return [to_plain(part) for part in element]
    if isinstance(element, Mapping) and all(type(key) in _KEYS for key in element):
        return {"dict": [[key, to_plain(part)] for key, part in element.items()]}
    if type(element) is tf.TensorSpec:
        return {"tensor": {**_tensor(element), "name": element.name}}
    if type(element) is tf.SparseTensorSpec:
        return {"sparse": _tensor(element)}
    if type(element) is tf.RaggedTensorSpec:
        ranks = {"ragged_rank": element.ragged_rank, "row_splits": element.row_splits_dtype.name}
        return {"ragged": {**_tensor(element), **ranks}}
    raise NotPortableError(
        f"elements with a {type(element).__name__} cannot travel: tensors can, dense, ragged or "
        "sparse, in tuples and dicts; add a .map(...) that makes them such"
    )


def from_plain(plain: Any) -> Any:
    """
    What `to_plain` was given.

    Errors:
        SpecError: it did not write this.
    """
    try:
        return _element(plain)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise SpecError(f"no elements of a dataset: {error}", where="$.elements") from error


def _element(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(_element(part) for part in plain)
    ((kind, value),) = dict(plain).items()
    if kind == "dict":
        return {_key(key): _element(part) for key, part in value}
    dtype, shape = tf.as_dtype(value["dtype"]), tf.TensorShape(value["shape"])
    if kind == "tensor":
        return tf.TensorSpec(shape, dtype, value["name"])
    if kind == "sparse":
        return tf.SparseTensorSpec(shape, dtype)
    if kind == "ragged":
        splits = tf.as_dtype(value["row_splits"])
        return tf.RaggedTensorSpec(shape, dtype, value["ragged_rank"], splits)
    raise ValueError(f"unknown kind {kind!r}")


def _key(key: Any) -> str | int:
    if type(key) in _KEYS:
        known: str | int = key
        return known
    raise ValueError(f"no key of a dict: {key!r}")


def _tensor(spec: Any) -> dict[str, Any]:
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    return {"dtype": spec.dtype.name, "shape": shape}
