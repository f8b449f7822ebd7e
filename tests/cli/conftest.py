"""The program as users run it: in this process, or in one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ran import Ran
from scans import BAD, GOOD, fill

from tfstream.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    """No wish about colours comes from outside."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tfstream(capsys) -> Callable[..., Ran]:
    """`tfstream("check", folder)` in this process."""

    def run(*arguments):
        code = main([str(each) for each in arguments])
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def start(clean_environment, plain_terminal) -> Iterator[Callable[..., subprocess.Popen]]:
    """`start("check", folder, stdout=...)`: a process of its own; further variables in `more`."""
    # a shell's background job ignores Ctrl-C, and so would what it starts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def started(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, more=None):
        return subprocess.Popen(
            [sys.executable, "-m", "tfstream", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **(more or {})},
            stdout=stdout,
            stderr=stderr,
            text=True,
        )

    yield started
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def program(start) -> Callable[..., Ran]:
    """`program("check", folder)`: the same, when it has ended."""

    def run(*arguments, **variables):
        child = start(*arguments, more=variables)
        out, err = child.communicate(timeout=100)
        return Ran(child.returncode, out, err)

    return run


@pytest.fixture(scope="session")
def scans(tmp_path_factory) -> Path:
    """Good and bad files. Read only."""
    return fill(tmp_path_factory.mktemp("scans"), GOOD | BAD)


@pytest.fixture(scope="session")
def good(tmp_path_factory) -> Path:
    """Good files alone. Read only."""
    return fill(tmp_path_factory.mktemp("good"), GOOD)
