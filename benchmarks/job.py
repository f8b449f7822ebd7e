"""What the benchmark tells a contender's process, and what that answers. Plain JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

BATCH = 32
SIZE = 224


@dataclass(frozen=True, kw_only=True)
class Job:
    """
    One measurement in one process.

    Attributes:
        folder: The photographs on this disk, in class folders.
        store: `disk`, `s3` or `lakefs`.
        endpoint: Of the server to read from; "" for the disk.
        container: Bucket or repository.
        prefix: Where the set is in it; for lakeFS below the ref.
        seconds: How long to read on after the warm-up.
        in_flight: Requests that may be under way at the same time, where one can say so.
        scratch: An empty folder for caches.
    """

    folder: str
    store: str
    endpoint: str
    access_key_id: str
    secret_access_key: str
    container: str
    prefix: str
    seconds: float
    in_flight: int
    scratch: str

    @classmethod
    def read(cls, path: str) -> Job:
        return cls(**json.loads(Path(path).read_text()))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))


@dataclass(frozen=True, kw_only=True)
class Result:
    """
    What one process measured.

    Attributes:
        open_seconds: Until there was something to iterate, the listing included.
        first_seconds: From there to the first batch.
        first_at: When that was, in seconds of the epoch, as servers log it.
        images: Delivered after the warm-up.
        seconds: That they took, new passes included.
        cpu_seconds: User and system seconds of the process and its workers meanwhile.
        memory_mb: Peak resident above what importing the libraries took.
    """

    open_seconds: float
    first_seconds: float
    first_at: float
    images: int
    seconds: float
    cpu_seconds: float
    memory_mb: float
