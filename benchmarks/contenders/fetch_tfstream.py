"""tfstream's own pipeline up to its Python op: order, scheduling, fetching, no decoding."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.contenders import tfstream_s3
from benchmarks.job import Job
from benchmarks.measure import main
from tfstream.graph import pipeline


def open_batches(job: Job) -> tf.data.Dataset:
    """The dataset of `tfstream_s3`, built without its decoding."""
    pipeline._decoded = lambda spec, address, fetched: fetched  # what the pipeline adds after it
    return tfstream_s3.open_batches(job)


if __name__ == "__main__":
    main(open_batches)
