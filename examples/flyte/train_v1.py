"""
flytekit 1.16: choose a commit, augment, train. No data is passed.

```
pyflyte run examples/flyte/train_v1.py wf --url lakefs://photos/main/train/**
```
"""

import keras
import tensorflow as tf
from flytekit import task, workflow

import tfstream
from tfstream import DatasetSpec


@task
def choose(url: str) -> DatasetSpec:
    """Pins the branch to its commit of now. In a cache, it would be the commit of then."""
    return tfstream.from_url(url, image_size=(32, 32), batch_size=8, verbose=False).spec


@task
def augment(data: tf.data.Dataset) -> tf.data.Dataset:
    """Travels as a graph: still random in each epoch, where it is read."""
    return data.map(lambda images, labels: (tf.image.random_flip_left_right(images), labels))


@task
def train(data: tf.data.Dataset, classes: list[str]) -> float:
    """The loss after two epochs."""
    model = keras.Sequential(
        [
            keras.layers.Rescaling(1 / 255),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(len(classes), activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    return float(model.fit(data, epochs=2, verbose=2).history["loss"][-1])


@workflow
def wf(url: str) -> float:
    """The whole. `spec.class_names` is known when `choose` has run."""
    spec = choose(url=url)
    return train(data=augment(data=spec), classes=spec.class_names)
