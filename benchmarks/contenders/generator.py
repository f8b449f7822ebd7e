"""`from_generator` + s3fs or lakefs-spec + Pillow, one image at a time: what is written first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import numpy as np
import tensorflow as tf

from benchmarks.contenders import filesystems
from benchmarks.contenders.graph import batched
from benchmarks.contenders.pillow import decoded
from benchmarks.job import SIZE, Job
from benchmarks.measure import main


def open_batches(job: Job) -> tf.data.Dataset:
    filesystem, paths = filesystems.opened(job)

    def images() -> Iterator[np.ndarray]:
        for path in cycle(paths):
            yield decoded(filesystem.cat_file(path))

    signature = tf.TensorSpec((SIZE, SIZE, 3), tf.uint8)
    return batched(tf.data.Dataset.from_generator(images, output_signature=signature))


if __name__ == "__main__":
    main(open_batches)
