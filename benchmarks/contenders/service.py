"""`tfstream.distribute`: two worker processes on this machine make the batches."""

from __future__ import annotations

import os
import subprocess
import sys

import tensorflow as tf

import tfstream
from benchmarks.contenders.tfstream_s3 import dataset
from benchmarks.job import Job
from benchmarks.measure import main

WORKERS = 2


def open_batches(job: Job) -> tf.data.Dataset:
    keys = {
        "AWS_ACCESS_KEY_ID": job.access_key_id,
        "AWS_SECRET_ACCESS_KEY": job.secret_access_key,
    }
    address = _started("dispatcher", "--port", "0", keys=keys).rpartition(" ")[2]
    for _ in range(WORKERS):
        _started("worker", "--dispatcher", address, keys=keys)
    return tfstream.distribute(dataset(job).epochs(), service=address)


def _started(*command: str, keys: dict[str, str]) -> str:
    """The first line that a program says; it ends with this process's session."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tfstream", *command],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | keys,
    )
    assert program.stdout is not None
    return program.stdout.readline().strip()


if __name__ == "__main__":
    main(open_batches)
