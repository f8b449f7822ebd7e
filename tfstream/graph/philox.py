"""
The epoch's number, in a graph, for a dataset that does not know how often it was iterated.

A tf.data pipeline has one portable, checkpointed source of something new each iteration: a
`RandomDataset` that reseeds itself. Iteration i gives the first numbers of a Philox generator
whose two seeds are numbers 2i and 2i + 1 of another one, seeded by the dataset's own seed.
That is a fixed sequence, so i is found again by computing it (`epoch_of`). A test compares
with the op itself on every supported TensorFlow version.

Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import tensorflow as tf

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_CHUNK = 2048
"""Epochs that are computed at a time: about a millisecond."""
_SEED = (0x7466, 0x73747265616D)
"""Of the outer generator: any fixed numbers. The dataset's seed comes in later, with the epoch."""


def epoch_dataset(first: int) -> tf.data.Dataset:
    """One int64, another each time it is iterated: `first`, `first` + 1, `first` + 2, …"""
    variant = tf.raw_ops.RandomDatasetV2(
        seed=tf.constant(_SEED[0], tf.int64),
        seed2=tf.constant(_SEED[1], tf.int64),
        seed_generator=tf.raw_ops.DummySeedGenerator(),
        rerandomize_each_iteration=True,
        output_types=[tf.int64],
        output_shapes=[tf.TensorShape([])],
    )
    numbers = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    pair = numbers.take(2).batch(2, drop_remainder=True)
    return pair.map(lambda nonce: first + epoch_of(nonce))


def epoch_of(nonce: tf.Tensor) -> tf.Tensor:
    """Which iteration of `epoch_dataset` gave these two numbers."""
    wanted = tf.cast(nonce, tf.uint64)

    def matches(start: tf.Tensor) -> tf.Tensor:
        found = tf.reduce_all(nonces(start, _CHUNK) == wanted, axis=1)
        return tf.where(found)[:, 0]

    def search(start: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        hits = matches(start)
        here = tf.cond(
            tf.size(hits) > 0, lambda: start + hits[0], lambda: tf.constant(-1, tf.int64)
        )
        return start + _CHUNK, here

    _, epoch = tf.while_loop(
        lambda start, found: (found < 0) & (start < 2**31),
        search,
        (tf.constant(0, tf.int64), tf.constant(-1, tf.int64)),
    )
    return epoch


def nonces(start: tf.Tensor, count: int) -> tf.Tensor:
    """uint64 of shape (count, 2): the numbers of iterations `start` and on. `start` is even."""
    block = tf.cast(start // 2, tf.uint64)
    seeds = tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[count, 2],
        key=tf.constant([_SEED[0]], tf.uint64),
        counter=tf.stack([block, tf.constant(_SEED[1], tf.uint64)]),
        alg=1,  # Philox
        dtype=tf.uint32,
    )
    return _first_two(tf.cast(seeds, tf.uint64))


def _first_two(seeds: tf.Tensor) -> tf.Tensor:
    """The first two numbers of each generator that is seeded with a row's two 32-bit numbers."""
    low = tf.constant(_LOW, tf.uint64)
    multipliers = tf.constant([_MULTIPLIERS], tf.uint64)
    weyl = tf.constant([_WEYL], tf.uint64)
    none = tf.zeros_like(seeds[:, 0])

    def one_round(
        n: tf.Tensor, even: tf.Tensor, odd: tf.Tensor, key: tf.Tensor
    ) -> tuple[tf.Tensor, ...]:
        product = even * multipliers
        high = tf.bitwise.right_shift(product, tf.constant(32, tf.uint64))
        even = tf.bitwise.bitwise_xor(high[:, ::-1], tf.bitwise.bitwise_xor(odd, key))
        odd = tf.bitwise.bitwise_and(product, low)[:, ::-1]
        return n + 1, even, odd, tf.bitwise.bitwise_and(key + weyl, low)

    state = (
        tf.constant(0),
        tf.stack([none, seeds[:, 1]], axis=1),
        tf.stack([none, none], axis=1),
        tf.stack([seeds[:, 0], none], axis=1),
    )
    _, even, odd, _ = tf.while_loop(lambda n, *_: n < 10, one_round, state)
    return tf.stack([even[:, 0], odd[:, 0]], axis=1)
