"""
The whole graph of a dataset.

```
epoch number -> positions, in chunks -> record numbers -> fetch (the Python op) -> decode,
resize -> batches -> labels in their form -> users' seeded functions -> prefetch
```

Until the last two, an element is (element, places): places are (epoch, position) of its records.

Where `on_error` says to go on without bad records, `policy` decodes and makes the batches.

The graph's size does not depend on how many records there are: it holds the spec's JSON.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

import tensorflow as tf

from tfstream.graph import decode, ops
from tfstream.graph.chunks import chunks_of
from tfstream.graph.forked import at_work
from tfstream.graph.lengths import Lengths, elements_of, lengths_of
from tfstream.graph.masks import masks_of
from tfstream.graph.order import records_of
from tfstream.graph.policy import good_examples
from tfstream.graph.pure import pure
from tfstream.graph.seeded import Function, seeded
from tfstream.graph.substitute import Search
from tfstream.graph.verified import verified
from tfstream.labels.images import ImageLabels
from tfstream.options import ReadOptions
from tfstream.spec import DatasetSpec, subset_of

_FILES, _RECORDS = 16, 1024
"""The least records a call of the Python op: it costs about 0.2 ms, so this makes it cheap."""
_CALLS = 16
"""The most calls under way: each holds a chunk and a thread."""
_PREFETCH = 2
"""Batches ready for the model: one that it takes, one to hide how long the next one takes."""

Parts = tuple[tf.Tensor, ...]


@tf.autograph.experimental.do_not_convert  # nothing to convert, and slow to find that out
def build(
    spec: DatasetSpec,
    records: int,
    *,
    handle: str,
    options: ReadOptions,
    epochs: int | None = 0,
    chunks: tf.data.Dataset | None = None,
    functions: Sequence[Function] = (),
) -> tf.data.Dataset:
    """
    The dataset of a pinned spec with so many records.

    `epochs=0` gives one epoch, another each time it is iterated; a number or None (no end)
    gives so many, numbered, in one iteration. `chunks` are read instead of the spec's own,
    where they are only some of those; then nobody knows how many elements there will be.
    `functions` are those of `map_with_seed`.

    Errors:
        ValueError: the subset, or this worker's part of it, is empty.
        TfstreamError: this is a forked process that cannot have a dataset.
    """
    at_work()
    count = subset_of(spec.order, records).size
    lengths = lengths_of(spec, count)
    address, chunk = ops.Address(spec, handle), chunk_of(spec)
    own = chunks is None  # else it is for tf.data service, which saves no iterator
    if chunks is None:
        chunks = verified(chunks_of(spec, count, chunk, epochs), spec)
    calls = min(max(2, math.ceil(2 * options.max_in_flight / chunk)), _CALLS)
    fetch = _fetch(spec, records, address)
    dataset = chunks.map(fetch, num_parallel_calls=calls)
    if spec.on_error == "raise" or spec.reader.shards:
        dataset = _decoded(spec, address, dataset)
    else:
        dataset = _tolerant(spec, address, dataset, Search(fetch, count), lengths)
    dataset = seeded(pure(dataset) if own else dataset, spec, functions, _decoders())
    elements = elements_of(spec, lengths, epochs)
    if elements is not None and (own or epochs is None):
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(elements))
    return dataset.prefetch(_PREFETCH).with_options(_options(spec, calls, epochs))


def chunk_of(spec: DatasetSpec) -> int:
    """Records a call of the Python op: a whole number of batches, so that none spans epochs."""
    batch = spec.batch_size or 1
    if spec.batch_size and spec.resize is None and not spec.reader.shards:
        return batch  # a chunk is decoded as one tensor: here its images must agree in size
    return batch * max(1, (_RECORDS if spec.reader.shards else _FILES) // batch)


def _fetch(spec: DatasetSpec, records: int, address: ops.Address) -> Callable[..., ops.Chunk]:
    def fetch(epoch: tf.Tensor, positions: tf.Tensor) -> ops.Chunk:
        if spec.reader.shards:  # the op orders them: that takes the manifest
            return ops.fetch(address, epoch, positions, positions)
        numbers = records_of(spec.order, records, epoch, positions)
        return ops.fetch(address, epoch, positions, numbers)

    return fetch


def _decoded(spec: DatasetSpec, address: ops.Address, chunks: tf.data.Dataset) -> tf.data.Dataset:
    """Elements of the dataset's final form; the first bad record is an error."""
    single = spec.batch_size is None
    if single and spec.resize is None and not spec.reader.shards:  # sizes differ: no batch
        return chunks.unbatch().map(
            lambda one: _placed(
                spec, decode.image_of(spec, address, one.encoded), one.labels, one.places
            ),
            num_parallel_calls=_decoders(),
        )

    def batch(chunk: ops.Chunk) -> Parts:
        if spec.reader.shards:
            examples = decode.run_of_numbers(spec, chunk.encoded.data)
        else:
            examples, _ = decode.images_of(spec, address, chunk.encoded)
        return _placed(spec, examples, chunk.labels, chunk.places)

    dataset = chunks.map(batch, num_parallel_calls=_decoders())
    if single:
        return dataset.unbatch()
    return dataset if chunk_of(spec) == spec.batch_size else dataset.flat_map(_slices(spec))


def _tolerant(
    spec: DatasetSpec,
    address: ops.Address,
    chunks: tf.data.Dataset,
    search: Search,
    lengths: Lengths,
) -> tf.data.Dataset:
    """The same, going on without bad records."""
    single = spec.batch_size is None
    if single and spec.resize is None:  # sizes differ: no image may share a chunk
        chunks = chunks.unbatch().batch(1)
    examples = good_examples(
        spec, address, chunks, search=search, lengths=lengths, threads=_decoders()
    )
    dataset = examples.map(lambda each: _placed(spec, *each))
    return dataset.unbatch() if single else dataset


def _slices(spec: DatasetSpec) -> Callable[..., tf.data.Dataset]:
    """Cut a chunk into batches."""

    def slices(*chunk: tf.Tensor) -> tf.data.Dataset:
        count = tf.shape(chunk[-1], tf.int64)[0]
        return tf.data.Dataset.range(0, count, spec.batch_size).map(
            lambda at: tf.nest.map_structure(lambda part: part[at : at + spec.batch_size], chunk)
        )

    return slices


def _placed(spec: DatasetSpec, example: tf.Tensor, label: tf.Tensor, places: tf.Tensor) -> Parts:
    return _element(spec, example, label), places


def _element(spec: DatasetSpec, example: tf.Tensor, label: tf.Tensor) -> Parts | tf.Tensor:
    if spec.label_mode is None:
        return example
    if isinstance(spec.labels, ImageLabels):
        return example, masks_of(spec, spec.labels, label)
    if spec.label_mode == "categorical":
        label = tf.one_hot(label, len(spec.class_names or ()))
    elif spec.label_mode == "binary":
        label = tf.cast(label, tf.float32)[..., tf.newaxis]
    return example, label


def _decoders() -> int:
    """
    Batches that are decoded at a time: one more than there are cores.

    A map holds the place of a batch that is done until it is its turn: measured on two cores,
    a third one gives 4 % more images of 90 kB a second and 10 % more through Pillow, for 30 MB.
    AUTOTUNE would take the threads that wait for the network for cores: measured, 1.7 times the
    CPU and 350 MB more for 24 of them.
    """
    affinity = hasattr(os, "sched_getaffinity")
    return 1 + (len(os.sched_getaffinity(0)) if affinity else os.cpu_count() or 1)


def _options(spec: DatasetSpec, calls: int, epochs: int | None) -> tf.data.Options:
    options = tf.data.Options()
    # for what waits for the network; measured on two cores: decoding on all of them, too, costs
    # 4 % more CPU, and 30 MB that the threads' allocators keep
    options.threading.private_threadpool_size = calls + 8
    if epochs != 0:
        options.experimental_symbolic_checkpoint = True
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    auto_shard = tf.data.experimental.AutoShardPolicy
    shared_out = spec.shard is not None and spec.shard.num_shards > 1
    options.experimental_distribute.auto_shard_policy = (
        auto_shard.OFF if shared_out else auto_shard.DATA
    )
    return options


def saving_positions() -> tf.data.Options:
    """
    Checkpoints of positions, 3 KB, instead of all buffers, 77 MB for 200 images of 224 x 224.

    Then TensorFlow warns, whatever the options say, about each `tf.random` op in a user's map,
    for every batch (`IteratorContext::SaveCheckpoint`). So a dataset that is just iterated has
    it only where no user's map can be: in its own iterators, not in those of derived ones.
    """
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    return options
