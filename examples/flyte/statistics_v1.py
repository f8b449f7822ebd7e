"""
flytekit 1.16: mean and standard deviation of every colour, each part on a machine of its own.

```
pyflyte run examples/flyte/statistics_v1.py wf --url lakefs://photos/main/train/** --machines 8
```

Each task gets a spec of a few hundred bytes and streams its own part of the pictures. What comes
back are three numbers for each colour; one task adds them up.
"""

from dataclasses import dataclass

import tensorflow as tf
from flytekit import map_task, task, workflow

import tfstream
from tfstream import DatasetSpec


@dataclass
class Sums:
    """Of the values of each colour in a part: enough to add parts up exactly."""

    pixels: int
    values: list[float]
    squares: list[float]


@dataclass
class Statistics:
    """Of each colour, over all pictures."""

    mean: list[float]
    deviation: list[float]


@task
def choose(url: str) -> DatasetSpec:
    """Pins the branch to its commit of now: all machines read the same pictures."""
    return tfstream.from_url(url, image_size=(32, 32), batch_size=8, verbose=False).spec


@task
def parts(spec: DatasetSpec, machines: int) -> list[DatasetSpec]:
    """One spec for each machine: together they have every picture once."""
    return [
        tfstream.load(spec, num_shards=machines, shard_index=index).spec
        for index in range(machines)
    ]


@task(cache=True, cache_version="1")
def summed(part: tf.data.Dataset) -> Sums:
    """Runs on many machines, once for each commit: it is fed by a spec."""
    pixels, values, squares = 0, tf.zeros([3], tf.float64), tf.zeros([3], tf.float64)
    for images, _ in part:
        rows = tf.cast(tf.reshape(images, [-1, 3]), tf.float64) / 255
        pixels += len(rows)
        values += tf.reduce_sum(rows, axis=0)
        squares += tf.reduce_sum(rows**2, axis=0)
    return Sums(pixels, values.numpy().tolist(), squares.numpy().tolist())


@task
def added(sums: list[Sums]) -> Statistics:
    """One task for all."""
    pixels = sum(part.pixels for part in sums)
    mean = tf.add_n([tf.constant(part.values, tf.float64) for part in sums]) / pixels
    squares = tf.add_n([tf.constant(part.squares, tf.float64) for part in sums]) / pixels
    deviation = tf.sqrt(squares - mean**2)
    print("mean", mean.numpy().round(6).tolist(), "deviation", deviation.numpy().round(6).tolist())
    return Statistics(mean.numpy().tolist(), deviation.numpy().tolist())


@workflow
def wf(url: str, machines: int = 2) -> Statistics:
    """The whole."""
    return added(sums=map_task(summed)(part=parts(spec=choose(url=url), machines=machines)))
