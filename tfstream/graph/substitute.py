"""
Good records that stand in for bad ones.

The next good record of the batch, cyclically; if there is none, the next one of the epoch's
order, cyclically, for the whole batch. So what stands in is a function of the batch and of the
order: the same on any machine, and after any resume.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from tfstream.graph import decode, ops
from tfstream.spec import DatasetSpec

_AT_ONCE = 16
"""Records to fetch at a time in a search, after the first one: most often that one is good."""


class Good(NamedTuple):
    """
    Decoded records.

    Fields:
        images, labels: One entry a record.
        places: int64, where they stand among all records, sorted.
    """

    images: tf.Tensor
    labels: tf.Tensor
    places: tf.Tensor


class Search(NamedTuple):
    """
    Where to look for a good record outside of a batch.

    Fields:
        fetch: (epoch, positions) to an `ops.Chunk`.
        positions: How many an epoch has, for all workers.
    """

    fetch: Callable[[tf.Tensor, tf.Tensor], ops.Chunk]
    positions: int


def filled(
    good: Good, wanted: tf.Tensor, later: Callable[[], tuple[tf.Tensor, ...]]
) -> tuple[tf.Tensor, tf.Tensor]:
    """
    An image and a label for each place of a batch.

    `later` gives one for all, or none, where the batch has no good record.
    """
    found, count = tf.size(good.places), tf.size(wanted)

    def nearest() -> tuple[tf.Tensor, ...]:
        rows = tf.searchsorted(good.places, wanted) % found
        return tf.gather(good.images, rows), tf.gather(good.labels, rows)

    def one_for_all() -> tuple[tf.Tensor, ...]:
        images, labels = later()
        return tf.repeat(images, count, axis=0), tf.repeat(labels, count, axis=0)

    images, labels = tf.cond(
        found == count,
        lambda: (good.images, good.labels),
        lambda: tf.cond(found > 0, nearest, one_for_all),
    )
    return images, labels


def next_good(
    spec: DatasetSpec, address: ops.Address, search: Search, epoch: tf.Tensor, position: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    """(images, labels) of the first good record after a position: one, or none in the epoch."""
    after = tf.data.Dataset.range(search.positions).map(
        lambda number: (position + 1 + number) % search.positions
    )
    # a fetch refuses images of different sizes where none are resized, as they share a batch
    several = 1 if spec.resize is None else _AT_ONCE
    runs = after.take(1).batch(1).concatenate(after.skip(1).batch(several))
    chunks = runs.map(lambda positions: search.fetch(epoch, positions))

    def example(one: ops.Chunk) -> tf.data.Dataset:
        image = decode.attempts(spec, address, one.encoded)
        return image.map(lambda pixels: (pixels, one.labels))

    found: tuple[tf.Tensor, ...] = decode.first_of(chunks.unbatch().flat_map(example).batch(1))
    return found
