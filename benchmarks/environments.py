"""
The peers' own Python environments, made on demand under the state folder.

Each is one requirements file in `environments/`. The name `project` is the environment that
runs the benchmark. A stamp with the file's text says that an environment is complete, so an
interrupted or outdated one is made again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.paths import HERE, STATE

PROJECT = "project"
SYSTEM_PYTHON = "/usr/bin/python3"
ON_SYSTEM = {"webdataset": "torch"}
"""Environments that see the packages of the system's Python, and which of them they need."""
STAMP = "made-from.txt"
LARGE = {"litdata"}
"""Environments of gigabytes, made only where they are asked for."""
_failed: dict[str, str] = {}


class NotAvailableError(Exception):
    """Something that this machine cannot run, and why; the others run all the same."""


def python(name: str, *, large: bool = False) -> Path:
    """The interpreter of the environment `name`, which is made first where it is missing."""
    if name == PROJECT:
        return Path(sys.executable)
    folder = STATE / "environments" / name
    if not is_made(name):
        if name in LARGE and not large:
            raise NotAvailableError(f"its environment {name} is of gigabytes: ask for it (--torch)")
        if name in _failed:
            raise NotAvailableError(_failed[name])
        print(f"making the environment {name} (once; pip shows its progress)", flush=True)
        try:
            _make(name, folder)
        except NotAvailableError as error:
            _failed[name] = str(error)  # not again in every round
            raise
        (folder / STAMP).write_text(_requirements(name).read_text())
    return folder / "bin" / "python"


def is_made(name: str) -> bool:
    """Whether the environment is there, complete, and of today's requirements."""
    stamp = STATE / "environments" / name / STAMP
    return name == PROJECT or (
        stamp.exists() and stamp.read_text() == _requirements(name).read_text()
    )


def _make(name: str, folder: Path) -> None:
    base, options = sys.executable, []
    if name in ON_SYSTEM:
        base, options = SYSTEM_PYTHON, ["--system-site-packages"]
        _check_system(ON_SYSTEM[name])
    shutil.rmtree(folder, ignore_errors=True)
    venv = [base, "-m", "venv", "--without-pip", *options, str(folder)]
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install"]
    for command in venv, [*pip, "--requirement", str(_requirements(name))]:
        if subprocess.run(command).returncode != 0:
            raise NotAvailableError(f"the environment {name} could not be made (see above)")


def _check_system(package: str) -> None:
    """Whether the system's Python has the package."""
    test = subprocess.run([SYSTEM_PYTHON, "-c", f"import {package}"], stderr=subprocess.DEVNULL)
    if test.returncode != 0:
        raise NotAvailableError(f"it needs Debian's package python3-{package}, a CPU build")


def _requirements(name: str) -> Path:
    return HERE / "environments" / f"{name}.txt"
