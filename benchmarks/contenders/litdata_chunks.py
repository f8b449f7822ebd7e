"""LitData's optimised chunks with its own loader; nothing left in its cache by a pass before."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import litdata
import numpy as np
import torch
from litdata.streaming import downloader

from benchmarks.contenders.pillow import decoded
from benchmarks.contenders.variables import set_variables
from benchmarks.job import BATCH, Job
from benchmarks.measure import main

WORKERS = 2
downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"  # it has no option for plain http


def image(data: bytes) -> torch.Tensor:
    return torch.from_numpy(np.array(decoded(data)))


def prepare() -> Job:
    """In another process, so that this one's memory and CPU are the reading's alone."""
    make = [sys.executable, "-m", "benchmarks.contenders.litdata_make", sys.argv[1]]
    subprocess.run(make, check=True, stdout=sys.stderr)  # only the result is on standard output
    job = Job.read(sys.argv[1])
    set_variables(job)
    return job


@dataclass(frozen=True)
class Passes:
    """Each iteration streams anew."""

    job: Job

    def __iter__(self) -> Iterator[torch.Tensor]:
        cache = Path(self.job.scratch) / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        url = f"s3://{self.job.container}/litdata/{self.job.prefix}"
        dataset = litdata.StreamingDataset(url, cache_dir=str(cache), transform=image)
        yield from litdata.StreamingDataLoader(dataset, batch_size=BATCH, num_workers=WORKERS)


if __name__ == "__main__":
    prepare()
    main(Passes)
