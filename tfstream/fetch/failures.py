"""
Records that cannot be decoded, where `on_error` says to go on without them.

```
bad records of a batch -> why each is bad -> named in `stats()` -> go on, or stop: too many
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder
from tfstream.errors import DecodeError, ShardError, TfstreamError
from tfstream.fetch.stream import Stream

_ENOUGH = 100
"""Records from which a fraction says something: before, one bad record may be one of two."""
_TOLD = 10
"""Records that a message names."""


class Tally(NamedTuple):
    """
    How an epoch is going, in one iteration.

    Fields:
        epoch: Its number.
        delivered: Records that came, good and bad.
        failed: The bad ones of them.
        nothing: No good record is left to go on with.
        whole: These are all records of the epoch.
    """

    epoch: int
    delivered: int
    failed: int
    nothing: bool
    whole: bool


def report(
    stream: Stream, records: Sequence[int], data: Sequence[bytes], tally: Tally, told: Sequence[str]
) -> list[str]:
    """
    Count and name the bad records of one batch.

    `told` are the first names of this epoch, as the call before gave them; so is the result.

    Errors:
        DecodeError: they are more than `max_errors`, or there is nothing else.
    """
    errors = [_reason(stream, *bad) for bad in zip(records, data, strict=True)]
    names = [f"{error.key}: {error.kind}" for error in errors]
    told = [*told, *names][:_TOLD]
    if too_many(stream.spec.max_errors, tally):
        limit = f"more than max_errors={stream.spec.max_errors}"
        what = f"{tally.failed:,} of {tally.delivered:,} records of epoch {tally.epoch}"
        raise _stop(stream, f"{what} cannot be decoded, {limit}", told, errors)
    if tally.nothing and _of_a_batch(stream):
        way = 'on_error="substitute" goes on with others'
        what = f"none of the {len(errors):,} records of a batch can be decoded ({way})"
        raise _stop(stream, what, names[:_TOLD], errors)
    if tally.nothing:
        raise _stop(stream, f"no record of epoch {tally.epoch} can be decoded", told, errors)
    return told


def too_many(limit: int | float | None, tally: Tally) -> bool:
    """Whether an epoch has more bad records than `max_errors` allows."""
    if limit is None:
        return False
    if isinstance(limit, int):
        return tally.failed > limit
    enough = tally.whole or tally.delivered >= _ENOUGH
    return enough and tally.failed > limit * tally.delivered


def _reason(stream: Stream, record: int, data: bytes) -> DecodeError:
    """The error that decoding this record gives."""
    decoder = stream.spec.decoder
    assert isinstance(decoder, ImageDecoder)
    path = stream.manifest.objects.paths[record]
    try:
        if not data:  # an archive's record that could not be unpacked
            data = stream.read(record)
        pillow.decode(data, decoder)
        if stream.manifest.partners is not None:
            path = stream.manifest.partners.paths[record]
            stream.mask(record)  # read again: only the image's bytes came through the graph
    except DecodeError as error:
        return stream.failed(path, error)
    except ShardError as error:
        return stream.failed(path, DecodeError(str(error), kind="broken record"))
    raise TfstreamError(f"{stream.url(record)}: could be decoded only when it was tried again")


def _of_a_batch(stream: Stream) -> bool:
    return stream.spec.on_error == "skip" and stream.spec.batch_size is not None


def _stop(
    stream: Stream, what: str, told: Sequence[str], errors: Sequence[DecodeError]
) -> DecodeError:
    source = stream.reading.source
    text = f"{source.url(source.pattern)}: {what}: {'; '.join(told)}"
    first = errors[0] if errors else DecodeError("")
    return DecodeError(text, path=first.path, key=first.key, kind=first.kind)
