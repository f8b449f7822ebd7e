"""How long a dataset is: in records of this worker, and in elements."""

from __future__ import annotations

import math
from typing import NamedTuple

import tensorflow as tf

from tfstream.graph.order import part_of
from tfstream.spec import DatasetSpec, Position


class Lengths(NamedTuple):
    """
    How many records an epoch has for this worker, good and bad.

    Fields:
        entered: The epoch that is entered, perhaps in the middle.
        whole: Any other.
    """

    entered: int
    whole: int


def lengths_of(spec: DatasetSpec, count: int) -> Lengths:
    """
    Of a subset of `count` records.

    Errors:
        ValueError: this worker has none, or the position is past the end.
    """
    start, part = spec.start or Position(), part_of(spec)
    if start.record >= max(count, 1):
        raise ValueError(
            f"the position {start.record:,} is past the epoch's end, {count:,} records. The next "
            f"epoch begins at epoch={start.epoch + 1}, 0"
        )
    entered, whole = (int(part.count(each)) for each in (count - start.record, count))
    if whole == 0:
        raise ValueError(
            f"nothing to read: {count:,} records"
            + (f", subset={spec.order.subset!r}" if spec.order.subset else "")
            + (f", {spec.shard}" if spec.shard else "")
        )
    return Lengths(entered, whole)


def length_of(spec: DatasetSpec, lengths: Lengths, epoch: tf.Tensor) -> tf.Tensor:
    """Of one epoch, int64."""
    entered, whole = (tf.constant(each, tf.int64) for each in lengths)
    return tf.where(epoch == (spec.start or Position()).epoch, entered, whole)


def elements_of(spec: DatasetSpec, lengths: Lengths, epochs: int | None) -> int | None:
    """Of one iteration; None where the next has others, or only reading can tell."""
    if epochs is None:
        return int(tf.data.INFINITE_CARDINALITY)
    if spec.on_error == "skip" and spec.batch_size is None and not spec.reader.shards:
        return None
    entered, whole = (math.ceil(length / (spec.batch_size or 1)) for length in lengths)
    if epochs:
        return entered + (epochs - 1) * whole
    return whole if entered == whole else None
