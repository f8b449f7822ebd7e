"""A process that is forked while other threads are busy."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfstream
from tfstream import forks

PACKAGE = Path(tfstream.__file__).parent

PROGRAM = """
import os, threading
from contextlib import ExitStack
from tfstream.fetch import handles, lifetime, shards
from tfstream.graph import op
from tfstream.sources.base import ObjectInfo
from tfstream.sources.local_times import Times

times = Times()
locks = [handles._lock, lifetime._lock, shards._caches_lock, op._raised_lock, times._lock]
held, leave = threading.Event(), threading.Event()

def hold():
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(lock)
        held.set()
        leave.wait()

thread = threading.Thread(target=hold)
thread.start()
assert held.wait(20)
child = os.fork()
if not child:
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(lock)
    times.remember([(ObjectInfo("a", 1, "1"), 1)])
    os._exit(0 if times.agree("a", 1) else 1)
assert os.waitpid(child, 0)[1] == 0
assert not locks[0]._lock.acquire(blocking=False)  # the parent's is still held
leave.set()
thread.join()
print("done")
"""


def test_a_lock_that_is_held():
    """What another thread held is free in the child, and the child works with it."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_no_lock_of_a_module_is_an_ordinary_one():
    """The locks of modules, which live as long as the process, are those that a fork renews."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign) and "threading." in ast.unparse(node.value)
        if "Lock()" in ast.unparse(node.value)
    ]
    assert [] == found


@pytest.mark.parametrize("lives", [True, False])
def test_what_lives_is_renewed(monkeypatch, lives):
    """An object that is gone is not called, nor remembered."""
    monkeypatch.setattr(forks, "_renewals", set())
    called = []

    class Thing:
        def renew(self):
            called.append(1)

    thing = Thing()
    forks.after_fork(thing.renew)
    if not lives:
        del thing
        gc.collect()
    forks._renew_all()
    assert (int(lives), int(lives)) == (len(called), len(forks._renewals))
