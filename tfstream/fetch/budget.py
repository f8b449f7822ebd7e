"""The process's byte budget: what may be in flight, over all datasets."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from tfstream.fetch.lifetime import pause

_TURN_SECONDS = 0.1
"""How often a waiting call looks whether the process ends; it is woken when it is its turn."""


class Budget:
    """
    Bytes that calls reserve before they read and give back when they have handed them over.

    First come, first served, so that a large call is not starved by small ones. A call that
    is larger than all of it runs alone.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._used = 0
        self._kept = 0
        self._lock = threading.RLock()  # a collected cache gives back in the middle of anything
        self._waiting: deque[threading.Event] = deque()

    @property
    def used(self) -> int:
        """Bytes reserved now."""
        return self._used

    @property
    def kept(self) -> int:
        """Bytes that stay."""
        return self._kept

    @property
    def total(self) -> int:
        """Bytes that may be reserved together."""
        return self._total

    def grow(self, total: int) -> None:
        """Allow at least `total` bytes: the largest wish of any dataset counts."""
        with self._lock:
            self._total = max(self._total, total)
            self._wake()

    def keep(self, size: int) -> None:
        """Bytes that stay (or, negative, go): unpacked shards. They shrink what is left."""
        with self._lock:
            self._kept += size
            self._wake()

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Hold `size` bytes, waiting for them first."""
        self._acquire(size)
        try:
            yield
        finally:
            with self._lock:
                self._used -= size
                self._wake()

    def _acquire(self, size: int) -> None:
        turn = threading.Event()
        with self._lock:
            if not self._waiting and self._fits(size):
                self._used += size
                return
            self._waiting.append(turn)
        try:
            while True:
                with self._lock:
                    if self._waiting[0] is turn and self._fits(size):
                        self._used += size
                        return
                    turn.clear()
                if not turn.wait(_TURN_SECONDS):
                    pause(0)
        finally:
            with self._lock:
                self._waiting.remove(turn)
                self._wake()

    def _fits(self, size: int) -> bool:
        return self._used == 0 or self._used + size <= self._total - self._kept

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].set()


_budget = Budget(1)


def process_budget() -> Budget:
    """The one budget of this process."""
    return _budget


def _after_fork() -> None:
    """Nothing is in flight in the child; what is unpacked is there too."""
    global _budget
    kept = _budget.kept
    _budget = Budget(_budget.total)
    _budget.keep(kept)


os.register_at_fork(after_in_child=_after_fork)
