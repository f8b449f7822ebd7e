"""
The end of the process: nothing waits past it.

Everything in `fetch` that waits, waits here or with a time limit. When the interpreter shuts
down, waiting calls fail at once instead of blocking the exit.
"""

from __future__ import annotations

import atexit
import os
import threading
import time

from tfstream.errors import TfstreamError
from tfstream.forks import Lock

_GRACE_SECONDS = 5.0
"""How long the exit waits for calls inside Python: none may return into a dead interpreter."""

_QUIET_SECONDS = 0.03
"""How long no call may come or be under way until the exit takes it that none will."""

_closing = threading.Event()
_lock = Lock()
_count = 0
_entered = 0


class ShuttingDownError(TfstreamError):
    """A read that came, or was waiting, while the interpreter shuts down."""


def pause(seconds: float) -> None:
    """
    Wait, unless the process ends first.

    Errors:
        ShuttingDownError: it does.
    """
    if _closing.wait(seconds):
        raise ShuttingDownError("the Python interpreter is shutting down")


def closing() -> bool:
    """Whether the interpreter shuts down."""
    return _closing.is_set()


class Inside:
    """A context that the exit waits for: code called by another library's threads."""

    def __enter__(self) -> None:
        global _count, _entered
        with _lock:
            _entered += 1
        pause(0)
        with _lock:
            _count += 1

    def __exit__(self, *_: object) -> None:
        global _count
        with _lock:
            _count -= 1


@atexit.register
def _close() -> None:
    _closing.set()
    if _entered:
        _wait_for_quiet()


def _wait_for_quiet() -> None:
    """
    Let calls return, and refuse those that come.

    A thread of TensorFlow that asks for the interpreter's lock after it is gone is ended by
    force, which ends the process (`terminate called`). So the last call must be well out of
    here, and those about to come in must have been refused, before the exit goes on.
    """
    end = time.monotonic() + _GRACE_SECONDS
    seen, since = _entered, time.monotonic()
    while time.monotonic() < min(end, since + _QUIET_SECONDS):
        time.sleep(0.005)
        if _count or seen != _entered:
            seen, since = _entered, time.monotonic()


def _after_fork() -> None:
    global _count, _entered
    _count = _entered = 0


os.register_at_fork(after_in_child=_after_fork)
