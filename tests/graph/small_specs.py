"""Specs without any data behind them, and the order of records that their graphs give."""

from __future__ import annotations

import tensorflow as tf

from tfstream.decoders.image import ImageDecoder
from tfstream.graph.chunks import chunks_of
from tfstream.graph.order import records_of
from tfstream.graph.pipeline import chunk_of
from tfstream.sources.local import LocalSource
from tfstream.spec import DatasetSpec, subset_of


def spec_of(**fields) -> DatasetSpec:
    """A spec of pictures in a folder that nobody opens."""
    return DatasetSpec(source=LocalSource(root="photos"), decoder=ImageDecoder(), **fields)


@tf.autograph.experimental.do_not_convert  # as `build` has it; ten times faster
def order_of(spec: DatasetSpec, records: int, *, epochs: int = 1) -> list[list[int]]:
    """The records of each epoch, as the graph that datasets are built from gives them."""
    count, first = subset_of(spec.order, records).size, spec.start.epoch if spec.start else 0

    def rows(epoch: tf.Tensor, positions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return epoch, records_of(spec.order, records, epoch, positions)

    chunks = chunks_of(spec, count, chunk_of(spec), epochs)
    found: list[list[int]] = [[] for _ in range(epochs)]
    # elements are (epoch, records)
    for epoch, chunk in chunks.map(rows).as_numpy_iterator():
        found[epoch - first] += chunk.tolist()
    return found
