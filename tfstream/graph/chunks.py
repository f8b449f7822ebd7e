"""
What a dataset's graph begins with: the positions to read, in chunks, epoch by epoch.

```
epochs that nobody counts    epoch_dataset -> flat_map(positions of that epoch)
numbered epochs              range -> (epoch, positions): the chunks of all epochs, counted on
```

The second form has one source with an element for each chunk, so tf.data service can give
each worker some of them. Of the first it could only give a worker all or nothing.
"""

from __future__ import annotations

import math

import tensorflow as tf

from tfstream.graph.order import part_of, positions_at, positions_of
from tfstream.graph.philox import epoch_dataset
from tfstream.spec import DatasetSpec, Position


def chunks_of(spec: DatasetSpec, count: int, chunk: int, epochs: int | None) -> tf.data.Dataset:
    """
    (epoch, positions), in chunks of `chunk`, of a subset of `count` records.

    For `epochs=0` those of one epoch, another each iteration; else of so many, or without end
    for None, in one iteration.
    """
    if epochs == 0:
        first = (spec.start or Position()).epoch
        return epoch_dataset(first).flat_map(lambda n: positions_of(spec, count, chunk, n))
    return _numbered(spec, count, chunk, epochs)


def _numbered(spec: DatasetSpec, count: int, chunk: int, epochs: int | None) -> tf.data.Dataset:
    start, part = spec.start or Position(), part_of(spec)
    first = tf.constant(start.epoch, tf.int64)
    lengths = (int(part.count(each)) for each in (count - start.record, count))
    entered, whole = (math.ceil(length / chunk) for length in lengths)
    after = (epochs if epochs is not None else 2**31) - 1

    def positions(index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        if start.record == 0:
            return positions_at(spec, count, chunk, first + index // whole, index % whole * chunk)
        later = index - entered
        epoch = tf.where(later < 0, first, first + 1 + later // whole)
        within = tf.where(later < 0, index, later % whole)
        return positions_at(spec, count, chunk, epoch, within * chunk)

    return tf.data.Dataset.range(entered + after * whole).map(positions)
