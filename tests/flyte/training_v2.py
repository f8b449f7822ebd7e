"""Trainings as tasks of flyte 2."""

import flyte
import keras
import tensorflow as tf
from killing import Killed, digest

import tfstream
from tfstream.flyte import TrainingCheckpoint

env = flyte.TaskEnvironment(name="training")


def model_of():
    """With state in the optimizer and in a random layer."""
    keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    layers = [
        keras.Input((4, 4, 3)),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(3),
    ]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


def opened(url):
    """Six batches."""
    return tfstream.from_url(url, image_size=(4, 4), batch_size=2, seed=3, verbose=False)


def trained(data, start=None):
    """The weights after three epochs."""
    model = model_of()
    options = {"epochs": 3, "save_every": 2, "verbose": 0, "callbacks": [Killed()]}
    tfstream.flyte.fit(model, data, start=start, **options)
    print("weights", digest(model))
    return digest(model)


@env.task(retries=2)
async def train(url: str) -> str:
    """Killed after as many batches as the environment says."""
    return trained(opened(url))


@env.task
async def begin(data: tf.data.Dataset) -> TrainingCheckpoint:
    """A training loop of a user's own, over an epoch and two steps of the next one."""
    model = model_of()
    for images, labels in data.epochs(2).take(8):
        model.train_on_batch(images, labels)
    return TrainingCheckpoint(
        model=model, data=data, epoch=1, step=2, hyperparameters={"rate": 0.001}
    )


@env.task
async def go_on(start: TrainingCheckpoint, data: tf.data.Dataset) -> str:
    """Another task, to the end."""
    print("went on at", start.position, start.hyperparameters)
    return trained(data, start)


@env.task
async def handed_over(url: str) -> str:
    """The same training by one task and by two."""
    data = opened(url)
    one = await train(url=url)
    two = await go_on(start=await begin(data=data), data=data)
    return f"the same weights: {one == two}"
