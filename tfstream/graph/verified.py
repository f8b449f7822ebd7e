"""
An iterator's checkpoint is refused by any other dataset.

A scan keeps the identity of the dataset as its state, which is in every checkpoint of the
iterator. After a restore it is that of the dataset that was saved; each step compares it with
the one in this graph, before anything is read.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfstream.graph import ops
from tfstream.spec import DatasetSpec
from tfstream.spec.identity import identity_of


def verified(chunks: tf.data.Dataset, spec: DatasetSpec) -> tf.data.Dataset:
    """
    The same (epoch, positions), or the error that says what differs from the checkpoint's dataset.

    A position there may be past the end here, and then there is nothing to verify. So the
    last chunk is followed by an empty one, which is verified and then left out.
    """
    text = identity_of(spec)

    def step(saved: tf.Tensor, chunk: Any) -> tuple[tf.Tensor, Any]:
        here = tf.constant(text)
        same = tf.cond(tf.equal(saved, here), lambda: saved, lambda: ops.differs(saved, here))
        return same, chunk

    end = tf.data.Dataset.from_tensors((tf.constant(-1, tf.int64), tf.zeros([0], tf.int64)))
    found = chunks.concatenate(end).scan(tf.constant(text), step)
    return found.filter(lambda _, positions: tf.size(positions) > 0)
