"""Strategies of tf.distribute: in one process, and in two that train together."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from cluster import COUNT, ROOT, Store, fill
from numbered import COUNT as PICTURES
from numbered import folder_of, streamed

import tfstream
from servers.process import scrubbed

PROGRAM = Path(__file__).with_name("strategy_worker.py")
EPOCHS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures."""
    return folder_of(tmp_path_factory.mktemp("strategies") / "numbers")


@pytest.fixture(scope="module")
def strategy() -> tf.distribute.Strategy:
    """Of one process."""
    return tf.distribute.MirroredStrategy(["CPU:0"])


def labels_of(strategy: tf.distribute.Strategy, distributed: Any) -> list[int]:
    """Of all its replicas, in order."""
    return [
        int(label)
        for _, labels in distributed
        for part in strategy.experimental_local_results(labels)
        for label in part
    ]


def test_a_mirrored_dataset(folder, strategy):
    """`experimental_distribute_dataset` gives the records of the dataset, in its order."""
    data = streamed(folder, shuffle=True).epochs(2)
    expected = [int(label) for _, labels in data for label in labels]
    assert expected == labels_of(strategy, strategy.experimental_distribute_dataset(data))


def test_a_dataset_from_a_function(folder, strategy):
    """Each input pipeline loads the spec, and takes its own shard."""
    spec = streamed(folder, shuffle=True).spec
    distributed = strategy.distribute_datasets_from_function(
        lambda context: tfstream.load(spec).shard(
            context.num_input_pipelines, context.input_pipeline_id
        )
    )
    assert list(range(PICTURES)) == sorted(labels_of(strategy, distributed))


def addresses(count: int) -> list[str]:
    """Of ports that are free now."""
    with ExitStack() as open_ports:
        ports = [open_ports.enter_context(socket.socket()) for _ in range(count)]
        for port in ports:
            port.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{port.getsockname()[1]}" for port in ports]


def start(store: Store, cluster: list[str], index: int) -> subprocess.Popen[str]:
    """Worker `index`, which reads through `store`."""
    task = {"cluster": {"worker": cluster}, "task": {"type": "worker", "index": index}}
    more = {"PYTHONPATH": str(ROOT), "TF_CONFIG": json.dumps(task)}
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), store.bucket],
        env={**scrubbed(os.environ), **store.environment, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_two_workers_train_together(s3_server):
    """
    Each record is trained on once an epoch by one of them, and read by that one alone.

    Both end with the same weight, and TensorFlow does not warn that it cannot share out.
    """
    bucket, cluster = fill(s3_server), addresses(2)
    with Store(s3_server, bucket) as one, Store(s3_server, bucket) as two:
        workers = [start(store, cluster, index) for index, store in enumerate((one, two))]
        try:
            said = [worker.communicate(timeout=100) for worker in workers]
        finally:
            for worker in workers:
                worker.kill()
        assert [0, 0] == [worker.returncode for worker in workers], said
        trained = [Counter(map(int, out.splitlines()[0].split())) for out, _ in said]
        assert dict.fromkeys(range(COUNT), EPOCHS) == trained[0] + trained[1]
        assert [trained[0], trained[1]] == [Counter(one.read), Counter(two.read)]
    weights = {out.splitlines()[1] for out, _ in said}
    assert len(weights) == 1
    assert not any("auto_shard" in err for _, err in said)  # the file that warns
