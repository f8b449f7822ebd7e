"""`tfstream.from_url` of a folder on the local disk."""

from __future__ import annotations

import tensorflow  # noqa: F401  counted with the imports, as everybody's is

import tfstream
from benchmarks.job import BATCH, SIZE, Job
from benchmarks.measure import main


def dataset(job: Job) -> tfstream.StreamDataset:
    return tfstream.from_url(job.folder, image_size=(SIZE, SIZE), batch_size=BATCH, verbose=False)


def open_batches(job: Job) -> tfstream.StreamDataset:
    return dataset(job).epochs()


if __name__ == "__main__":
    main(open_batches)
