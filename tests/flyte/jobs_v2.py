"""Tasks of flyte 2, for the programs that the tests run."""

from dataclasses import dataclass
from typing import Annotated

import flyte
import flyte.report
import tensorflow as tf

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TFDataset, log_dataset

env = flyte.TaskEnvironment(name="jobs")


@dataclass
class Run:
    """A user's own parameters."""

    spec: DatasetSpec
    rate: float = 0.5


@env.task
async def choose(url: str) -> DatasetSpec:
    """A spec."""
    return tfstream.from_url(url, image_size=(4, 4), batch_size=4, verbose=False).spec


@env.task
async def scaled(data: tf.data.Dataset) -> tf.data.Dataset:
    """With stages: travels as its graph."""
    return data.map(lambda images, labels: (images / 255.0, labels)).unbatch().batch(6)


@env.task
async def saved(data: tf.data.Dataset) -> Annotated[tf.data.Dataset, TFDataset(mode="save")]:
    """Its elements travel."""
    return data


@env.task
async def kept(data: tf.data.Dataset) -> Annotated[tf.data.Dataset, TFDataset(mode="snapshot")]:
    """Its elements and its graph travel."""
    return data.map(lambda images, labels: (images / 255.0, labels))


@env.task
async def count(data: tf.data.Dataset) -> int:
    """How many examples."""
    return sum(int(labels.shape[0]) for _, labels in data)


@env.task
async def counted(spec: DatasetSpec) -> int:
    """The same of a spec."""
    return await count(data=tfstream.load(spec))


@env.task(cache="auto")
async def cached(data: tf.data.Dataset) -> int:
    """Counted once for each spec."""
    found = await count(data=data)
    print("counted", found)
    return found


@env.task
async def cached_twice(url: str) -> list[int]:
    """Of one commit, the same spec twice and one with another batch size."""
    spec = await choose(url=url)
    specs = (spec, spec, spec.replace(batch_size=3))
    return [await cached(data=tfstream.load(each)) for each in specs]


@env.task
async def kinds(
    many: list[DatasetSpec],
    named: dict[str, DatasetSpec],
    maybe: DatasetSpec | None,
    data: tf.data.Dataset | None,
    run: Run,
) -> str:
    """Containers and a dataclass."""
    same = {each.digest for each in (*many, *named.values(), maybe, run.spec)}
    return f"{len(same)} {type(data).__name__}"


@env.task(report=True)
async def reported(data: tf.data.Dataset) -> str:
    """Has a report."""
    log_dataset(data)
    await flyte.report.flush.aio()
    return flyte.report.current_report().get_final_report()


@env.task
async def from_python(data: tf.data.Dataset) -> tf.data.Dataset:
    """What cannot travel."""
    return data.map(lambda images, labels: tf.py_function(lambda each: each, [images], tf.float32))


@env.task
async def refused(url: str) -> int:
    """Fails."""
    return await count(data=await from_python(data=tfstream.load(await choose(url=url))))


@env.task
async def main(url: str) -> str:
    """Every way in which a dataset travels."""
    spec = await choose(url=url)
    data = tfstream.load(spec)
    counts = [
        await count(data=data),
        await count(data=await scaled(data=data)),
        await count(data=await saved(data=data)),
        await count(data=await kept(data=data)),
        await counted(spec=spec),
    ]
    told = await kinds(many=[spec], named={"a": spec}, maybe=spec, data=data, run=Run(spec))
    report = await reported(data=data)
    return f"{counts} {told} reported {spec.digest in report}"
