"""
Going on without bad records: `on_error="skip"` and `"substitute"`.

```
chunk of records
  -> the good ones, decoded; the bad ones as they are                  (Apart)
  -> batches by place: shorter ones, or good records stand in for bad ones
  -> tally -> (images, labels, places)
```
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import tensorflow as tf

from tfstream.graph import decode, ops
from tfstream.graph.lengths import Lengths
from tfstream.graph.substitute import Good, Search, filled, next_good
from tfstream.graph.tally import Batch, tallied
from tfstream.spec import DatasetSpec


class Apart(NamedTuple):
    """
    A chunk, its good and its bad records apart.

    Fields:
        good: Decoded.
        bad: int64, places in the chunk.
        bad_records, bad_data: Which records those are, and their bytes.
        epochs, positions: Of the whole chunk.
    """

    good: Good
    bad: tf.Tensor
    bad_records: tf.Tensor
    bad_data: tf.Tensor
    epochs: tf.Tensor
    positions: tf.Tensor


def good_examples(
    spec: DatasetSpec,
    address: ops.Address,
    chunks: tf.data.Dataset,
    *,
    search: Search,
    lengths: Lengths,
    threads: int,
) -> tf.data.Dataset:
    """Those of every batch; without a batch size, of each record or of none."""
    apart = chunks.map(partial(_apart, spec, address), num_parallel_calls=threads)
    starts = apart.flat_map(partial(_starts, spec))
    return tallied(spec, address, starts.map(partial(_batch, spec, address, search)), lengths)


def _apart(spec: DatasetSpec, address: ops.Address, chunk: ops.Chunk) -> Apart:
    encoded = chunk.encoded
    if spec.batch_size is None and spec.resize is None:  # sizes differ: a chunk is one record
        one = ops.Encoded(*(each[0] for each in encoded))
        images = decode.first_of(decode.attempts(spec, address, one).batch(1))
        places = tf.range(tf.shape(images, tf.int64)[0])
    else:
        images, places = decode.images_of(spec, address, encoded)
    is_bad = tf.tensor_scatter_nd_update(
        tf.ones_like(encoded.records, tf.bool),
        places[:, tf.newaxis],
        tf.zeros_like(places, tf.bool),
    )
    bad = tf.where(is_bad)[:, 0]
    return Apart(
        Good(images, tf.gather(chunk.labels, places), places),
        bad,
        tf.gather(encoded.records, bad),
        tf.gather(encoded.data, bad),
        chunk.epochs,
        chunk.positions,
    )


def _starts(spec: DatasetSpec, apart: Apart) -> tf.data.Dataset:
    """
    The chunk once for each of its batches, with the place where that begins.

    A zip, since a map in here would be made anew for every chunk: measured, 1 ms each.
    """
    starts = tf.data.Dataset.range(0, tf.size(apart.positions, tf.int64), spec.batch_size or 1)
    return tf.data.Dataset.zip((starts, tf.data.Dataset.from_tensors(apart).repeat()))


def _batch(
    spec: DatasetSpec, address: ops.Address, search: Search, start: tf.Tensor, apart: Apart
) -> Batch:
    end = tf.minimum(start + (spec.batch_size or 1), tf.size(apart.positions, tf.int64))
    epoch, last = apart.epochs[start], apart.positions[end - 1]
    good, bad = (_between(places, start, end) for places in (apart.good.places, apart.bad))
    found = Good(*(each[good] for each in apart.good))
    images, labels = found.images, found.labels
    if spec.on_error == "substitute":
        later = partial(next_good, spec, address, search, epoch, last)
        images, labels = filled(found, tf.range(start, end), later)
    place = tf.stack([epoch, apart.positions[start]])
    return Batch(images, labels, place, end - start, apart.bad_records[bad], apart.bad_data[bad])


def _between(places: tf.Tensor, start: tf.Tensor, end: tf.Tensor) -> slice:
    """Where the places of one batch are among those of the chunk, which are sorted."""
    bounds = tf.searchsorted(places, tf.stack([start, end]))
    return slice(bounds[0], bounds[1])
