"""`TrainingCheckpoint` in one process: its file, its place in the data, what it refuses."""

from __future__ import annotations

import json
import zipfile

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfstream
from tfstream.errors import CheckpointError, SpecError
from tfstream.flyte import TrainingCheckpoint
from tfstream.flyte.checkpoint_file import read, write

pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
"""Keras' own, with NumPy 2.4."""

BARE = """
import sys
from pathlib import Path
from tfstream.flyte.checkpoint_file import read
found = read(Path("{file}"))
print([name for name in ("tensorflow", "keras") if name in sys.modules])
print(found.position, found.hyperparameters, [each.value.shape for each in found.model])
"""


def model_of(units=3, dtype="float32", optimizer="adam"):
    """A small one, compiled unless the optimizer is None."""
    layers = [
        keras.Input((4, 4, 3), dtype=dtype),
        keras.layers.Flatten(dtype=dtype),
        keras.layers.Dense(units, dtype=dtype),
    ]
    model = keras.Sequential(layers)
    if optimizer:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer, loss, metrics=["accuracy"])
    return model


def again(checkpoint, folder):
    """What another task gets."""
    write(checkpoint, folder / "file.npz")
    return read(folder / "file.npz")


def values(model):
    """Of weights, optimizer and metrics."""
    variables = (*model.variables, *model.optimizer.variables, *model.metrics_variables)
    return [each.numpy().tolist() for each in variables]


def trained(data):
    """A model after a step."""
    model = model_of()
    images, labels = next(iter(data.epochs(1)))
    model.train_on_batch(images, labels)
    return model


def test_all_of_it_comes_back(data, tmp_path):
    """Weights, optimizer, running sums, place, and what the author says; with the spec's digest."""
    model = trained(data)
    checkpoint = TrainingCheckpoint(
        model=model,
        data=data,
        epoch=2,
        step=1,
        hyperparameters={"rate": 0.5},
        loss=np.float32(0.25),
        metrics={"accuracy": tf.constant(0.75)},
    )
    found = again(checkpoint, tmp_path)
    fresh = model_of()
    found.restore(fresh, data)
    assert values(model) == values(fresh)
    assert (2, 1, 0.25) == (found.epoch, found.step, found.loss)
    assert ({"rate": 0.5}, {"accuracy": 0.75}) == (found.hyperparameters, found.metrics)
    assert data.spec == found.spec
    with zipfile.ZipFile(tmp_path / "file.npz") as archive:
        more = json.loads(archive.read("checkpoint.json"))["more"]
    assert data.spec.digest == more["digest"]
    assert {"epoch": 2, "record": 4} == more["position"]


def test_what_came_may_be_passed_on(data, tmp_path):
    """Without a model: its values are those that came."""
    first = again(TrainingCheckpoint(model=trained(data), data=data, step=1), tmp_path)
    second = again(first, tmp_path)
    one, other = model_of(), model_of()
    first.restore(one, data)
    second.restore(other, data)
    assert values(one) == values(other)


def test_it_is_read_without_tensorflow(data, tmp_path, machine):
    """Nor a GPU nor Keras: the arrays are NumPy's."""
    checkpoint = TrainingCheckpoint(model=model_of(), data=data, step=1, hyperparameters={"a": 1})
    write(checkpoint, tmp_path / "file.npz")
    told = machine.python(BARE.format(file=tmp_path / "file.npz"))
    assert "[]\nPosition(epoch=0, record=4) {'a': 1} [(48, 3), (3,)]\n" == told


def test_there_is_no_pickle_in_it(data, tmp_path):
    """NumPy reads every array of the file without."""
    again(TrainingCheckpoint(model=model_of(), data=data), tmp_path)
    with np.load(tmp_path / "file.npz", allow_pickle=False) as file:
        assert [(48, 3), (3,)] == [file[f"model/{number}"].shape for number in range(2)]


def test_a_loop_of_its_own(data, tmp_path):
    """An optimizer that the model was not compiled with, and a dtype that NumPy lacks."""
    model, optimizer = model_of(dtype="bfloat16", optimizer=None), keras.optimizers.SGD(0.5, 0.9)
    optimizer.build(model.trainable_variables)
    optimizer.apply([tf.ones_like(each.value) for each in model.trainable_variables])
    found = again(TrainingCheckpoint(model=model, optimizer=optimizer), tmp_path)
    fresh, other = model_of(dtype="bfloat16", optimizer=None), keras.optimizers.SGD(0.1, 0.9)
    found.restore(fresh, optimizer=other)
    for old, new in zip(
        (*model.variables, *optimizer.variables), (*fresh.variables, *other.variables), strict=True
    ):
        assert old.numpy().tolist() == new.numpy().tolist()


def test_the_data_goes_on_at_the_next_example(data, tmp_path):
    """The rest of the epoch, then the next epoch, as if nothing had been."""
    found = again(TrainingCheckpoint(model=(), data=data, epoch=1, step=2), tmp_path)
    whole = [labels.numpy().tolist() for _, labels in data.epochs(3)]
    rest = [labels.numpy().tolist() for _, labels in found.dataset().epochs(2)]
    mine = [labels.numpy().tolist() for _, labels in found.dataset(data).epochs(2)]
    assert whole[3 + 2 :] == rest
    assert rest == mine


def test_workers_may_change(data):
    """A place between steps of both is the same place; inside a step there is none."""
    two = tfstream.load(data.spec, num_shards=2, shard_index=0)
    checkpoint = TrainingCheckpoint(model=(), data=data, step=2)
    assert 1 == checkpoint.counted_by(two).step
    assert checkpoint.position == checkpoint.counted_by(two).position
    with pytest.raises(SpecError, match="step 1 of 4 records is inside one of 8: go on with as"):
        TrainingCheckpoint(model=(), data=data, step=1).dataset(two)


def test_other_data_is_refused_unless_told(data, tmp_path):
    """The error says what differs; `moved_to` begins the epoch in the other order."""
    other = tfstream.load(data.spec.replace(order=data.spec.order.__class__(seed=9)))
    found = again(TrainingCheckpoint(model=trained(data), data=data, epoch=1, step=2), tmp_path)
    with pytest.raises(SpecError, match=r"of other data: \$\.order\.seed: 0 there, 9 here") as told:
        found.dataset(other)
    assert "checkpoint.moved_to(dataset)" in str(told.value)
    moved = found.moved_to(other)
    assert (1, 0, other.spec) == (moved.epoch, moved.step, moved.spec)
    moved.restore(model_of(), other)


def test_another_commit_is_other_data():
    """The digest is of the commit; a ref that points to it is a label only."""
    source = tfstream.LakeFSSource(repository="photos", ref="main", commit="3f" * 32)
    spec = tfstream.DatasetSpec(source=source, decoder=tfstream.ImageDecoder())
    moved = {**vars(source), "commit": "4e" * 32}
    label = {**vars(source), "ref": "v1"}
    checkpoint = TrainingCheckpoint(model=(), data=spec)
    checkpoint.counted_by(spec.replace(source=tfstream.LakeFSSource(**label)))
    with pytest.raises(SpecError, match=r"\$\.source\.commit: '3f3f.* there, '4e4e"):
        checkpoint.counted_by(spec.replace(source=tfstream.LakeFSSource(**moved)))


def test_without_data_there_is_no_place(tmp_path):
    """For data that is not tfstream's; weights and numbers travel all the same."""
    found = again(TrainingCheckpoint(model=model_of(), epoch=3), tmp_path)
    assert (3, None, None) == (found.epoch, found.spec, found.position)
    with pytest.raises(SpecError, match="made without `data`"):
        found.dataset()
    with pytest.raises(ValueError, match="leave it out for data of another kind"):
        TrainingCheckpoint(model=(), data=tf.data.Dataset.range(3))


def test_another_model_is_refused(data, tmp_path):
    """Before anything is changed; so is one without an optimizer, and one without weights."""
    found = again(TrainingCheckpoint(model=trained(data), data=data, step=1), tmp_path)
    wide = model_of(units=4)
    before = [each.numpy().tolist() for each in wide.variables]
    with pytest.raises(CheckpointError, match="another model"):
        found.restore(wide, data)
    assert before == [each.numpy().tolist() for each in wide.variables]
    with pytest.raises(CheckpointError, match="has an optimizer and the model has none"):
        found.restore(model_of(optimizer=None))
    with pytest.raises(CheckpointError, match="has no weights yet"):
        TrainingCheckpoint(model=keras.Sequential([keras.layers.Dense(1)])).state()


def test_a_changed_file_is_refused(data, tmp_path):
    """Its spec is another one than it was written with."""
    write(TrainingCheckpoint(model=(), data=data), tmp_path / "old.npz")
    with zipfile.ZipFile(tmp_path / "old.npz") as old:
        head = json.loads(old.read("checkpoint.json"))
    head["spec"]["order"]["seed"] = 5
    with zipfile.ZipFile(tmp_path / "new.npz", "w") as new:
        new.writestr("checkpoint.json", json.dumps(head))
    with pytest.raises(CheckpointError, match=r"new\.npz was written for .* but its spec is"):
        read(tmp_path / "new.npz")


def test_a_folder_of_fit_has_them_too(data, tmp_path):
    """What `tfstream.keras.fit` saved is one, without hyperparameters."""
    tfstream.keras.fit(model_of(), data, checkpoint=tmp_path, epochs=1, save_every=2, verbose=0)
    found = read(tmp_path / "epoch-00000-step-00000002.npz")
    assert (0, 2, data.spec, {}) == (found.epoch, found.step, found.spec, found.hyperparameters)


@pytest.mark.parametrize("wrong", [{"epoch": -1}, {"step": 1.5}, {"metrics": {"a": print}}])
def test_arguments_are_checked(wrong):
    """By name, when it is made and not when it is passed."""
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        TrainingCheckpoint(model=(), **wrong)
