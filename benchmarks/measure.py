"""
The clock inside a contender's process. Imports nothing that a peer's environment may lack.

A contender is a function from a `Job` to an iterable of batches, which is iterated again and
again until the job's seconds are over. A pass's first batch starts the clock and its last one
stops it, so what a new pass costs to get going is in `cpu_seconds`, but not in the rate.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from benchmarks.job import SIZE, Job, Result
from benchmarks.processes import cpu_seconds, memory_mb

Open = Callable[[Job], Iterable[Any]]


def main(open_batches: Open) -> None:
    """Run the job whose file is the first argument; print the result as a line of JSON."""
    result = measured(Job.read(sys.argv[1]), open_batches)
    print(json.dumps(asdict(result)), flush=True)
    os._exit(0)  # some libraries crash or wait in their clean-up, which nobody asked about


def measured(job: Job, open_batches: Open) -> Result:
    """Open and read until the job's seconds are over."""
    me = os.getpid()
    before = memory_mb(me)
    start = time.perf_counter()
    batches = open_batches(job)
    opened = time.perf_counter()
    first, first_at, cpu_before = None, 0.0, 0.0
    images = cpu_images = passes = 0
    steady = 0.0
    while steady < job.seconds:
        passes += 1
        began, last = time.perf_counter(), None
        stream = iter(batches)  # kept until all is measured, since its workers count too
        for batch in stream:
            now = time.perf_counter()
            count = rows(batch)
            if first is None:
                first, first_at, cpu_before = now - began, time.time(), cpu_seconds(me)
            else:
                cpu_images += count
            if last is not None:
                images += count
                steady += now - last
            last = now
            if steady >= job.seconds:
                break
        if last is None:
            raise RuntimeError("not one batch")
    assert first is not None
    return Result(
        open_seconds=opened - start,
        first_seconds=first,
        images=images,
        steady_seconds=steady,
        cpu_images=cpu_images,
        cpu_seconds=cpu_seconds(me) - cpu_before,
        memory_mb=memory_mb(me, "VmHWM") - before,
        passes=passes,
        first_at=first_at,
    )


def rows(batch: Any) -> int:
    """How many images (or undecoded objects) a batch holds; refuses any other shape."""
    first = batch[0] if isinstance(batch, (tuple, list)) else batch
    shape = tuple(first.shape)
    if len(shape) > 1 and shape[1:] not in ((SIZE, SIZE, 3), (3, SIZE, SIZE)):
        raise RuntimeError(f"a batch of shape {shape}")
    return int(shape[0])
