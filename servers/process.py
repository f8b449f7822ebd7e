"""
Programs that this process starts and that never outlive it.

Each runs under `guard.py`, which ends it when this process ends, also by SIGKILL. A server
gets a free port of the loopback address; where another program was quicker to take that
port, it is started again on another.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import urllib3

GUARD = Path(__file__).with_name("guard.py")
PRIVATE = ("LAKEFS_", "LAKECTL_", "AWS_", "AZURE_", "GOOGLE_")
"""Prefixes of the variables that name a user's own servers and keys."""


class ServerUnavailable(Exception):
    """A server that could not be had or did not start; ends with its last lines of output."""


def is_private(name: str) -> bool:
    """Whether a variable names a user's own servers, keys or proxies."""
    return name.startswith(PRIVATE) or name.lower().endswith("_proxy")


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what names a user's own servers, keys and proxies."""
    return {name: value for name, value in environment.items() if not is_private(name)}


def isolate(home: Path) -> None:
    """Hide the user's servers, keys, proxies and home folder from the rest of this process."""
    home.mkdir(parents=True, exist_ok=True)
    for name in [name for name in os.environ if is_private(name)]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "AWS_EC2_METADATA_DISABLED": "true"}


class Child:
    """A program under a guard, with its output in the file `log`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        folder: Path | None = None,
    ) -> None:
        self.log = log
        with log.open("wb") as output:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", str(GUARD), *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,  # Ctrl-C in a terminal is for this process alone
            )

    def wait(self, seconds: float) -> int | None:
        """The exit code, or None if the program still runs after `seconds`."""
        try:
            return self._guard.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """End the program and wait for that. May be called twice."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        try:
            self._guard.wait(timeout=20)  # the guard kills after 10
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()

    def last_lines(self, count: int = 12) -> str:
        """The end of the program's output."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-count:]) or "  (no output)"


def start_server(
    name: str,
    command: Callable[[int], Sequence[str]],
    *,
    log: Path,
    ready: Callable[[str], bool],
    seconds: float = 60,
) -> tuple[Child, str]:
    """Start `command(port)`; return it and its endpoint once `ready(endpoint)`."""
    for _ in range(5):
        port = _free_port()
        endpoint = f"http://127.0.0.1:{port}"
        child = Child(command(port), log=log, environment=scrubbed(os.environ))
        try:
            problem = _wait_until_ready(child, endpoint, ready, seconds)
        except BaseException:
            child.stop()
            raise
        if problem is None:
            return child, endpoint
        child.stop()
        if "address already in use" not in child.last_lines().lower():
            break
    raise ServerUnavailable(f"{name} {problem}; the end of {log}:\n{child.last_lines()}")


def answers(url: str, status: int | None = None) -> bool:
    """Whether anything, or the given status, is answered there right now."""
    try:
        with urllib3.PoolManager(retries=False, timeout=2) as pool:
            answer = pool.request("GET", url)
    except urllib3.exceptions.HTTPError:
        return False
    return status is None or answer.status == status


def _wait_until_ready(
    child: Child, endpoint: str, ready: Callable[[str], bool], seconds: float
) -> str | None:
    """What went wrong, or None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code = child.wait(0.05)
        if code is not None:
            return f"ended at once with code {code}"
        if ready(endpoint):
            return None
    return f"did not answer within {seconds:g} s"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
