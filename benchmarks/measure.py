"""
The clock inside a contender's process. Imports nothing that a peer's environment may lack.

A contender is a function from a `Job` to an iterable of batches, without end where it can. The
clock starts with the batch that comes `WARM_UP` seconds after the first, when what was read
ahead of that is used up, and stops with a batch too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from benchmarks.job import SIZE, Job, Result
from benchmarks.processes import cpu_seconds, memory_mb

WARM_UP = 1.0
Open = Callable[[Job], Iterable[Any]]


def main(open_batches: Open) -> None:
    """Run the job whose file is the first argument; print the result as a line of JSON."""
    result = measured(Job.read(sys.argv[1]), open_batches)
    print(json.dumps(asdict(result)), flush=True)
    os._exit(0)  # some libraries crash or wait in their clean-up, which nobody asked about


def measured(job: Job, open_batches: Open) -> Result:
    """Open, and read until the job's seconds are over."""
    me = os.getpid()
    before = memory_mb(me)
    start = time.perf_counter()
    batches = open_batches(job)
    opened = time.perf_counter()
    stream = again_and_again(batches)
    next(stream)
    first, first_at = time.perf_counter(), time.time()
    since = now = first
    while now - first < WARM_UP:
        next(stream)
        since = now = time.perf_counter()
    images, cpu_before = 0, cpu_seconds(me)
    while now - since < job.seconds:
        images += rows(next(stream))
        now = time.perf_counter()
    return Result(
        open_seconds=opened - start,
        first_seconds=first - opened,
        first_at=first_at,
        images=images,
        seconds=now - since,
        cpu_seconds=cpu_seconds(me) - cpu_before,
        memory_mb=memory_mb(me, "VmHWM") - before,
    )


def again_and_again(batches: Iterable[Any]) -> Iterator[Any]:
    """Pass after pass, for those that end."""
    while True:
        empty = True
        for batch in batches:
            yield batch
            empty = False
        if empty:
            raise RuntimeError("not one batch")


def rows(batch: Any) -> int:
    """How many images (or undecoded objects) a batch holds; refuses any other shape."""
    first = batch[0] if isinstance(batch, (tuple, list)) else batch
    shape = tuple(first.shape)
    if len(shape) > 1 and shape[1:] not in ((SIZE, SIZE, 3), (3, SIZE, SIZE)):
        raise RuntimeError(f"a batch of shape {shape}")
    return int(shape[0])
