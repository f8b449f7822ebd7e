"""All runs as JSON, with what they were run on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Run
from benchmarks.data import photo_set

PACKAGES = ("tensorflow-cpu", "tensorflow", "keras", "obstore", "numpy")


def save(file: Path, runs: Sequence[Run]) -> None:
    """Write them, replacing the file only when the new one is complete."""
    sets = sorted({run.case.photos for run in runs})
    photographs = [asdict(photo_set(name)) | {"folder": None} for name in sets]
    data = {"machine": machine(), "photographs": photographs, "runs": [asdict(r) for r in runs]}
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(data, indent=1) + "\n")
    os.replace(part, file)


def load(file: Path) -> list[Run]:
    """The runs that `save` wrote."""
    runs = json.loads(file.read_text())["runs"]
    return [Run(**run | {"case": Case(**run["case"])}) for run in runs]


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    processors = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "processor": processors[0] if processors else platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
