"""LitData over single files, two worker processes."""

from __future__ import annotations

import litdata
import torch
from torch.utils.data import DataLoader, RandomSampler

from benchmarks.contenders.litdata_chunks import WORKERS, image, prepare
from benchmarks.job import BATCH, Job
from benchmarks.measure import main


def open_batches(job: Job) -> DataLoader[torch.Tensor]:
    dataset = litdata.StreamingRawDataset(
        f"s3://{job.container}/litdata-raw/{job.prefix}",
        cache_dir=f"{job.scratch}/cache",
        transform=image,
        max_concurrent_downloads=job.in_flight,
    )
    endless = RandomSampler(dataset, replacement=True, num_samples=10**6)
    return DataLoader(dataset, batch_size=BATCH, num_workers=WORKERS, sampler=endless)


if __name__ == "__main__":
    prepare()
    main(open_batches)
