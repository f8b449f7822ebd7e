"""
What a forked process has to make anew: locks that another thread held, and work that it did.

```python
class Counts:
    def __init__(self):
        self._renew()
        after_fork(self._renew)    # called in each child, if this object still lives
```
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable

_renewals: set[weakref.WeakMethod[Callable[[], None]]] = set()


def after_fork(method: Callable[[], None]) -> None:
    """Call a bound method in each child process, for as long as its object lives."""
    _renewals.add(weakref.WeakMethod(method, _renewals.discard))


class Lock:
    """A lock that is free in each child process, whoever held it in the parent."""

    def __init__(self) -> None:
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _renew_all() -> None:
    for renewal in list(_renewals):
        method = renewal()
        if method is not None:
            method()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_all)
