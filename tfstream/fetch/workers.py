"""
Threads that read: a fixed number for each dataset, started when first needed.

They are daemons, so they never hold up the exit. After a fork they are started again.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from tfstream.fetch.lifetime import pause

T = TypeVar("T")
_TURN_SECONDS = 0.1
"""How often a waiting call looks whether the process ends."""


class _Call(Generic[T]):
    """Several jobs whose results are wanted together."""

    def __init__(self, jobs: Sequence[Callable[[], T]]) -> None:
        self.jobs = jobs
        self.results: list[Any] = [None] * len(jobs)
        self.error: tuple[int, BaseException] | None = None
        self.done = threading.Event()
        self._left = len(jobs)
        self._lock = threading.Lock()

    def run(self, index: int) -> None:
        """Do one job, unless an earlier one failed already."""
        try:
            if self.error is None or index < self.error[0]:
                self.results[index] = self.jobs[index]()
        except BaseException as error:  # handed to the caller, whatever it is
            with self._lock:
                if self.error is None or index < self.error[0]:
                    self.error = (index, error)
        with self._lock:
            self._left -= 1
            if not self._left:
                self.done.set()


_Queue = SimpleQueue["tuple[_Call[Any], int] | None"]


class Workers:
    """`count` threads that run jobs."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._start_over()

    def run(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """
        All results, in order.

        Errors:
            whatever the first failing job in order raised, once all that started have ended.
        """
        if not jobs:
            return []
        call = _Call(jobs)
        self._ready(len(jobs))
        for index in range(len(jobs)):
            self._queue.put((call, index))
        while not call.done.wait(_TURN_SECONDS):
            pause(0)
        if call.error is not None:
            raise call.error[1]
        return call.results

    def _ready(self, wanted: int) -> None:
        if os.getpid() != self._pid:
            self._start_over()
        if self._started >= self._count:
            return
        with self._lock:
            for _ in range(min(wanted, self._count - self._started)):
                self._started += 1
                name = f"tfstream-read-{self._started}"
                threading.Thread(target=_work, args=(self._queue,), name=name, daemon=True).start()

    def _start_over(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._started = 0
        self._queue: _Queue = SimpleQueue()
        weakref.finalize(self, _stop, self._queue, self._count).atexit = False


def _work(queue: _Queue) -> None:
    while (item := queue.get()) is not None:
        call, index = item
        call.run(index)
        del call, item  # or the results live until the next job comes


def _stop(queue: _Queue, count: int) -> None:
    for _ in range(count):
        queue.put(None)
