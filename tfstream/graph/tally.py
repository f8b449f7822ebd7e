"""
Counting what an epoch loses, batch after batch: a scan, so it is exact and in order.

```
(epoch, delivered, failed, first names) + a batch -> the same, further; or the error: too many
```

The counts are a part of the iterator: its checkpoint has them, and no other iterator does. The
Python op is called only in epochs that have lost something.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from tfstream.graph import ops
from tfstream.graph.lengths import Lengths, length_of
from tfstream.spec import DatasetSpec

State = tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]


class Batch(NamedTuple):
    """
    What came of some records.

    Fields:
        images, labels: Of those that are good, or stand in for bad ones.
        epoch: int64.
        came: int64, how many records there were.
        bad: int64, those that are bad.
        data: Their bytes.
    """

    images: tf.Tensor
    labels: tf.Tensor
    epoch: tf.Tensor
    came: tf.Tensor
    bad: tf.Tensor
    data: tf.Tensor


def tallied(
    spec: DatasetSpec, address: ops.Address, batches: tf.data.Dataset, lengths: Lengths
) -> tf.data.Dataset:
    """(images, labels) of each `Batch`; an error where the spec does not allow to go on."""

    def step(state: State, batch: Batch) -> tuple[State, tuple[tf.Tensor, ...]]:
        epoch, delivered, failed, told = state
        same = tf.cast(batch.epoch == epoch, tf.int64)
        delivered = delivered * same + batch.came
        failed = failed * same + tf.size(batch.bad, tf.int64)
        told = told[: same * tf.size(told, tf.int64)]
        nothing = _nothing(spec, batch, delivered, failed, lengths)
        whole = delivered == lengths.whole
        flags = tf.cast([nothing, whole], tf.int64)
        numbers = tf.concat([[batch.epoch, delivered, failed], flags], axis=0)
        told = tf.cond(
            failed > 0,
            lambda: ops.report(address, batch.bad, batch.data, numbers, told),
            lambda: told,
        )
        return (batch.epoch, delivered, failed, told), (batch.images, batch.labels)

    zero = tf.constant(0, tf.int64)
    return batches.scan((zero - 1, zero, zero, tf.zeros([0], tf.string)), step)


def _nothing(
    spec: DatasetSpec, batch: Batch, delivered: tf.Tensor, failed: tf.Tensor, lengths: Lengths
) -> tf.Tensor:
    """Whether no good record is left: for a batch, or for a whole epoch of single examples."""
    if spec.batch_size is not None or spec.on_error == "substitute":
        return tf.shape(batch.images)[0] == 0
    return (failed == delivered) & (delivered == length_of(spec, lengths, batch.epoch))
