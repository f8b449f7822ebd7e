"""
The whole graph of a dataset.

```
epoch number -> positions, in chunks -> record numbers -> fetch (the Python op) -> decode,
resize -> labels in their form -> batches -> prefetch
```

The graph's size does not depend on how many records there are: it holds the spec's JSON.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import tensorflow as tf

from tfstream.graph import decode, ops
from tfstream.graph.order import epochs_of, part_of, positions_of, records_of
from tfstream.graph.pure import pure
from tfstream.options import ReadOptions
from tfstream.spec import DatasetSpec, Position, subset_of

_FILES, _RECORDS = 16, 1024
"""The least records a call of the Python op: it costs about 0.2 ms, so this makes it cheap."""
_CALLS = 16
"""The most calls under way: each holds a chunk and a thread."""
_PREFETCH = 2
"""Batches ready for the model: one that it takes, one to hide how long the next one takes."""

Parts = tuple[tf.Tensor, ...]


@tf.autograph.experimental.do_not_convert  # nothing to convert, and slow to find that out
def build(
    spec: DatasetSpec, records: int, *, handle: str, options: ReadOptions, epochs: int | None = 0
) -> tf.data.Dataset:
    """
    The dataset of a pinned spec with so many records.

    `epochs=0` gives one epoch, another each time it is iterated; a number or None (no end)
    gives so many, numbered, in one iteration.

    Errors:
        ValueError: the subset, or this worker's part of it, is empty.
    """
    count = subset_of(spec.order, records).size
    steps = _steps(spec, count, epochs)
    address = ops.Address(spec, handle)
    chunk = chunk_of(spec)
    dataset = epochs_of(spec, epochs).flat_map(lambda n: positions_of(spec, count, chunk, n))
    calls = min(max(2, math.ceil(2 * options.max_in_flight / chunk)), _CALLS)
    dataset = dataset.map(_fetch(spec, records, address), num_parallel_calls=calls)
    if epochs == 0:
        dataset = _with_threads(dataset, calls)
    dataset = _decoded(spec, address, dataset)
    if steps is not None:
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(steps))
    return pure(dataset.prefetch(_PREFETCH)).with_options(_options(calls, epochs))


def chunk_of(spec: DatasetSpec) -> int:
    """Records a call of the Python op: a whole number of batches, so that none spans epochs."""
    batch = spec.batch_size or 1
    return batch * max(1, (_RECORDS if spec.reader.shards else _FILES) // batch)


def _steps(spec: DatasetSpec, count: int, epochs: int | None) -> int | None:
    """How many elements one iteration has; None where the first differs from the next."""
    start = spec.start or Position()
    if start.record >= max(count, 1):
        raise ValueError(f"the position {start.record:,} is past the epoch's end, {count:,}")
    part, batch = part_of(spec), spec.batch_size or 1
    whole, first = (
        math.ceil(int(part.count(positions)) / batch) for positions in (count, count - start.record)
    )
    if whole == 0:
        raise ValueError(
            f"nothing to read: {count:,} records"
            + (f", subset={spec.order.subset!r}" if spec.order.subset else "")
            + (f", {spec.shard}" if spec.shard else "")
        )
    if epochs is None:
        return int(tf.data.INFINITE_CARDINALITY)
    if epochs:
        return first + (epochs - 1) * whole
    return whole if first == whole else None


def _fetch(spec: DatasetSpec, records: int, address: ops.Address) -> Callable[..., Parts]:
    def fetch(epoch: tf.Tensor, positions: tf.Tensor) -> Parts:
        if spec.reader.shards:  # the op orders them: that takes the manifest
            return ops.fetch(address, epoch, positions)
        return ops.fetch(address, epoch, records_of(spec.order, records, epoch, positions))

    return fetch


def _decoded(spec: DatasetSpec, address: ops.Address, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Elements of the dataset's final form."""
    single = spec.batch_size is None
    if single and spec.resize is None and not spec.reader.shards:  # sizes differ: no batch
        return dataset.unbatch().map(
            lambda data, label, route, record: _element(
                spec, decode.image(spec, address, data, route, record), label
            ),
            num_parallel_calls=_cores(),
        )

    def batch(data: tf.Tensor, labels: tf.Tensor, routes: tf.Tensor, rows: tf.Tensor) -> Parts:
        if spec.reader.shards:
            examples = decode.run_of_numbers(spec, data)
        else:
            examples = decode.batch_of_images(spec, address, data, routes, rows)
        return _element(spec, examples, labels)

    dataset = dataset.map(batch, num_parallel_calls=_cores())
    if single:
        return dataset.unbatch()
    return dataset if chunk_of(spec) == spec.batch_size else dataset.flat_map(_slices(spec))


def _slices(spec: DatasetSpec) -> Callable[..., tf.data.Dataset]:
    """Cut a chunk into batches."""

    def slices(*chunk: tf.Tensor) -> tf.data.Dataset:
        flat = tf.nest.flatten(chunk)
        starts = tf.data.Dataset.range(0, tf.shape(flat[0], tf.int64)[0], spec.batch_size)
        parts = chunk if len(chunk) > 1 else chunk[0]
        return starts.map(
            lambda at: tf.nest.map_structure(lambda part: part[at : at + spec.batch_size], parts)
        )

    return slices


def _element(spec: DatasetSpec, example: tf.Tensor, label: tf.Tensor) -> Parts | tf.Tensor:
    if spec.label_mode is None:
        return example
    if spec.label_mode == "categorical":
        label = tf.one_hot(label, len(spec.class_names or ()))
    elif spec.label_mode == "binary":
        label = tf.cast(label, tf.float32)[..., tf.newaxis]
    return example, label


def _cores() -> int:
    """
    Decoding is all CPU. AUTOTUNE would take the threads that wait for the network for
    cores: measured, 1.7 times the CPU and 350 MB more for 24 of them on two cores.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _with_threads(dataset: tf.data.Dataset, calls: int) -> tf.data.Dataset:
    """
    Threads of its own for what waits for the network, and for nothing after it.

    As an option they would be the whole dataset's. Measured on two cores: decoding on all of
    them costs 4 % more CPU, and 70 MB of memory that each thread's allocator keeps.
    """
    variant = tf.raw_ops.PrivateThreadPoolDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        num_threads=calls + 1,
        output_types=tf.nest.flatten(tf.compat.v1.data.get_output_types(dataset)),
        output_shapes=tf.nest.flatten(tf.compat.v1.data.get_output_shapes(dataset)),
    )
    return tf.data.experimental.from_variant(variant, dataset.element_spec)


def _options(calls: int, epochs: int | None) -> tf.data.Options:
    options = tf.data.Options()
    if epochs != 0:
        # 2 KB instead of all buffers; but then TensorFlow warns about each `tf.random` op in a
        # user's map, for every batch, so only where there is something to resume
        options.experimental_symbolic_checkpoint = True
        options.threading.private_threadpool_size = calls + 8  # `_with_threads` cannot be saved so
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    auto_shard = tf.data.experimental.AutoShardPolicy
    options.experimental_distribute.auto_shard_policy = auto_shard.DATA
    return options
