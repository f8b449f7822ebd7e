"""
Users' random functions, exact after any resume: their seed is a function of the place.

```
(example, label), (epoch, position) -> fn(example, label, seed) -> …
seed = Philox(key: the spec's seed and which function; counter: position, epoch)
```
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfstream.spec import DatasetSpec

Function = Callable[..., Any]


def seeded(
    dataset: tf.data.Dataset, spec: DatasetSpec, functions: Sequence[Function], threads: int
) -> tf.data.Dataset:
    """Elements of (element, places), each through the functions in turn, without their places."""

    def call(element: Any, places: tf.Tensor) -> Any:
        place = places if spec.batch_size is None else places[0]
        for index, function in enumerate(functions):
            parts = element if isinstance(element, tuple) else (element,)
            element = function(*parts, seed_at(spec.order.seed, index, place))
        return element

    if not functions:
        return dataset.map(lambda element, _: element)  # moves tensors, calls nothing
    return dataset.map(call, num_parallel_calls=threads)


def seed_at(seed: int, index: int, place: tf.Tensor) -> tf.Tensor:
    """Two int32 for the function number `index` at an (epoch, position)."""
    digest = hashlib.sha256(f"{seed}/map/{index}".encode()).digest()
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[2],
        key=tf.constant([int.from_bytes(digest[:8], "little")], tf.uint64),
        counter=tf.bitcast(place[::-1], tf.uint64),
        alg=1,  # Philox: the same on every device and version
        dtype=tf.int32,
    )
