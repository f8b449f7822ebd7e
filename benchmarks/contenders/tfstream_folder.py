"""`tfstream.from_url` of a folder on the local disk; `scaled` as argument: with scaled decoding."""

from __future__ import annotations

import sys

import tensorflow  # noqa: F401  counted with the imports, as everybody's is

import tfstream
from benchmarks.job import BATCH, SIZE, Job
from benchmarks.measure import main


def dataset(job: Job) -> tfstream.StreamDataset:
    scaled = "auto" if "scaled" in sys.argv else "off"
    return tfstream.from_url(
        job.folder,
        image_size=(SIZE, SIZE),
        batch_size=BATCH,
        decoder=tfstream.ImageDecoder(scaled=scaled),
        verbose=False,
    )


def open_batches(job: Job) -> tfstream.StreamDataset:
    return dataset(job).epochs()


if __name__ == "__main__":
    main(open_batches)
