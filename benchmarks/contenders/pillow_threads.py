"""The most that Pillow gives: read, decode, to RGB and resize in as many threads as cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.job import BATCH, SIZE, Job
from benchmarks.measure import main


class Pictures:
    """All pictures of the set over and over, in batches."""

    def __init__(self, job: Job) -> None:
        self._files = sorted(Path(job.folder).glob("*/*.jpg"))
        self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def __iter__(self) -> Iterator[np.ndarray]:
        files, waiting = cycle(self._files), deque[Future[np.ndarray]]()
        while True:
            for file in islice(files, 2 * BATCH - len(waiting)):
                waiting.append(self._pool.submit(picture, file))
            yield np.stack([waiting.popleft().result() for _ in range(BATCH)])


def picture(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        resized = image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return np.asarray(resized, np.float32)


if __name__ == "__main__":
    main(Pictures)
