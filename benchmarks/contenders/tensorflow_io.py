"""tensorflow-io's `s3://` files in a parallel map, on TensorFlow 2.16."""

from __future__ import annotations

import sys

import tensorflow as tf
import tensorflow_io  # noqa: F401  registers s3://

from benchmarks.contenders.graph import AUTOTUNE, batched, decoded, with_threads
from benchmarks.contenders.variables import set_variables
from benchmarks.job import Job
from benchmarks.measure import main


def open_batches(job: Job) -> tf.data.Dataset:
    root = f"s3://{job.container}/{job.prefix}"
    folders = [name.rstrip("/") for name in tf.io.gfile.listdir(root)]
    paths = [
        f"{root}/{folder}/{name}"
        for folder in folders
        for name in tf.io.gfile.listdir(f"{root}/{folder}")
    ]
    images = (
        tf.data.Dataset.from_tensor_slices(paths)
        .repeat()
        .map(
            lambda path: decoded(tf.io.read_file(path)),
            num_parallel_calls=job.in_flight or AUTOTUNE,
        )
    )
    return with_threads(batched(images), job.in_flight)


if __name__ == "__main__":
    set_variables(Job.read(sys.argv[1]))
    main(open_batches)
