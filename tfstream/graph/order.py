"""
The order of records: arithmetic on positions, so it has no state and can be entered anywhere.

```
position  0, 1, 2, … of the epoch's global order        (this worker's part of them)
    -> index_shuffle(position; seed, epoch)              another order each epoch
    -> + where this subset begins
    -> index_shuffle(…; seed)                            which records the subset has
    = record, a row of the manifest
```

`RandomIndexShuffle` is TensorFlow's pseudorandom permutation. Its seeds must look random:
with consecutive numbers it has 256 different orders at most (measured: 2,000 epochs of 100
records gave 256 orders, and places up to eight times as uneven as chance). So each epoch's
key is drawn with Philox from (seed, epoch).
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import tensorflow as tf

from tfstream.spec import DatasetSpec, Order, Position, Shard, subset_of

_ROUNDS = 8
"""Of the permutation. Part of what a spec means: never changed."""


class Part(NamedTuple):
    """
    This worker's part of an epoch's positions.

    Worker k of W takes places k * run .. (k + 1) * run of every W * run positions, where a
    run is a batch. All positions are counted from where the epoch is entered.
    """

    shard: Shard
    run: int

    def count(self, positions: int | tf.Tensor) -> int | tf.Tensor:
        """How many of so many positions are this worker's."""
        together = self.run * self.shard.num_shards
        full, rest = positions // together, positions % together
        mine = full * self.run
        if self.shard.remainder == "drop":
            return mine
        if self.shard.remainder == "pad":
            whole = rest > 0
            return (
                mine
                + (int(whole) if isinstance(whole, bool) else tf.cast(whole, tf.int64)) * self.run
            )
        over = rest - self.shard.index * self.run
        if isinstance(over, tf.Tensor):
            return mine + tf.clip_by_value(over, 0, self.run)
        return mine + min(max(over, 0), self.run)

    def positions(self, mine: tf.Tensor) -> tf.Tensor:
        """From this worker's count to the global one."""
        if self.shard.num_shards == 1:
            return mine
        run, within = mine // self.run, mine % self.run
        return (run * self.shard.num_shards + self.shard.index) * self.run + within


def part_of(spec: DatasetSpec) -> Part:
    """The spec's part; all of it where no shard is given."""
    return Part(spec.shard or Shard(num_shards=1, index=0), spec.batch_size or 1)


def positions_of(spec: DatasetSpec, count: int, chunk: int, epoch: tf.Tensor) -> tf.data.Dataset:
    """
    The positions of one epoch that are this worker's, in chunks of `chunk` int64.

    `count` is how many the epoch has for all workers. Elements are (epoch, positions).
    """
    mine = part_of(spec).count(count - _entered(spec, epoch))
    firsts = tf.data.Dataset.range(0, mine, chunk)
    return firsts.map(lambda first: positions_at(spec, count, chunk, epoch, first))


def positions_at(
    spec: DatasetSpec, count: int, chunk: int, epoch: tf.Tensor, first: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """One element of them: the chunk that begins at this worker's position `first`."""
    entered, part = _entered(spec, epoch), part_of(spec)
    mine = part.count(count - entered)
    places = entered + part.positions(tf.range(first, tf.minimum(first + chunk, mine)))
    # each op costs 2 us a chunk, in the one thread that all chunks come from
    return epoch, places % count if part.shard.remainder == "pad" else places


def _entered(spec: DatasetSpec, epoch: tf.Tensor) -> int | tf.Tensor:
    start = spec.start or Position()
    if start.record == 0:
        return 0
    return tf.where(tf.equal(epoch, start.epoch), tf.constant(start.record, tf.int64), 0)


def records_of(order: Order, records: int, epoch: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """The records at these positions of an epoch: rows of the manifest."""
    subset = subset_of(order, records)
    if order.shuffle:
        positions = permuted(positions, subset.size, epoch_key(order.seed, epoch))
    if subset.size == records or not order.shuffle_split:
        return positions + subset.first
    return permuted(positions + subset.first, records, epoch_key(order.seed, -1))


def permuted(index: tf.Tensor, count: int, key: tf.Tensor) -> tf.Tensor:
    """Each index below `count` to its place in the permutation that `key` names."""
    last = tf.constant(max(count - 1, 0), tf.int64)
    return tf.raw_ops.RandomIndexShuffle(index=index, seed=key, max_index=last, rounds=_ROUNDS)


def epoch_key(seed: int | str, epoch: int | tf.Tensor) -> tf.Tensor:
    """Three int32 that depend on every bit of (seed, epoch); epoch -1 is the split's."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    low, high = (int.from_bytes(digest[at : at + 8], "little") for at in (0, 8))
    place = tf.bitcast(tf.cast(epoch, tf.int64), tf.uint64)
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[3],
        key=tf.constant([low], tf.uint64),
        counter=tf.stack([place, tf.constant(high, tf.uint64)]),
        alg=1,  # Philox: the same on every device and version
        dtype=tf.int32,
    )
