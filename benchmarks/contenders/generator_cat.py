"""`from_generator` over bulk `cat` of s3fs, the decoding in the graph: the clever one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import tensorflow as tf

from benchmarks.contenders import filesystems
from benchmarks.contenders.graph import AUTOTUNE, batched, decoded
from benchmarks.job import Job
from benchmarks.measure import main

AT_ONCE = 256  # objects a call: the fastest of 128, 256 and 512


def open_batches(job: Job) -> tf.data.Dataset:
    filesystem, paths = filesystems.opened(job)

    def groups() -> Iterator[list[bytes]]:
        for start in cycle(range(0, len(paths), AT_ONCE)):
            yield list(filesystem.cat(paths[start : start + AT_ONCE]).values())

    signature = tf.TensorSpec((None,), tf.string)
    data = tf.data.Dataset.from_generator(groups, output_signature=signature).prefetch(2)
    return batched(data.unbatch().map(decoded, num_parallel_calls=AUTOTUNE))


if __name__ == "__main__":
    main(open_batches)
