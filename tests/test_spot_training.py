"""The example of a training on spot machines does what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_example_ends_with_the_same_weights():
    """It kills itself in mid-epoch, goes on, and compares with a run that nobody killed."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.spot_training", "--demo"],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    assert "… killed" in done.stdout
    assert done.stdout.endswith("the same weights, bit for bit\n")
