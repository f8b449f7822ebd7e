"""A training whose process is killed, and which is run again: as if it had never been killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
ROOT = PROGRAM.parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(photos, tmp_path_factory):
    """Runs the program to its end, or to the signal that it sends itself; gives its output."""
    result = tmp_path_factory.mktemp("results") / "result.json"

    def run(checkpoint, at=None, number=signal.SIGKILL, code=0, **arguments):
        kill = at and {"at": at, "signal": number.name}
        given = {"photos": photos, "checkpoint": checkpoint, "result": result, "kill": kill}
        done = subprocess.run(
            [sys.executable, str(PROGRAM), json.dumps({**given, **arguments}, default=str)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert code == done.returncode, done.stderr[-3000:]
        return json.loads(result.read_text()) if code == 0 else done.stdout

    return run


@pytest.fixture(scope="module")
def expected(run):
    """What the training gives that nobody kills, and that saves nothing."""
    return run(None)


def newest(folder):
    """Epoch and step of the newest checkpoint; None without one."""
    names = sorted(path.name for path in folder.glob("*.npz"))
    return tuple(int(part) for part in names[-1][:-4].split("-")[1:4:2]) if names else None


KILLED = [
    ("step 3", None),  # before the first save
    ("save 2", (0, 4)),  # while step 8 was saved
    ("named 1", (0, 8)),
    ("validation 3", (0, 9)),
    ("step 4", (1, 0)),  # of which one was the last of epoch 0
    ("end 1", (3, 0)),  # all three epochs are over
]


def test_killed_at_every_kind_of_moment(run, expected, tmp_path):
    """
    SIGKILL in a step, while saving, just after, in validation and at the end, one after the
    other: the newest checkpoint is always whole, at most `save_every` steps are lost, and History,
    weights and optimizer are at last those of the run that nobody killed, bit for bit.
    """
    folder = tmp_path / "checkpoints"
    for moment, place in KILLED:
        run(folder, moment, code=-signal.SIGKILL)
        assert place == newest(folder), moment
    assert expected == run(folder)
    assert expected == run(folder), "a finished training gives its History again"
    assert [] == list(folder.glob(".*"))


def test_sigterm_saves_at_once(run, expected, tmp_path):
    """
    After SIGTERM the step that runs is the last, it is saved, and the exit code is what a shell
    says of SIGTERM; in a validation the checkpoint from one step before it is there already.
    """
    folder = tmp_path / "checkpoints"
    for moment, place in (("step 7", (0, 7)), ("validation 2", (0, 9)), ("step 11", (1, 9))):
        run(folder, moment, signal.SIGTERM, code=128 + signal.SIGTERM)
        assert place == newest(folder), moment
    assert expected == run(folder)
