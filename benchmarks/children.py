"""Run one contender in a process of its own and read the line of JSON that it prints."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.job import Job
from benchmarks.paths import PROJECT_ROOT, STATE
from servers.process import scrubbed

LIMIT = 300  # seconds that one process may take beyond those that its job says
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONWARNINGS": "ignore", "KERAS_BACKEND": "tensorflow"}


class Failed(Exception):
    """A process that ended without a result; ends with the last line of what it said."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """
    A module to run.

    Attributes:
        name: For its files in the state folder.
        module: Such as `benchmarks.contenders.local`.
        python: Its interpreter.
        arguments: For it, after the job's file.
        cores: Where it may run; None is everywhere.
    """

    name: str
    module: str
    python: Path
    arguments: tuple[str, ...] = ()
    cores: frozenset[int] | None = None

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Its result; `job` gets a fresh scratch folder, and stays on disk to run it by hand."""
        folder = STATE / "runs" / self.name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "home").mkdir(parents=True)
        file = folder / "job.json"
        Job(**job, scratch=str(folder)).write(file)
        with (folder / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [str(self.python), "-m", self.module, str(file), *self.arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=folder,
                env=_environment(folder / "home"),
                start_new_session=True,
                preexec_fn=self._pin,
            )
            try:
                output, _ = process.communicate(timeout=LIMIT + job["seconds"])
            except subprocess.TimeoutExpired as error:
                raise Failed(f"no result after {error.timeout:.0f} s") from None
            finally:
                _end(process)
        if process.returncode != 0:
            raise Failed(f"{_last_line(folder / 'errors.txt')} (ended with {process.returncode})")
        return dict(json.loads(output.splitlines()[-1]))

    def _pin(self) -> None:
        if self.cores:
            os.sched_setaffinity(0, self.cores)


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the user's own servers, keys and files."""
    kept = {name: text for name, text in scrubbed(os.environ).items() if name != "PYTHONHOME"}
    return kept | QUIET | {"HOME": str(home), "PYTHONPATH": str(PROJECT_ROOT)}


def _end(process: subprocess.Popen[str]) -> None:
    """Leave none of its workers behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(file: Path) -> str:
    lines = [line.strip() for line in file.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")
