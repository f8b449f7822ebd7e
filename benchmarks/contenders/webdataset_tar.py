"""WebDataset: tar shards through curl, two worker processes; decoding with Pillow."""

from __future__ import annotations

import shlex

import numpy as np
import webdataset

from benchmarks.contenders.pillow import decoded
from benchmarks.job import BATCH, Job
from benchmarks.measure import main

WORKERS = 2
CURL = "curl --silent --fail --aws-sigv4 aws:amz:us-east-1:s3"
BODY = "--header 'x-amz-content-sha256: UNSIGNED-PAYLOAD'"  # not every curl adds it by itself


def open_batches(job: Job) -> webdataset.WebLoader:
    urls = f"{job.endpoint}/{job.container}/tar/{job.prefix}-{{000000..000019}}.tar"
    keys = shlex.quote(f"{job.access_key_id}:{job.secret_access_key}")
    pipe = f"pipe:{CURL} {BODY} --user {keys} {urls}"
    shards = webdataset.WebDataset(pipe, shardshuffle=False, empty_check=False)
    images = shards.repeat().to_tuple("jpg").map_tuple(decoded).batched(BATCH, collation_fn=stacked)
    return webdataset.WebLoader(images, batch_size=None, num_workers=WORKERS)


def stacked(rows: list[tuple[np.ndarray]]) -> np.ndarray:
    return np.stack([row[0] for row in rows])


if __name__ == "__main__":
    main(open_batches)
