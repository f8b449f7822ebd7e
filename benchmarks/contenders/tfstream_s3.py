"""`tfstream.from_s3`."""

from __future__ import annotations

import tensorflow  # noqa: F401  counted with the imports, as everybody's is

import tfstream
from benchmarks.job import BATCH, SIZE, Job
from benchmarks.measure import main


def dataset(job: Job) -> tfstream.StreamDataset:
    return tfstream.from_s3(
        job.container,
        f"{job.prefix}/**",
        endpoint=job.endpoint,
        image_size=(SIZE, SIZE),
        batch_size=BATCH,
        credentials={
            "access_key_id": job.access_key_id,
            "secret_access_key": job.secret_access_key,
        },
        options=tfstream.ReadOptions(max_in_flight=job.in_flight),
        verbose=False,
    )


def open_batches(job: Job) -> tfstream.StreamDataset:
    return dataset(job).epochs()


if __name__ == "__main__":
    main(open_batches)
