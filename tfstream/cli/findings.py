"""`Findings`: what a check has found so far; as JSON, and as a list of keys."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfstream.graph.outcome import Outcome


class Findings:
    """
    Sums over all outcomes. Of good objects nothing is kept.

    Attributes:
        place: What is checked, pinned.
        objects: How many there are to be checked.
        checked: How many were.
        bytes: How many were read.
        seconds: From the first look to the last outcome.
        formats: Objects by format.
        decode_paths: Good objects by how they were decoded.
        kinds: What is wrong -> key -> the whole error.
    """

    def __init__(self, place: str, objects: int) -> None:
        self.place = place
        self.objects = objects
        self.checked = self.bytes = 0
        self.seconds = 0.0
        self.formats: Counter[str] = Counter()
        self.decode_paths: Counter[str] = Counter()
        self.kinds: dict[str, dict[str, str]] = {}
        self._start = time.monotonic()

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.checked += 1
        self.bytes += outcome.bytes
        self.seconds = time.monotonic() - self._start
        if outcome.format:
            self.formats[outcome.format] += 1
        if outcome.kind:
            self.kinds.setdefault(outcome.kind, {})[outcome.key] = outcome.error
        else:
            self.decode_paths[outcome.decoded_by] += 1

    @property
    def bad(self) -> int:
        """How many objects something is wrong with."""
        return sum(map(len, self.kinds.values()))

    @property
    def megabytes_per_second(self) -> float:
        """From the first look on."""
        return self.bytes / 1e6 / self.seconds if self.seconds else 0.0

    def by_kind(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Kinds and their errors by key: the most frequent kind first, keys in order."""
        for kind, errors in sorted(self.kinds.items(), key=lambda each: (-len(each[1]), each[0])):
            yield kind, dict(sorted(errors.items()))

    def to_json(self) -> str:
        """One document. Keys are exact: what is no letter is escaped."""
        plain: dict[str, Any] = {
            "place": self.place,
            "objects": self.objects,
            "checked": self.checked,
            "complete": self.checked == self.objects,
            "good": self.checked - self.bad,
            "bad": self.bad,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "formats": most_first(self.formats),
            "decode_paths": most_first(self.decode_paths),
            "kinds": dict(self.by_kind()),
        }
        return json.dumps(plain, indent=2)

    def bad_keys(self) -> bytes:
        """The bad objects' keys, one a line; see `line_of`."""
        keys = sorted(key for errors in self.kinds.values() for key in errors)
        return b"".join(line_of(key) for key in keys)


def most_first(counts: Counter[str]) -> dict[str, int]:
    """Counts by name, equal ones in the order of names."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def line_of(key: str) -> bytes:
    r"""
    A key as a line of a file: as it is, or as JSON where it has a line break.

    So a line that begins with `"` is JSON; a key that begins with one is, too.
    """
    if key.startswith('"') or "\n" in key or "\r" in key:
        key = json.dumps(key)
    return key.encode("utf-8", "surrogateescape") + b"\n"
