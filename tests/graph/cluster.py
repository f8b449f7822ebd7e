"""
A tf.data service of real processes, over a bucket with numbered pictures.

```python
with Cluster() as cluster:
    cluster.worker(store)                       # `python -m tfstream worker`, with its keys
    numbers_of(tfstream.distribute(data, cluster.url))
```
"""

from __future__ import annotations

import io
import os
import re
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import tfstream
from servers.process import scrubbed
from tfstream.testing.proxy import FaultProxy

ROOT = Path(__file__).parents[2]
COUNT, BATCH, CHUNK = 160, 4, 16
"""Pictures; how many a batch and a call of the Python op have: ten chunks, of four batches."""
START_SECONDS = 60.0

Batches = list[list[int]]


class Store:
    """A bucket, reached through a proxy that counts who reads what."""

    def __init__(self, server: Any, bucket: str) -> None:
        self.proxy = FaultProxy(server.endpoint)
        self.bucket = bucket
        self.environment = {
            "AWS_ENDPOINT_URL": self.proxy.endpoint,
            "AWS_ACCESS_KEY_ID": server.access_key_id,
            "AWS_SECRET_ACCESS_KEY": server.secret_access_key,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def __enter__(self) -> Store:
        self.proxy.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.proxy.close()

    @property
    def read(self) -> list[int]:
        """The numbers of the pictures that were read through it, each time one was."""
        found = (re.search(r"/(\d+)\.png", request.target) for request in self.proxy.requests)
        return [int(match[1]) for match in found if match]


def fill(server: Any) -> str:
    """A new bucket with `COUNT` pictures in two folders; all pixels of one are its number."""
    bucket = f"numbered-{uuid.uuid4().hex[:12]}"
    server.create_bucket(bucket)
    for number in range(COUNT):
        file = io.BytesIO()
        Image.new("L", (4, 4), number).save(file, "PNG")
        server.upload(bucket, f"{number * 2 // COUNT}/{number:03}.png", file.getvalue())
    return bucket


def data_of(store: Store, **arguments: Any) -> tfstream.StreamDataset:
    """The bucket's pictures in batches, two calls of the op at a time; the environment's server."""
    options = tfstream.ReadOptions(max_in_flight=CHUNK)
    given = {"image_size": (4, 4), "color_mode": "grayscale", "labels": None, "verbose": False}
    return tfstream.from_s3(
        store.bucket, batch_size=BATCH, options=options, **{**given, **arguments}
    )


def batches_of(dataset: Iterable[Any]) -> Batches:
    """The numbers in each batch."""
    return [np.asarray(batch)[:, 0, 0, 0].astype(int).tolist() for batch in dataset]


def numbers_of(dataset: Iterable[Any]) -> list[int]:
    """The same, one after the other."""
    return [number for batch in batches_of(dataset) for number in batch]


class Process(subprocess.Popen):
    """A child whose stdout is text; gone, with its pipe, when it is left."""

    def line(self) -> str:
        """The next line, in bounded time."""
        assert select.select([self.stdout], [], [], START_SECONDS)[0], "said nothing in time"
        return self.stdout.readline()

    def ended(self, number: int) -> int:
        """Send a signal; the exit code."""
        self.send_signal(number)
        return self.wait(timeout=30)

    def close(self) -> None:
        """Kill it, if it still runs."""
        self.kill()
        self.wait()
        self.stdout.close()


def start(command: Sequence[object], environment: dict[str, str] | None = None) -> Process:
    """A Python program of its own, with the variables of nobody."""
    return Process(
        [sys.executable, *map(str, command)],
        env={**scrubbed(os.environ), "PYTHONPATH": str(ROOT), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=None,
        text=True,
    )


class Cluster:
    """A dispatcher and workers, which end with it."""

    def __init__(self, *options: object) -> None:
        self.processes = [start(["-m", "tfstream", "dispatcher", "--port", 0, *options])]
        found = re.search(r"grpc://\S+:(\d+)", self.processes[0].line())
        assert found, "the dispatcher did not start"
        self.url = f"grpc://127.0.0.1:{found[1]}"

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.close()

    def worker(
        self, store: Store, *options: object, program: Sequence[object] = ("-m", "tfstream")
    ) -> Process:
        """One more worker, which reads through `store`; another program that is one."""
        command = [*program, "worker", "--dispatcher", self.url, *options]
        process = start(command, store.environment)
        self.processes.append(process)
        return process

    def stop_dispatcher(self) -> None:
        """As a crash would."""
        self.processes[0].ended(signal.SIGKILL)
