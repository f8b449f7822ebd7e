"""The same graph on the local disk: `tf.io.read_file` in a parallel map."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from benchmarks.contenders.graph import AUTOTUNE, batched, decoded
from benchmarks.job import Job
from benchmarks.measure import main


def open_batches(job: Job) -> tf.data.Dataset:
    files = sorted(Path(job.folder).glob("*/*.jpg"))
    classes = sorted({file.parent.name for file in files})
    labels = [classes.index(file.parent.name) for file in files]
    pairs = tf.data.Dataset.from_tensor_slices(([str(file) for file in files], labels))
    shuffled = pairs.shuffle(len(files), seed=1)
    return batched(
        shuffled.map(
            lambda path, label: (decoded(tf.io.read_file(path)), label), num_parallel_calls=AUTOTUNE
        )
    )


if __name__ == "__main__":
    main(open_batches)
