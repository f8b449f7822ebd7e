"""
When each listed file had last changed: 16 bytes a file, so that a million take 16 MB.

A file is known by the hash of its path. It is sorted when it is first asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfstream.forks import Lock
from tfstream.sources.base import ObjectInfo

Numbers = np.ndarray[Any, np.dtype[np.int64]]


class Times:
    """Nanoseconds of last changes. All methods may be called from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._new = array("q")  # hash, time, hash, time, …
        self._sorted: tuple[Numbers, Numbers] = (np.empty(0, np.int64), np.empty(0, np.int64))

    def remember(self, found: Iterable[tuple[ObjectInfo, int]]) -> None:
        """Add listed files; of a path that was listed before, the new time counts."""
        with self._lock:
            for info, time in found:
                self._new.extend((hash(info.path), time))  # both, whenever the process is forked

    def agree(self, path: str, time: int) -> bool:
        """Whether the file is as listed; also where this process has not listed it."""
        with self._lock:
            if self._new:
                self._sort()
            paths, times = self._sorted
        wanted = hash(path)
        place = int(np.searchsorted(paths, wanted))
        return place == len(paths) or paths[place] != wanted or times[place] == time

    def _sort(self) -> None:
        new = np.frombuffer(self._new, np.int64).reshape(-1, 2).T
        paths, times = (np.concatenate(parts) for parts in zip(new, self._sorted, strict=True))
        # `unique` keeps the first of equal ones, so the newest must come first
        count = len(new[0])
        order = np.concatenate([np.arange(count)[::-1], np.arange(count, len(paths))])
        unique, first = np.unique(paths[order], return_index=True)
        self._sorted = (unique, times[order][first])
        self._new = array("q")
