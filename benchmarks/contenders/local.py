"""The same graph on the local disk: `tf.io.read_file` in a parallel map."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from benchmarks.contenders.graph import AUTOTUNE, batched, decoded
from benchmarks.job import Job
from benchmarks.measure import main


def dataset(job: Job, passes: int | None = 1) -> tf.data.Dataset:
    """As many passes in one; None is without end."""
    files = sorted(Path(job.folder).glob("*/*.jpg"))
    classes = sorted({file.parent.name for file in files})
    labels = [classes.index(file.parent.name) for file in files]
    pairs = tf.data.Dataset.from_tensor_slices(([str(file) for file in files], labels))
    shuffled = pairs.shuffle(len(files), seed=1).repeat(passes)
    return batched(shuffled.map(example, num_parallel_calls=AUTOTUNE))


def example(path: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return decoded(tf.io.read_file(path)), label


def open_batches(job: Job) -> tf.data.Dataset:
    return dataset(job, None)


if __name__ == "__main__":
    main(open_batches)
