"""
`check`: every object of a listing read once, and decoded the way that training would.

```
records -> threads: bytes, within the process's budget -> header -> TensorFlow, else Pillow
        -> Outcome: how it was decoded, or the kind of what is wrong with it
```

A record is an image, or an image and its mask; or a shard and its labels, which are unpacked.
What comes out of it is thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Semaphore

from tfstream.decoders.base import Decoder
from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.errors import RetriesExhaustedError, ShardError, SourceError, SpecError
from tfstream.fetch.budget import process_budget
from tfstream.fetch.reading import Reading
from tfstream.fetch.shards import unpacked
from tfstream.fetch.unordered import unordered
from tfstream.graph.checking_images import CheckedImages
from tfstream.graph.outcome import UNREADABLE, Outcome, unreadable
from tfstream.labels.base import Labels
from tfstream.labels.images import ImageLabels
from tfstream.readers.base import Reader
from tfstream.sources.base import ObjectInfo

_IN_A_ROW = 100
"""So many objects one after the other that cannot be read are not bad: the server is down."""

Record = Sequence[ObjectInfo]


def check(
    records: Iterable[Record],
    reader: Reader,
    reading: Reading,
    decoder: Decoder,
    labels: Labels | None = None,
) -> Iterator[Outcome]:
    """
    An outcome for each object of each record, as they come.

    Errors:
        AuthenticationError: the credentials are not known any more.
        RetriesExhaustedError: the server is down.
        SpecError: a decoder that no dataset could use.
    """
    way = _way_of(reader, reading, decoder, labels)

    def outcomes(record: Record) -> list[Outcome]:
        with process_budget().reserved(sum(info.size for info in record)):
            return way(record)

    return _while_up(unordered(outcomes, records, threads=reading.options.max_in_flight))


def _way_of(
    reader: Reader, reading: Reading, decoder: Decoder, labels: Labels | None
) -> Callable[[Record], list[Outcome]]:
    if isinstance(decoder, ImageDecoder):
        mask_type = labels.dtype if isinstance(labels, ImageLabels) else ""
        return CheckedImages(reader, reading, decoder, mask_type)
    if isinstance(decoder, RawDecoder):
        return _Shards(reading)
    raise SpecError(f"neither an ImageDecoder nor a RawDecoder: {decoder!r}", where="$.decoder")


def _while_up(found: Iterator[list[Outcome]]) -> Iterator[Outcome]:
    """One after the other, unless nothing can be read any more."""
    silent = 0
    for outcomes in found:
        for outcome in outcomes:
            silent = silent + 1 if outcome.kind == UNREADABLE else 0
            yield outcome
            if silent == _IN_A_ROW:
                raise RetriesExhaustedError(
                    f"{silent} objects in a row could not be read, the last one: {outcome.error}",
                    path=outcome.key,
                )


class _Shards:
    """Unpacks a shard, and its labels if they have a shard of their own, in any thread."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._cores = Semaphore(os.cpu_count() or 1)  # unpacked bytes are not in the budget

    def __call__(self, record: Record) -> list[Outcome]:
        return [self._outcome(info) for info in record]

    def _outcome(self, info: ObjectInfo) -> Outcome:
        try:
            with self._cores:
                unpacked(self._reading, info)
        except (SourceError, ShardError) as error:
            return unreadable(info, error)
        return Outcome(info.path, info.size, "IDX", "raw")
