"""
Datasets in a forked process: refused at once, where they might wait for ever.

TensorFlow's threads stay behind in the process that started them. A child's own datasets wait
for such threads too, not always: measured, one in thirty on busy cores, inside TensorFlow. Who
destroys a copy of an iterator that the parent began waits for ever.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

from tfstream.errors import TfstreamError

_process: int | None = None
"""The one whose threads are at work."""
_begun: weakref.WeakSet[Any] = weakref.WeakSet()


def at_work() -> None:
    """
    TensorFlow is about to work for a dataset, in this process.

    Errors:
        TfstreamError: it already did in the process that this one is a fork of.
    """
    global _process
    if _process is None:
        _process = os.getpid()
    if _process != os.getpid():
        raise TfstreamError(
            "this process is a fork of one in which TensorFlow was already at work, and has none "
            "of its threads: it would wait for them. Start processes by "
            'multiprocessing.get_context("spawn"), or fork before the first dataset is made'
        )


def begun(iterator: Any) -> None:
    """Remember that its threads are of this process."""
    _begun.add(iterator)


def _after_fork() -> None:
    """Hold each for ever: not even the end of the process may destroy it."""
    for iterator in _begun:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(iterator))
    _begun.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
