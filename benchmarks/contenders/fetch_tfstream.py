"""tfstream's own pipeline up to its Python op: order, scheduling, fetching, no decoding."""

from __future__ import annotations

from benchmarks.contenders import tfstream_s3
from benchmarks.job import Job
from benchmarks.measure import main
from tfstream.fetch.handles import Handle
from tfstream.graph import pipeline


def open_batches(job: Job) -> object:
    """The dataset of `tfstream_s3`, built without its decoding."""
    stream = tfstream_s3.open_batches(job)._handle.stream
    pipeline._decoded = lambda spec, address, dataset: dataset  # what the pipeline adds after it
    return Fetching(Handle(stream), stream)


class Fetching:
    """Keeps the handle alive while the dataset is iterated."""

    def __init__(self, handle: Handle, stream: object) -> None:
        self._handle = handle
        self._dataset = pipeline.build(
            stream.spec,
            stream.manifest.count,
            handle=handle.name,
            options=stream.reading.options,
        )

    def __iter__(self) -> object:
        return iter(self._dataset)


if __name__ == "__main__":
    main(open_batches)
