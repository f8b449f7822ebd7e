"""`StreamDataset`: what users hold, a `tf.data.Dataset` like any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfstream.errors import MissingDependencyError, NotPortableError

try:
    import tensorflow as tf
except ModuleNotFoundError as error:  # which TensorFlow, and whether, is the user's choice
    if error.name != "tensorflow":
        raise
    raise MissingDependencyError('pip install "tfstream[tf]"') from None

from tfstream.checks import whole
from tfstream.fetch.handles import Handle
from tfstream.fetch.stats import Stats
from tfstream.fetch.stream import Stream
from tfstream.graph.errors import raising
from tfstream.graph.forked import at_work
from tfstream.graph.order import records_of
from tfstream.graph.pipeline import build, saving_positions
from tfstream.graph.seeded import Function
from tfstream.options import ReadOptions
from tfstream.spec import DatasetSpec, Position, Shard, subset_of


class StreamDataset(tf.data.Dataset):  # type: ignore[misc]
    """
    Examples that stream from where they are; `model.fit` takes it as it is.

    Made by `tfstream.from_lakefs` and the like. Elements are `(images, labels)`, or `images`
    without labels: float32 `(batch, height, width, channels)` and int32 `(batch,)` unless
    arguments say otherwise. Each iteration is another epoch, in another order.

    Iterating it in Python raises tfstream's errors; inside `model.fit` TensorFlow raises its
    own, with the same text.
    """

    def __init__(
        self, stream: Stream, *, epochs: int | None = 0, functions: Sequence[Function] = ()
    ) -> None:
        if not tf.executing_eagerly():
            raise RuntimeError(
                "a dataset of tfstream is made outside of tf.function, and may be used inside: it "
                "looks at its store when it is made"
            )
        self._handle = Handle(stream)
        self._epochs = epochs
        self._functions = tuple(functions)
        self._inner = build(
            stream.spec,
            stream.manifest.count,
            handle=self._handle.name,
            options=stream.reading.options,
            epochs=epochs,
            functions=functions,
        )
        # one for all iterations: TensorFlow would count the epochs of each new one from 0
        self._saving = self._inner.with_options(saving_positions())
        self._saving._handle = self._handle  # an iterator keeps its dataset, not this one
        super().__init__(self._inner._variant_tensor)

    def _inputs(self) -> list[tf.data.Dataset]:
        return [self._inner]

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of an element."""
        return self._inner.element_spec

    def __iter__(self) -> Iterator[Any]:
        at_work()
        return raising(iter(self._saving))

    def __reduce__(self) -> Any:
        raise NotPortableError(
            "a dataset holds open connections, so it cannot be pickled or copied: pass "
            "dataset.spec, and call tfstream.load(spec) there"
        )

    def __repr__(self) -> str:
        source = self.spec.source
        return (
            f"<StreamDataset {source.url(source.pattern)}, {self._count:,} records, "
            f"{self.element_spec}>"
        )

    @property
    def spec(self) -> DatasetSpec:
        """What is streamed: pinned, JSON, no credentials."""
        return self._handle.stream.spec

    @property
    def is_its_spec(self) -> bool:
        """
        Whether `tfstream.load(dataset.spec)` gives the same: a spec says all of it.

        Not after `.epochs()` and `.map_with_seed()`, which a spec does not know. What is derived
        by `.map` and the like is no `StreamDataset`; `tfstream.to_graph` takes all of these.
        """
        return self._epochs == 0 and not self._functions

    @property
    def commit(self) -> str | None:
        """The commit id that the data is pinned to; None where the store has no commits."""
        return getattr(self.spec.source, "commit", None)

    @property
    def class_names(self) -> list[str] | None:
        """In label order; None without labels."""
        return None if self.spec.class_names is None else list(self.spec.class_names)

    @property
    def num_classes(self) -> int | None:
        """How many classes there are; None without labels."""
        return None if self.spec.class_names is None else len(self.spec.class_names)

    @property
    def file_paths(self) -> list[str]:
        """
        The key of every object of this subset, as its store has it.

        In the order in which they come without shuffling. A folder's are absolute paths, as
        Keras gives them. Shards are listed whole.
        """
        stream = self._handle.stream
        paths, order = stream.manifest.objects.paths, self.spec.order
        rows: Any = range(len(paths))
        if stream.manifest.records is None and order.subset is not None:
            places = tf.range(self._count, dtype=tf.int64)
            unshuffled = self.spec.replace(order=_unshuffled(self.spec)).order
            rows = records_of(unshuffled, len(paths), tf.constant(0, tf.int64), places).numpy()
        found = [paths[row] for row in np.asarray(rows)]
        source = self.spec.source
        return [source.url(path) for path in found] if source.name == "local" else found

    def stats(self) -> Stats:
        """What has been read so far, in this process."""
        return self._handle.stream.reading.counts.snapshot()

    def at(self, *, epoch: int = 0, step: int = 0) -> StreamDataset:
        """
        The same dataset, entered at the beginning of a step, at once.

        `step` counts batches (single records without a batch size) of all workers together,
        bad records too. The first iteration is the rest of that epoch.
        """
        epoch, step = whole("epoch", epoch, least=0), whole("step", step, least=0, most=None)
        shards = self.spec.shard.num_shards if self.spec.shard else 1
        record = step * (self.spec.batch_size or 1) * shards
        start = Position(epoch=epoch, record=record)
        return self._changed(self._with_spec(self.spec.replace(start=start)))

    def epochs(self, n: int | None = None) -> StreamDataset:
        """
        `n` epochs in one iteration, numbered from the start; without end for None.

        ```python
        model.fit(data.epochs(), epochs=10, steps_per_epoch=len(data))
        ```

        An iterator of it can be saved with `tf.train.Checkpoint`: about 3 KB, and a restored
        one gives exactly the next element, also in another process.
        """
        n = whole("n", n, least=1, none=True)
        return StreamDataset(self._handle.stream, epochs=n, functions=self._functions)

    def map_with_seed(self, fn: Function) -> StreamDataset:
        """
        `map` for random functions, which give the same again after any resume.

        ```python
        def flipped(image, label, seed):
            return tf.image.stateless_random_flip_left_right(image, seed), label

        train = train.map_with_seed(flipped)
        ```

        `fn` gets an element and a seed, two int32, for `tf.image.stateless_random_*`. The seed is
        a function of the dataset's seed, the epoch and the place in it. A batch has one, that
        of its first record: the same for any number of workers, with the same batch size.
        Without a batch size each record has its own. What a `tf.random` op in `fn` gives starts
        over after a resume. The result can be entered and shared out like the dataset itself.
        """
        functions = (*self._functions, tf.function(fn))  # autograph, which `build` does without
        return StreamDataset(self._handle.stream, epochs=self._epochs, functions=functions)

    def shard(self, num_shards: int, index: int, name: str | None = None) -> tf.data.Dataset:
        """
        Every `num_shards`-th element from `index` on, as `tf.data.Dataset.shard`.

        ```python
        data = data.shard(context.num_input_pipelines, context.input_pipeline_id)
        ```

        Only these are read. Elements are counted anew in each epoch.

        Errors:
            ValueError: no such index, or no elements for it.
        """
        num_shards = whole("num_shards", num_shards, least=1)
        index = whole("index", index, least=0)
        old = self.spec.shard or Shard(num_shards=1, index=0)
        if index >= num_shards:
            raise ValueError(
                f"`index` must be below `num_shards`. Received: index={index}, "
                f"num_shards={num_shards}"
            )
        if num_shards == 1:
            return self
        if old.remainder != "uneven":  # whose last run would be another one
            return super().shard(num_shards, index, name)
        shard = Shard(
            num_shards=old.num_shards * num_shards, index=old.index + old.num_shards * index
        )
        return self._changed(self._with_spec(self.spec.replace(shard=shard)))

    def with_read_options(self, options: ReadOptions) -> StreamDataset:
        """The same examples, read in another way."""
        old = self._handle.stream
        return self._changed(Stream(old.spec, old.reading.with_options(options), old.manifest))

    @property
    def _count(self) -> int:
        return subset_of(self.spec.order, self._handle.stream.manifest.count).size

    def _with_spec(self, spec: DatasetSpec) -> Stream:
        old = self._handle.stream
        return Stream(spec, old.reading, old.manifest)

    def _changed(self, stream: Stream) -> StreamDataset:
        return StreamDataset(stream, epochs=self._epochs, functions=self._functions)


def _unshuffled(spec: DatasetSpec) -> Any:
    from dataclasses import replace

    return replace(spec.order, shuffle=False)
