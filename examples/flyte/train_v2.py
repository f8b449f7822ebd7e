"""
flyte 2: choose a commit, look at each part on its own machine, train. No data is passed.

```
flyte run --local examples/flyte/train_v2.py main --url lakefs://photos/main/train/**
```
"""

import asyncio

import flyte
import flyte.report
import keras
import tensorflow as tf

import tfstream
from tfstream import DatasetSpec

env = flyte.TaskEnvironment(name="photos")


@env.task
async def choose(url: str) -> DatasetSpec:
    """Pins the branch to its commit of now. In a cache, it would be the commit of then."""
    return tfstream.from_url(url, image_size=(32, 32), batch_size=8, verbose=False).spec


@env.task(cache="auto")
async def brightness(data: tf.data.Dataset) -> float:
    """Runs on many machines, each of which reads its own part; once for each commit."""
    return float(sum(tf.reduce_sum(images) for images, _ in data))


@env.task(report=True)
async def train(data: tf.data.Dataset, classes: list[str]) -> float:
    """The loss after two epochs; the report shows the commit."""
    tfstream.flyte.log_dataset(data)
    await flyte.report.flush.aio()
    model = keras.Sequential(
        [
            keras.layers.Rescaling(1 / 255),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(len(classes), activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    return float(model.fit(data, epochs=2, verbose=2).history["loss"][-1])


@env.task
async def main(url: str, machines: int = 2) -> float:
    """The whole."""
    spec = await choose(url=url)
    parts = [
        tfstream.load(spec, num_shards=machines, shard_index=index) for index in range(machines)
    ]
    total = await asyncio.gather(*(brightness(data=part) for part in parts))
    print("brightness of all images:", round(sum(total)))
    augmented = tfstream.load(spec).map(
        lambda images, labels: (tf.image.random_flip_left_right(images), labels)
    )
    return await train(data=augmented, classes=list(spec.class_names))
