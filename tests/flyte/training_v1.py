"""Trainings as tasks of flytekit, and tensors and models between tasks."""

from dataclasses import dataclass, field
from typing import Optional

import keras
import tensorflow as tf
from flytekit import task, workflow
from killing import Killed, digest

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TrainingCheckpoint


@dataclass
class HyperParameters:
    """A user's own."""

    rate: float = 0.01
    layers: list[int] = field(default_factory=lambda: [4, 2])


def model_of(rate=0.01):
    """With all kinds of state."""
    keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    layers = [
        keras.Input((4, 4, 3)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(3),
    ]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    return model


@task
def choose(url: str) -> DatasetSpec:
    """Six batches."""
    return tfstream.from_url(url, image_size=(4, 4), batch_size=2, seed=3, verbose=False).spec


@task(retries=2, interruptible=True)
def train(
    data: tf.data.Dataset,
    epochs: int = 3,
    start: Optional[TrainingCheckpoint] = None,  # noqa: UP045
) -> str:
    """The weights at the end; killed after as many batches as the environment says."""
    model = model_of()
    options = {"epochs": epochs, "save_every": 2, "verbose": 0, "callbacks": [Killed()]}
    history = tfstream.flyte.fit(model, data, start=start, **options)
    print("epochs of the history:", history.epoch)
    return digest(model)


@task
def begin(data: tf.data.Dataset, hp: HyperParameters, step: int) -> TrainingCheckpoint:
    """A training loop of a user's own, over an epoch and some steps of the next one."""
    model, done = model_of(hp.rate), len(data) + step
    for images, labels in data.epochs(2).take(done):
        logs = model.train_on_batch(images, labels, return_dict=True)
    loss = logs.pop("loss")
    return TrainingCheckpoint(
        model=model,
        data=data,
        epoch=1,
        step=step,
        hyperparameters=hp,
        loss=loss,
        metrics=logs,
    )


@task
def go_on(start: TrainingCheckpoint, epochs: int) -> str:
    """Another task, with a loop of its own, to the end of these epochs."""
    model, data = model_of(start.hyperparameters["rate"]), start.dataset()
    start.restore(model, data)
    left = epochs * 6 - 6 * start.epoch - start.step
    for images, labels in data.epochs(epochs).take(left):
        model.train_on_batch(images, labels)
    print("went on at", start.position, start.hyperparameters)
    return digest(model)


@task(retries=2)
def looped(data: tf.data.Dataset, epochs: int = 3) -> str:
    """A loop of a user's own, which saves every second batch in the place of the task."""
    model, killed = model_of(), Killed()
    with tfstream.flyte.task_checkpoints() as kept:
        start = kept.newest() or TrainingCheckpoint(model=model, data=data)
        start.restore(model, data)
        done = 6 * start.epoch + start.step
        for images, labels in start.dataset(data).epochs(epochs).take(6 * epochs - done):
            model.train_on_batch(images, labels)
            epoch, step = divmod(done := done + 1, 6)
            print(f"trained batch {(done - 1) // 6}:{(done - 1) % 6}", flush=True)
            if done % 2 == 0:
                kept.save(TrainingCheckpoint(model=model, data=data, epoch=epoch, step=step))
            killed.count()
    return digest(model)


@workflow
def handed_over(url: str) -> tuple[str, str, str]:
    """The same training as one, by a loop of two tasks, and by a loop and `fit`."""
    spec = choose(url=url)
    begun = begin(data=spec, hp=HyperParameters(), step=2)
    return (
        train(data=spec, epochs=3),
        go_on(start=begun, epochs=3),
        train(data=spec, epochs=3, start=begun),
    )


@task
def make() -> tuple[tf.Tensor, tf.RaggedTensor, tf.SparseTensor, keras.Model, list[tf.Tensor]]:
    """One of each."""
    return (
        tf.constant(["a", ""]),
        tf.ragged.constant([[1.5], []]),
        tf.sparse.eye(2, dtype=tf.int64),
        model_of(),
        [tf.constant(True), tf.zeros([0, 2], tf.bfloat16)],
    )


@task
def take(
    dense: tf.Tensor,
    ragged: tf.RaggedTensor,
    sparse: Optional[tf.SparseTensor],  # noqa: UP045
    model: keras.Model,
    many: list[tf.Tensor],
) -> str:
    """What came."""
    sizes = [tuple(each.shape) for each in many]
    return f"{dense.numpy()} {ragged} {tf.sparse.to_dense(sparse).numpy()} {model.built} {sizes}"


@workflow
def tensors() -> str:
    """From one task to another."""
    dense, ragged, sparse, model, many = make()
    return take(dense=dense, ragged=ragged, sparse=sparse, model=model, many=many)
