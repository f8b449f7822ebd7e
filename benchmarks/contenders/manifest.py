"""
A manifest of 1,000,000 keys: megabytes resident and seconds to load, in a fresh process.

Keys, sizes and tokens are like those of ImageNet in S3: 45 characters, 32 of etag.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.job import Job
from benchmarks.processes import memory_mb
from tfstream.fetch.columns import Objects
from tfstream.fetch.manifest import Manifest
from tfstream.sources.base import ObjectInfo

COUNT = 1_000_000


def made() -> Manifest:
    objects = [
        ObjectInfo(
            f"ILSVRC/train/n{number // 1000:08}/n{number // 1000:08}_{number:08}.JPEG",
            100_000 + number % 50_000,
            hashlib.md5(str(number).encode()).hexdigest(),
        )
        for number in range(COUNT)
    ]
    labels = np.arange(COUNT, dtype=np.int32) // 1000
    return Manifest(objects=Objects.of(objects), labels=labels)


def main() -> None:
    """Make and save it in another process, then load it here."""
    file = Path(Job.read(sys.argv[1]).scratch) / "manifest.npz"
    if len(sys.argv) > 2:
        with file.open("wb") as target:
            made().save(target)
        return
    command = [sys.executable, "-m", "benchmarks.contenders.manifest", sys.argv[1], "make"]
    subprocess.run(command, check=True)
    before = memory_mb(os.getpid())
    start = time.perf_counter()
    with file.open("rb") as source:
        manifest = Manifest.load(source)
    seconds = time.perf_counter() - start
    result = {
        "keys": len(manifest.objects),
        "load_seconds": seconds,
        "resident_mb": memory_mb(os.getpid()) - before,
        "peak_mb": memory_mb(os.getpid(), "VmHWM") - before,
        "file_mb": file.stat().st_size / 2**20,
    }
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
