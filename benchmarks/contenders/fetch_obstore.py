"""The least that fetching takes: obstore's `get` in as many threads as requests in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle, islice

import numpy as np
import obstore
from obstore.store import S3Store

from benchmarks.job import BATCH, Job
from benchmarks.measure import main

AHEAD = 8  # calls that wait for a thread, so that none is ever idle


class Objects:
    """All objects of the set over and over, in batches of bytes."""

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
        self._threads = job.in_flight
        self._pool = ThreadPoolExecutor(job.in_flight)

    def __iter__(self) -> Iterator[np.ndarray]:
        keys = cycle(self._keys)
        waiting: deque[Future[bytes]] = deque()
        batch: list[bytes] = []
        while True:
            for key in islice(keys, self._threads + AHEAD - len(waiting)):
                waiting.append(self._pool.submit(self._get, key))
            batch.append(waiting.popleft().result())
            if len(batch) == BATCH:
                yield np.array(batch, object)
                batch = []

    def _get(self, key: str) -> bytes:
        return obstore.get(self._store, key).bytes().to_bytes()


if __name__ == "__main__":
    main(Objects)
