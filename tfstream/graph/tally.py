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


class Examples(NamedTuple):
    """
    Examples that go on.

    Fields:
        images, labels: One entry each.
        places: int64 pairs (epoch, position): where their batch begins in the order.
    """

    images: tf.Tensor
    labels: tf.Tensor
    places: tf.Tensor


class Batch(NamedTuple):
    """
    What came of some records.

    Fields:
        images, labels: Of those that are good, or stand in for bad ones.
        place: int64 pair (epoch, position) of the first of them.
        came: int64, how many records there were.
        bad: int64, those that are bad.
        data: Their bytes.
    """

    images: tf.Tensor
    labels: tf.Tensor
    place: tf.Tensor
    came: tf.Tensor
    bad: tf.Tensor
    data: tf.Tensor

    @property
    def epoch(self) -> tf.Tensor:
        """Of all of them: int64."""
        return self.place[0]

    @property
    def examples(self) -> Examples:
        """What goes on from here."""
        places = tf.repeat(self.place[tf.newaxis], tf.shape(self.images)[0], axis=0)
        return Examples(self.images, self.labels, places)


def tallied(
    spec: DatasetSpec, address: ops.Address, batches: tf.data.Dataset, lengths: Lengths
) -> tf.data.Dataset:
    """The examples of each `Batch`; an error where the spec does not allow to go on."""

    def step(state: State, batch: Batch) -> tuple[State, Examples]:
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
        return (batch.epoch, delivered, failed, told), batch.examples

    zero = tf.constant(0, tf.int64)
    return batches.scan((zero - 1, zero, zero, tf.zeros([0], tf.string)), step)


def _nothing(
    spec: DatasetSpec, batch: Batch, delivered: tf.Tensor, failed: tf.Tensor, lengths: Lengths
) -> tf.Tensor:
    """Whether no good record is left: for a batch, or for a whole epoch of single examples."""
    if spec.batch_size is not None or spec.on_error == "substitute":
        return tf.shape(batch.images)[0] == 0
    return (failed == delivered) & (delivered == length_of(spec, lengths, batch.epoch))
