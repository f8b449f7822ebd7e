"""`py_function` + s3fs or lakefs-spec in a parallel map; the decoding in the graph."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.contenders import filesystems
from benchmarks.contenders.graph import AUTOTUNE, batched, decoded, with_threads
from benchmarks.job import Job
from benchmarks.measure import main


def open_batches(job: Job) -> tf.data.Dataset:
    filesystem, paths = filesystems.opened(job)

    def image(path: tf.Tensor) -> tf.Tensor:
        data = tf.py_function(lambda p: filesystem.cat_file(p.numpy().decode()), [path], tf.string)
        return decoded(tf.ensure_shape(data, ()))

    calls = job.in_flight or AUTOTUNE
    images = tf.data.Dataset.from_tensor_slices(paths).repeat().map(image, num_parallel_calls=calls)
    return with_threads(batched(images), job.in_flight)


if __name__ == "__main__":
    main(open_batches)
