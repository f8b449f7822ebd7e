"""Google's Grain over obstore, in threads; decoding with Pillow."""

from __future__ import annotations

import grain
import numpy as np
import obstore
from obstore.store import S3Store

from benchmarks.contenders.pillow import decoded
from benchmarks.job import BATCH, Job
from benchmarks.measure import main


class Objects:
    """A random-access source as Grain asks for it: a length, and bytes by index."""

    def __init__(self, job: Job) -> None:
        self._store = S3Store(
            job.container,
            endpoint=job.endpoint,
            region="us-east-1",
            access_key_id=job.access_key_id,
            secret_access_key=job.secret_access_key,
            client_options={"allow_http": True},
        )
        pages = obstore.list(self._store, prefix=job.prefix)
        self._keys = [each["path"] for page in pages for each in page]

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, index: int) -> bytes:
        return obstore.get(self._store, self._keys[index]).bytes().to_bytes()


def open_batches(job: Job) -> grain.IterDataset[np.ndarray]:
    options = grain.ReadOptions(num_threads=job.in_flight, prefetch_buffer_size=2 * job.in_flight)
    images = grain.MapDataset.source(Objects(job)).shuffle(seed=1).repeat().map(decoded)
    return images.to_iter_dataset(options).batch(BATCH)


if __name__ == "__main__":
    main(open_batches)
