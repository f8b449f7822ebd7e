"""`Stats`: what a dataset has read so far in this process, as a frozen snapshot."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Stats:
    """
    Counts since the dataset was made, in this process alone.

    Attributes:
        objects: Objects read.
        bytes: Their bytes.
        requests: Requests for data, failed ones too.
        retries: Requests that were repeats.
        cache_hits: Objects that needed no request.
        errors: Failed attempts by kind, such as `{"503": 2, "timeout": 1}`.
        left_out: Listed objects that are not data, by reason.
        decode_paths: Records by how they were decoded, such as `{"jpeg": 700, "pillow": 13}`.
        waiting_seconds: Time that requests waited for their turn, summed over requests.
        reading_seconds: Time that requests took, summed over requests.
    """

    objects: int = 0
    bytes: int = 0
    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    decode_paths: Mapping[str, int] = field(default_factory=dict)
    waiting_seconds: float = 0.0
    reading_seconds: float = 0.0


class Counts:
    """The live numbers behind `Stats`: threads add, anyone takes a snapshot."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()
        self._waiting = self._reading = 0.0
        self._errors: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._decode_paths: Counter[str] = Counter()

    def read(self, *, size: int, seconds: float) -> None:
        """One object arrived, so many seconds after it was asked for."""
        with self._lock:
            self._numbers["objects"] += 1
            self._numbers["bytes"] += size
            self._reading += seconds

    def waited(self, seconds: float) -> None:
        """One object had to wait for its turn."""
        with self._lock:
            self._waiting += seconds

    def request(self, *, repeat: bool) -> None:
        """One request goes out."""
        with self._lock:
            self._numbers["requests"] += 1
            self._numbers["retries"] += repeat

    def hit(self) -> None:
        """One object needed no request."""
        with self._lock:
            self._numbers["cache_hits"] += 1

    def error(self, kind: str) -> None:
        """One attempt failed."""
        with self._lock:
            self._errors[kind] += 1

    def leave_out(self, reasons: Mapping[str, int]) -> None:
        """A listing had objects that are not data."""
        with self._lock:
            self._left_out.update(reasons)

    def decoded(self, paths: Mapping[str, int]) -> None:
        """Records were sent on one way of decoding."""
        with self._lock:
            self._decode_paths.update(paths)

    def snapshot(self) -> Stats:
        """The numbers now."""
        with self._lock:
            return Stats(
                objects=self._numbers["objects"],
                bytes=self._numbers["bytes"],
                requests=self._numbers["requests"],
                retries=self._numbers["retries"],
                cache_hits=self._numbers["cache_hits"],
                waiting_seconds=self._waiting,
                reading_seconds=self._reading,
                errors=dict(self._errors),
                left_out=dict(self._left_out),
                decode_paths=dict(self._decode_paths),
            )
