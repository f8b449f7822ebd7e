"""
Run a command that ends when the caller does: `python guard.py COMMAND...`

The caller holds the other end of standard input. When that closes, because the caller
closed it, was killed or crashed, the whole process group of the command is ended. Stands
alone (standard library only), since it runs without the project on its path.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
GRACE = 10  # seconds between the request to end and the kill


def die_with_guard() -> None:
    """Have Linux kill the command should this guard itself be killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


ending = threading.Event()


def end(command: subprocess.Popen[bytes]) -> None:
    """Ask the process group to end, then kill what is left of it, this guard included."""
    ending.set()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    try:
        command.wait(timeout=GRACE)
    finally:
        os.killpg(0, signal.SIGKILL)


def follow(command: subprocess.Popen[bytes]) -> None:
    """End this guard when the command ends by itself, with its exit code."""
    code = command.wait()
    if not ending.is_set():
        os._exit(code & 0xFF)


def main() -> None:
    """Wait for the command in a thread, and for the caller in this one."""
    command = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        preexec_fn=die_with_guard if sys.platform == "linux" else None,
    )
    threading.Thread(target=follow, args=(command,), daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: end(command))
    while os.read(0, 4096):
        pass
    end(command)


if __name__ == "__main__":
    main()
