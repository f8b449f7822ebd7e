"""
Positions: how fast the order of records is, what entering it far in costs, what saving costs.

10,000,000 records and more, which are the same few photographs over and over.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import tensorflow as tf

import tfstream
from benchmarks.job import BATCH, SIZE, Job
from tfstream.fetch.columns import Objects, Texts
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.stream import Stream
from tfstream.graph.chunks import chunks_of
from tfstream.graph.order import records_of
from tfstream.graph.pipeline import chunk_of

RECORDS = 12_000_000
FAR = 10_000_000 // BATCH
TIMES = 5


def main() -> None:
    """Each a few times, in turn; medians."""
    job = Job.read(sys.argv[1])
    dataset = large(job)
    starts, entries = [], []
    for _ in range(TIMES):
        starts.append(_first_batch(dataset.at(step=0)))
        entries.append(_first_batch(dataset.at(step=FAR)))
    save_ms, saved_kb = _saving(dataset, Path(job.scratch))
    result = {
        "indices_per_second": _order(dataset.spec, job.seconds),
        "start_seconds": median(starts),
        "entered_seconds": median(entries),
        "save_ms": save_ms,
        "saved_kb": saved_kb,
    }
    print(json.dumps(result), flush=True)


def large(job: Job) -> tfstream.StreamDataset:
    """A dataset of so many records that the first photographs of the folder stand for."""
    small = tfstream.from_url(
        job.folder, image_size=(SIZE, SIZE), batch_size=BATCH, labels=None, verbose=False
    )
    stream = small._handle.stream
    objects = stream.manifest.objects
    sizes = np.tile(objects.sizes[:BATCH], RECORDS // BATCH)
    many = Objects(_repeated(objects.paths), sizes, _repeated(objects.tokens))
    spec = small.spec.replace(manifest=None, records=None)
    return tfstream.StreamDataset(Stream(spec, stream.reading, Manifest(many)))


def _repeated(texts: Texts) -> Texts:
    few, times = [texts.raw(row) for row in range(BATCH)], RECORDS // BATCH
    ends = np.tile(np.cumsum([len(each) for each in few]), times)
    ends += np.repeat(np.arange(times), BATCH) * sum(map(len, few))
    return Texts(b"".join(few) * times, ends)


def _first_batch(dataset: tfstream.StreamDataset) -> float:
    start = time.perf_counter()
    next(iter(dataset))
    return time.perf_counter() - start


def _order(spec: tfstream.DatasetSpec, seconds: float) -> float:
    """Record numbers a second, with nothing fetched."""
    chunks = chunks_of(spec, RECORDS, chunk_of(spec), None)
    rows = chunks.map(
        lambda epoch, positions: records_of(spec.order, RECORDS, epoch, positions),
        num_parallel_calls=2,
    )
    stream = iter(rows.batch(64).prefetch(2))
    next(stream)
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        count += int(tf.size(next(stream)))
    return count / (time.perf_counter() - start)


def _saving(dataset: tfstream.StreamDataset, folder: Path) -> tuple[float, float]:
    """Milliseconds and kilobytes of an iterator's checkpoint, in the middle of an epoch."""
    iterator, taken = iter(dataset.at(step=FAR)), []
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    for number in range(TIMES):
        next(iterator)
        start = time.perf_counter()
        saved = checkpoint.write(str(folder / f"saved-{number}"))
        taken.append(1000 * (time.perf_counter() - start))
    size = sum(file.stat().st_size for file in folder.glob(f"{Path(saved).name}.*"))
    return median(taken), size / 1024


if __name__ == "__main__":
    main()
