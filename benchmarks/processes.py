"""What Linux tells about processes: their children, CPU seconds, memory, and cores."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
FIRST = 11  # utime, stime, cutime, cstime in /proc/PID/stat, counted after the name


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name; [] where the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def family(pid: int) -> list[int]:
    """This process and all that descend from it."""
    children = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found = [pid]
    for each in found:  # grows while it is walked
        found += children[each]
    return found


def cpu_seconds(pid: int) -> float:
    """User and system seconds of the family, of members that have ended too."""
    ticks = 0
    for each in family(pid):
        ticks += sum(int(field) for field in _stat(each)[FIRST : FIRST + 4])
    return ticks / TICKS


def memory_mb(pid: int, field: str = "VmRSS") -> float:
    """Resident megabytes of the family now, or at its members' peaks with `VmHWM`."""
    total = 0
    for each in family(pid):
        try:
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
    return total / 1024


def keep_on(pids: list[int], cores: set[int]) -> None:
    """Let every thread of these processes run on these cores only, as `taskset -a` does."""
    for pid in pids:
        try:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), cores)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended, so it disturbs nobody
