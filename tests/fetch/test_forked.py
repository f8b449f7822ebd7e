"""A fork at a bad moment: the child does not wait for what it has not got."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

PROGRAM = """
import os, sys, threading
from conftest import Filesystem
from test_shards import Shards

files = Filesystem()
shards = Shards(files, 1)
reading, leave, parent = threading.Event(), threading.Event(), os.getpid()

def meet(path):
    if os.getpid() == parent:
        reading.set()
        leave.wait()

files.meets = meet
thread = threading.Thread(target=shards.get, args=(3,))
thread.start()
assert reading.wait(20)
with shards.reading.counts._lock:
    child = os.fork()
    if not child:
        shards.get(3)
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
leave.set()
thread.join()
print("done")
"""


def test_a_shard_that_is_being_read():
    """The child reads it itself, though another thread of its parent counts something."""
    paths = (HERE.parents[1], HERE)
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
