"""The whole graph: its size, what is in it, that it runs in another process and goes on there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from small_specs import spec_of

import tfstream
from tfstream.fetch.columns import Objects
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.reading import Reading
from tfstream.fetch.stats import Counts
from tfstream.fetch.stream import Stream
from tfstream.graph.pipeline import build
from tfstream.labels.directory import DirectoryLabels
from tfstream.sources.base import ObjectInfo
from tfstream.spec import Order, Position, Resize, Shard

ROOT = Path(__file__).parents[2]
SMALL = {"image_size": (8, 8), "batch_size": 5, "verbose": False}


def graph_of(dataset: tf.data.Dataset) -> bytes:
    """The dataset's serialised graph: what travels."""
    variant = tf.data.experimental.to_variant(dataset)
    data = tf.raw_ops.DatasetToGraphV2(input_dataset=variant, external_state_policy=1)
    return data.numpy()


def dataset_of(records: int) -> tfstream.StreamDataset:
    """A dataset of so many pictures that nobody has, with keys that nobody else has."""
    infos = [ObjectInfo(f"zebra/{n:07}.jpg", 1, f"token-{n}") for n in range(records)]
    manifest = Manifest(Objects.of(infos), labels=np.zeros(records, np.int32))
    spec = spec_of(
        manifest=manifest.digest,
        records=records,
        labels=DirectoryLabels(),
        label_mode="int",
        class_names=("zebra", "yak"),
        resize=Resize(image_size=(8, 8)),
        order=Order(validation_split=0.3, subset="training"),
    )
    options = tfstream.ReadOptions()
    store = spec.source.open({"secret_access_key": "hush-hush"}, options)
    return tfstream.StreamDataset(
        Stream(spec, Reading(spec.source, store, options, Counts()), manifest)
    )


def in_another_process(script: str, *arguments: object, **environment: str) -> tuple[str, str]:
    """What a fresh Python that imports only TensorFlow and tfstream prints, and its stderr."""
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr


def test_the_graph_does_not_grow_with_the_data():
    """The graphs of 10 and of 1,000,000 records differ by the digits of the count."""
    few, many = graph_of(dataset_of(10)), graph_of(dataset_of(1_000_000))
    assert abs(len(few) - len(many)) < 256
    assert len(many) < 100_000


def test_the_graph_has_no_keys_labels_or_secrets():
    """Only the spec's JSON and identity, and a handle's name."""
    graph = graph_of(dataset_of(10))
    for text in (b"0000003", b".jpg", b"token-", b"hush"):
        assert text not in graph
    assert b'"manifest":"sha256:' in graph


def test_the_only_python_has_fixed_tokens(digits):
    """No `PyFunc` or `EagerPyFunc`, which could not travel; three tokens of `PyFuncStateless`."""
    graph = tf.compat.v1.GraphDef.FromString(graph_of(tfstream.from_url(digits, **SMALL)))
    nodes = list(graph.node)
    for function in graph.library.function:
        nodes += function.node_def
    assert not {"PyFunc", "EagerPyFunc"} & {node.op for node in nodes}
    tokens = {node.attr["token"].s for node in nodes if node.op == "PyFuncStateless"}
    assert tokens == {b"tfstream.fetch", b"tfstream.decode", b"tfstream.differs"}


REBUILD = """
import sys
import tensorflow as tf
import tfstream.dataset
variant = tf.raw_ops.DatasetFromGraph(graph_def=open(sys.argv[1], "rb").read())
spec = (tf.TensorSpec([None, 8, 8, 3]), tf.TensorSpec([None], tf.int32))
for images, labels in tf.data.experimental.from_variant(variant, spec):
    print(float(tf.reduce_sum(images)), labels.numpy().tolist())
"""


@pytest.mark.slow
def test_the_graph_runs_in_another_process(digits, tmp_path):
    """A process that only imports tfstream gives the same elements, in the same order."""
    data = tfstream.from_url(digits, **SMALL)
    (tmp_path / "graph").write_bytes(graph_of(data))
    out, _ = in_another_process(REBUILD, tmp_path / "graph")
    expected = [
        f"{float(tf.reduce_sum(images))} {labels.numpy().tolist()}" for images, labels in data
    ]
    assert out.splitlines() == expected


RESUME = """
import sys
import tensorflow as tf
import tfstream
data = tfstream.load(open(sys.argv[1]).read())
iterator = iter(data.epochs(3))
tf.train.Checkpoint(iterator=iterator).read(sys.argv[2]).assert_consumed()
for images, labels in iterator:
    print(float(tf.reduce_sum(images)), labels.numpy().tolist())
"""


@pytest.mark.slow
def test_a_checkpoint_goes_on_in_another_process(digits, tmp_path):
    """Saved in mid-epoch: the very next element, then the following epochs; under 64 KB."""
    data = tfstream.from_url(digits, **SMALL)
    iterator = iter(data.epochs(3))
    for _ in range(4):  # an epoch has three batches
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "checkpoint"))
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 64 * 1024
    (tmp_path / "spec.json").write_text(data.spec.to_json())
    out, _ = in_another_process(RESUME, tmp_path / "spec.json", path)
    expected = [
        f"{float(tf.reduce_sum(images))} {labels.numpy().tolist()}" for images, labels in iterator
    ]
    assert len(expected) == 5
    assert out.splitlines() == expected


def test_a_checkpoint_without_numbered_epochs_goes_on_too(digits, tmp_path):
    """The rest of that epoch, exactly. It holds all buffers, so `epochs` is the better way."""
    data = tfstream.from_url(digits, **SMALL)
    list(data)  # so that the epoch is not the first one
    iterator = iter(data)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "checkpoint"))
    restored = iter(tfstream.from_url(digits, **SMALL))
    tf.train.Checkpoint(iterator=restored).read(path).assert_consumed()
    expected = [images.numpy().tobytes() for images, _ in iterator]
    assert len(expected) == 2
    assert [images.numpy().tobytes() for images, _ in restored] == expected


NOISE = """
import sys
import tensorflow as tf
import tfstream
data = tfstream.from_url(sys.argv[1], image_size=(8, 8), batch_size=2, verbose=False)
flipped = data.map(lambda x, y: (tf.image.random_flip_left_right(x), y))
print("begin", file=sys.stderr)
assert len(list(flipped)) == 6
iterator = iter(data.epochs(2))
next(iterator)
path = tf.train.Checkpoint(iterator=iterator).write(sys.argv[2])
tf.train.Checkpoint(iterator=iterator).read(path)
assert len(list(iterator)) == 11
"""


@pytest.mark.slow
def test_nothing_is_said_on_stderr(digits, tmp_path):
    """
    TensorFlow, as talkative as it is by default, warns about nothing.

    Not for each batch of a user's random augmentation, nor when an iterator is saved.
    """
    _, err = in_another_process(NOISE, digits, tmp_path / "path", TF_CPP_MIN_LOG_LEVEL="0")
    said = err.partition("begin\n")[2].splitlines()
    assert [line for line in said if not line.startswith("I0000")] == []


@pytest.mark.parametrize("batch_size", [None, 1, 5, 12, 40])
def test_the_length_is_known(digits, batch_size):
    """Exact, also with a last batch that is not full."""
    data = tfstream.from_url(digits, **{**SMALL, "batch_size": batch_size})
    assert len(data) == len(list(data))


@pytest.mark.parametrize("remainder", ["uneven", "drop", "pad"])
@pytest.mark.parametrize("epochs", [0, 2])
def test_workers_lengths_are_known(digits, remainder, epochs):
    """For every worker, whatever becomes of the last run."""
    for index in range(3):
        data = (
            tfstream.from_url(digits, **SMALL, num_shards=3, shard_index=index, remainder=remainder)
            if remainder != "drop"
            else tfstream.from_url(
                digits,
                **{**SMALL, "batch_size": 2},
                num_shards=3,
                shard_index=index,
                remainder=remainder,
            )
        )
        data = data.epochs(epochs) if epochs else data
        assert len(data) == len(list(data))


def test_a_position_past_the_end_is_an_error(digits):
    """It cannot be a position of this dataset."""
    with pytest.raises(ValueError, match="the position 12 is past the epoch's end, 12"):
        tfstream.from_url(digits, **SMALL, position=(0, 12))


def test_a_worker_without_records_is_an_error(digits):
    """An empty dataset is never given without an error."""
    with pytest.raises(ValueError, match="nothing to read: 12 records, Shard"):
        tfstream.from_url(digits, verbose=False, num_shards=2, shard_index=1, remainder="drop")


def test_entered_epochs_have_an_unknown_length(digits):
    """The first iteration is shorter than the next: no one number would be right."""
    data = tfstream.from_url(digits, **SMALL, position=(0, 6))
    assert int(data.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert [len(list(data)) for _ in range(2)] == [2, 3]


def test_epochs_without_end_are_infinite(digits):
    """`epochs(None)` has infinite cardinality."""
    data = tfstream.from_url(digits, **SMALL)
    assert int(data.epochs().cardinality()) == tf.data.INFINITE_CARDINALITY


def test_a_graph_can_be_built_without_a_store():
    """Building reads nothing: it takes the spec and a count."""
    spec = spec_of(
        manifest="sha256:0",
        resize=Resize(image_size=(4, 4)),
        start=Position(epoch=1),
        shard=Shard(num_shards=2, index=1),
    )
    data = build(spec, 100, handle="none", options=tfstream.ReadOptions())
    assert data.element_spec == tf.TensorSpec([None, 4, 4, 3])
    assert int(data.cardinality()) == 2
