"""One request, tried again while another attempt may help."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from tfstream.errors import RetriesExhaustedError, TfstreamError
from tfstream.fetch.lifetime import ShuttingDownError, pause
from tfstream.fetch.stats import Counts
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError

T = TypeVar("T")


def retrying(
    call: Callable[[int], T],
    *,
    what: str,
    options: ReadOptions,
    counts: Counts,
    path: str | None = None,
) -> T:
    """
    `call(1)`, and while it raises `TransientError`, `call(2)` and so on.

    `what` begins the error's message, such as the object's URL.

    Errors:
        RetriesExhaustedError: the last attempt failed too.
        TfstreamError: whatever final error an attempt raised.
    """
    start = time.monotonic()
    for attempt in range(1, options.attempts + 1):
        counts.request(repeat=attempt > 1)
        try:
            return call(attempt)
        except TransientError as error:
            counts.error(error.kind, path)
            last = error
        except ShuttingDownError:
            raise
        except TfstreamError as error:
            counts.error(type(error).__name__, path)
            raise
        if attempt < options.attempts:
            pause(delay(attempt, last.retry_after, options))
    seconds = time.monotonic() - start
    raise RetriesExhaustedError(
        f"{what}: gave up after {options.attempts} attempts in {seconds:.1f} s; the last one: "
        f"{last}. ReadOptions(attempts=…, read_timeout=…) allow more",
        path=path,
        attempts=options.attempts,
        seconds=seconds,
    ) from last


def delay(attempt: int, retry_after: float | None, options: ReadOptions) -> float:
    """
    Seconds before the attempt after `attempt`.

    Doubled each time and jittered, so that many clients do not come back at once; at least
    what the server asked for; never more than `backoff_max`.
    """
    longest = options.backoff * 2.0 ** min(attempt - 1, 60)
    jittered = longest * random.uniform(0.5, 1.0)
    return min(max(jittered, retry_after or 0.0), options.backoff_max)
