"""
SIGTERM, as spot machines, Kubernetes and Slurm announce the end: save first, then end.

```
SIGTERM -> the step that runs ends -> its checkpoint is saved -> the process ends with code 143
```
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_CODE = 128 + signal.SIGTERM
"""What a shell reports of a process that SIGTERM ended."""


class Preemption:
    """
    While it is entered, SIGTERM is noted instead of obeyed.

    Only Python's main thread may set handlers of signals, so elsewhere nothing changes; a
    SIGTERM that was ignored stays so. Where nothing is `enabled`, there is nothing to save first.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.asked = False
        self._enabled = enabled
        self._previous: Any = None

    def __enter__(self) -> Preemption:
        previous = signal.getsignal(signal.SIGTERM)
        main = threading.current_thread() is threading.main_thread()
        theirs = previous in (signal.SIG_IGN, None)  # None: a handler that is not Python's
        if self._enabled and main and not theirs:
            self._previous = previous
            signal.signal(signal.SIGTERM, self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGTERM, self._previous)
            self.obey()  # it may have come after the last step
            self._previous = None

    def obey(self) -> None:
        """
        If SIGTERM came: what the program would have done at once, its own handler or the end.

        The end is SystemExit, so that `finally` and `with` do their work. Where the program's
        own handler returns, training goes on.
        """
        if not self.asked:
            return
        self.asked = False
        if not callable(self._previous):
            raise SystemExit(_CODE)
        self._previous(signal.SIGTERM, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
