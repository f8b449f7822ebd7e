"""Upload many small objects in a few seconds, and show how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

THREADS = 16  # hides the server's answer time; more only wait for the two cores


def upload(objects: Mapping[str, bytes], put: Callable[[str, bytes], None]) -> None:
    """Call `put(key, data)` for each object; the first error ends it."""
    start = time.perf_counter()
    live = sys.stdout.isatty()
    with ThreadPoolExecutor(THREADS) as pool:
        answers = pool.map(put, objects.keys(), objects.values())
        for done, _ in enumerate(answers, start=1):
            if live and (done % 50 == 0 or done == len(objects)):
                print(f"\r   upload:   {done:,} of {len(objects):,} objects", end="", flush=True)
    seconds = time.perf_counter() - start
    line = f"   upload:   {len(objects):,} objects in {seconds:.1f} s"
    print(f"\r{line:<60}" if live else line, flush=True)
