"""Tasks and workflows of flytekit, for the programs that the tests run."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import tensorflow as tf
from flytekit import LaunchPlan, map_task, task, workflow
from flytekit.deck import DeckField

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TFDataset


@dataclass
class Run:
    """A user's own parameters."""

    spec: DatasetSpec
    rate: float = 0.5


class Counts(NamedTuple):
    """One number for each way."""

    spec: int
    graph: int
    saved: int
    kept: int


@task
def choose(url: str, batch_size: int = 4) -> DatasetSpec:
    """A spec."""
    data = tfstream.from_url(url, image_size=(4, 4), batch_size=batch_size, verbose=False)
    return data.spec


@task
def both(one: DatasetSpec, other: DatasetSpec) -> list[DatasetSpec]:
    """For `map_task`."""
    return [one, other]


@task(cache=True, cache_version="1")
def cached(data: tf.data.Dataset) -> int:
    """Counted once for each spec."""
    found = count_of(data)
    print("counted", found)
    return found


@task
def opened(spec: DatasetSpec) -> tf.data.Dataset:
    """As it is: travels as its spec."""
    return tfstream.load(spec)


@task(enable_deck=True, deck_fields=(DeckField.INPUT, DeckField.OUTPUT))
def scaled(data: tf.data.Dataset) -> tf.data.Dataset:
    """With stages: travels as its graph."""
    return data.map(lambda images, labels: (images / 255.0, labels)).unbatch().batch(6)


@task
def saved(data: tf.data.Dataset) -> Annotated[tf.data.Dataset, TFDataset(mode="save")]:
    """Its elements travel."""
    return data


@task
def kept(data: tf.data.Dataset) -> Annotated[tf.data.Dataset, TFDataset(mode="snapshot")]:
    """Its elements and its graph travel."""
    return data.map(lambda images, labels: (images / 255.0, labels))


@task
def count(data: tf.data.Dataset) -> int:
    """How many examples."""
    return count_of(data)


@task
def counted(spec: DatasetSpec) -> int:
    """The same of a spec."""
    return count_of(tfstream.load(spec))


@task
def attributes(size: int, source: dict, names: list[str]) -> str:
    """What attribute access gives."""
    return f"{size} {source['name']} {names}"


@task
def kinds(
    many: list[DatasetSpec],
    named: dict[str, DatasetSpec],
    maybe: DatasetSpec | None,
    data: tf.data.Dataset | None,
    none: DatasetSpec | None = None,
) -> str:
    """Containers."""
    same = {each.digest for each in (*many, *named.values(), maybe)}
    return f"{len(same)} {type(data).__name__} {none}"


@task
def nested(spec: DatasetSpec) -> Run:
    """A spec in a dataclass."""
    return Run(spec)


@task
def from_nested(run: Run) -> int:
    """And out of it."""
    return count_of(tfstream.load(run.spec))


@task
def from_python(data: tf.data.Dataset) -> tf.data.Dataset:
    """What cannot travel."""
    return data.map(lambda images, labels: tf.py_function(lambda each: each, [images], tf.float32))


@workflow
def ways(url: str) -> Counts:
    """Every way in which a dataset travels."""
    spec = choose(url=url)
    data = opened(spec=spec)
    return Counts(
        count(data=spec),
        count(data=scaled(data=data)),
        count(data=saved(data=data)),
        count(data=kept(data=spec)),
    )


@workflow
def typed(url: str) -> tuple[str, str, int, int, list[int]]:
    """Every place where a spec may stand; a dataset feeds a spec, too."""
    spec = choose(url=url)
    return (
        attributes(size=spec.batch_size, source=spec.source, names=spec.class_names),
        kinds(many=[spec, spec], named={"a": spec}, maybe=spec, data=spec),
        from_nested(run=nested(spec=spec)),
        counted(spec=opened(spec=spec)),
        map_task(counted)(spec=both(one=spec, other=spec)),
    )


@workflow
def cached_twice(url: str) -> tuple[int, int]:
    """Of one commit, with two batch sizes."""
    return cached(data=choose(url=url)), cached(data=choose(url=url, batch_size=3))


@workflow
def given(spec: DatasetSpec) -> int:
    """From the command line."""
    return count(data=spec)


@workflow
def refused(url: str) -> int:
    """Fails."""
    return count(data=from_python(data=choose(url=url)))


def count_of(data):
    """How many labels there are in an epoch."""
    return sum(int(labels.shape[0]) for _, labels in data)


SPEC = DatasetSpec.from_json(
    '{"tfstream": 1, "decoder": {"name": "image"}, "source": {"name": "local", "root": "photos"}}'
)
plan = LaunchPlan.get_or_create(given, "with_a_default", default_inputs={"spec": SPEC})
