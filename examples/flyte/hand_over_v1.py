"""
flytekit 1.16: one task begins a training, another one goes on with it at the very next picture.

```
pyflyte run examples/flyte/hand_over_v1.py wf --url lakefs://photos/main/train/**
```

A task that is preempted goes on by itself, see `tfstream.flyte.fit`.
"""

from dataclasses import dataclass
from typing import Annotated

import keras
import tensorflow as tf
from flytekit import task, workflow
from flytekit.deck import DeckField

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TFDataset, TrainingCheckpoint

Shown = Annotated[tf.data.Dataset, TFDataset(preview=16)]
"""The Deck has a contact sheet of the first 16 pictures."""


@dataclass
class HyperParameters:
    """A user's own."""

    rate: float = 0.001


@task
def choose(url: str) -> DatasetSpec:
    """Pins the branch to its commit of now."""
    return tfstream.from_url(url, image_size=(32, 32), batch_size=4, verbose=False).spec


def model_of(classes: int, rate: float) -> keras.Model:
    """Both tasks make it."""
    model = keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            keras.layers.Rescaling(1 / 255),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(classes, activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.Adam(rate), "sparse_categorical_crossentropy")
    return model


@task(enable_deck=True, deck_fields=(DeckField.INPUT,))
def begin(data: Shown, hp: HyperParameters, steps: int) -> TrainingCheckpoint:
    """Some steps of the first epoch."""
    model = model_of(data.num_classes, hp.rate)
    for images, labels in data.epochs(1).take(steps):
        loss = model.train_on_batch(images, labels)
    return TrainingCheckpoint(model=model, data=data, step=steps, loss=loss, hyperparameters=hp)


@task
def go_on(start: TrainingCheckpoint, epochs: int) -> TrainingCheckpoint:
    """The rest, on another machine."""
    print("goes on at", start.position)
    data = tfstream.load(start.spec)  # `fit` itself enters it there
    model = model_of(data.num_classes, start.hyperparameters["rate"])
    tfstream.flyte.fit(model, data, start=start, epochs=epochs, verbose=2)
    return TrainingCheckpoint(model=model, data=data, epoch=epochs)


@workflow
def wf(url: str, steps: int = 1, epochs: int = 2) -> TrainingCheckpoint:
    """The whole."""
    begun = begin(data=choose(url=url), hp=HyperParameters(), steps=steps)
    return go_on(start=begun, epochs=epochs)
