"""
A dataset that the workers of a tf.data service make, who share its records.

```
off        each worker makes all of it                                 chunks as they are
fixed      worker k of W makes chunks k, k + W, k + 2 W, …             chunks.shard(hint)
dynamic    a worker makes the next chunk that nobody has taken         chunks: splits of a range
```

All three are decided on positions, before anything is fetched. A dataset whose epochs nobody
counts is given to the service anew each time it is iterated, with its epoch's number in it:
workers could not tell how often that was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tfstream.graph.chunks import chunks_of
from tfstream.graph.errors import raising
from tfstream.graph.lengths import elements_of, lengths_of
from tfstream.graph.order import positions_of
from tfstream.graph.philox import epoch_dataset
from tfstream.graph.pipeline import chunk_of
from tfstream.graph.service import Service
from tfstream.graph.watched import watched
from tfstream.spec import DatasetSpec, Position, subset_of

Build = Callable[..., tf.data.Dataset]
"""`build(chunks=…, epochs=…)`: what `pipeline.build` makes of some of a dataset's chunks."""


class ServedDataset(tf.data.Dataset):  # type: ignore[misc]
    """
    Examples that come from workers.

    Its length is what comes unless a worker is lost. So it is a promise, and no assertion in
    the graph: training goes on without what a worker had in hand.

    Attributes:
        spec: What is streamed.
    """

    def __init__(self, inner: tf.data.Dataset, spec: DatasetSpec, length: int) -> None:
        self._inner, self._length = inner, length
        self.spec = spec
        super().__init__(inner._variant_tensor)

    def _inputs(self) -> list[tf.data.Dataset]:
        return [self._inner]

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of an element."""
        return self._inner.element_spec

    def cardinality(self) -> tf.Tensor:
        """How many elements an iteration has, if no worker is lost."""
        return tf.constant(self._length, tf.int64)

    def __iter__(self) -> Iterator[Any]:
        return raising(super().__iter__())


@tf.autograph.experimental.do_not_convert
def served(
    service: Service, spec: DatasetSpec, records: int, build: Build, epochs: int | None
) -> ServedDataset:
    """The dataset that `pipeline.build` would make here, made by the service's workers."""
    count, chunk = subset_of(spec.order, records).size, chunk_of(spec)

    def run(chunks: tf.data.Dataset, epochs: int | None) -> tf.data.Dataset:
        if service.mode == "fixed":
            hint = tf.data.experimental.SHARD_HINT
            chunks = chunks.shard(hint, hint)
        return service.run(build(chunks=chunks, epochs=epochs).with_options(_no_hoarding()))

    if epochs != 0:
        dataset = run(chunks_of(spec, count, chunk, epochs), epochs)
    else:
        numbers = epoch_dataset((spec.start or Position()).epoch)
        dataset = numbers.flat_map(lambda epoch: run(positions_of(spec, count, chunk, epoch), 1))
    elements = elements_of(spec, lengths_of(spec, count), epochs)
    if elements is None or (epochs is not None and not service.each_once):
        elements = int(tf.data.UNKNOWN_CARDINALITY)
    dataset = watched(dataset, service.address, service.dispatcher_timeout)
    return ServedDataset(dataset, spec, elements)


def _no_hoarding() -> tf.data.Options:
    """
    Take a chunk when there is a call for it, not before.

    TensorFlow would make the map that computes positions a parallel one, which takes ten chunks
    and more for a worker that has not begun with its first.
    """
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    return options
