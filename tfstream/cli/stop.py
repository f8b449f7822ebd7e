"""`Stop`: SIGTERM and Ctrl-C, as something that a command that serves waits for."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Stop:
    """
    From now on both signals end a `wait` instead of the process.

    Also where this process is the first of a container: without handlers the kernel keeps
    SIGTERM from it.

    Attributes:
        code: The exit code: 0, or 130 after Ctrl-C.
    """

    def __init__(self) -> None:
        self.code = 0
        self._stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def wait(self, seconds: float | None = None) -> bool:
        """Until a signal comes, or for so long; whether one has come."""
        return self._stopped.wait(seconds)

    def _stop(self, number: int, _: Any) -> None:
        self.code = 130 if number == signal.SIGINT else 0
        self._stopped.set()
