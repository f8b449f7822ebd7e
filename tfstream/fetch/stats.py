"""
`Stats`: what a dataset has read so far in this process, as a frozen snapshot.

```
Counts   the live numbers; threads add
  -> Stats        a snapshot
       errors     kind -> FailedKeys: the first keys, and how often
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tfstream.forks import Lock

_KEYS_KEPT = 10
"""Of each kind of failure: enough to look into it. `total` has the number."""


class FailedKeys(tuple[str, ...]):
    """
    The first keys that failed in one way, each once; `total` is how often anything did.

    `total` may be more (a key that failed again, later keys) or have no keys beside it (a
    request that was for no object).
    """

    total: int

    def __new__(cls, keys: Iterable[str] = (), total: int | None = None) -> FailedKeys:
        """`total` is as many as there are keys, unless given."""
        found = super().__new__(cls, keys)
        found.total = len(found) if total is None else total
        return found

    def __repr__(self) -> str:
        return f"FailedKeys({super().__repr__()}, total={self.total})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FailedKeys) and other.total != self.total:
            return False
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


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
        errors: What failed, by kind: attempts to read (`503`, `timeout`), and each record that
            came and could not be decoded (`truncated JPEG`). Such as
            `{"503": FailedKeys(("a/x.jpg",), total=2)}`.
        left_out: Listed objects that are not data, by reason; `removed`: those that are in the
            commit of `since` alone.
        decode_paths: Records by how they were decoded, such as `{"jpeg": 700, "pillow": 13}`.
        waiting_seconds: Time that requests waited for their turn, summed over requests.
        reading_seconds: Time that requests took, summed over requests.
    """

    objects: int = 0
    bytes: int = 0
    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    errors: Mapping[str, FailedKeys] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    decode_paths: Mapping[str, int] = field(default_factory=dict)
    waiting_seconds: float = 0.0
    reading_seconds: float = 0.0


class Counts:
    """The live numbers behind `Stats`: threads add, anyone takes a snapshot."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers: Counter[str] = Counter()
        self._waiting = self._reading = 0.0
        self._errors: dict[str, FailedKeys] = {}
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

    def error(self, kind: str, key: str | None = None) -> bool:
        """
        One attempt failed, or one record: `key`, or what was listed, or nothing known.

        Gives whether it is the first of its kind.
        """
        with self._lock:
            known = self._errors.get(kind, FailedKeys())
            fresh = (key,) if key and key not in known else ()
            self._errors[kind] = FailedKeys([*known, *fresh][:_KEYS_KEPT], known.total + 1)
            return known.total == 0

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
