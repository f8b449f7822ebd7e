"""
Memory of a training: `model.fit` over ten epochs of a contender's dataset.

The model is as small as one can be, so that reading is what takes the time. Called with the
job's file and the contender's module.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

import keras
import tensorflow  # noqa: F401  before memory is looked at

from benchmarks.job import SIZE, Job
from benchmarks.processes import memory_mb

EPOCHS = 10


class Watch(keras.callbacks.Callback):
    """Notes the resident megabytes at the end of each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.megabytes: list[float] = []

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.megabytes.append(memory_mb(os.getpid()))


def model() -> keras.Model:
    layers = [keras.layers.Rescaling(1 / 255), keras.layers.AveragePooling2D(32)]
    layers += [keras.layers.Flatten(), keras.layers.Dense(10)]
    network = keras.Sequential([keras.Input((SIZE, SIZE, 3)), *layers])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile("sgd", loss)
    return network


def main() -> None:
    contender = importlib.import_module(f"benchmarks.contenders.{sys.argv[2]}")
    network = model()
    before = memory_mb(os.getpid())
    dataset = contender.dataset(Job.read(sys.argv[1]))
    watch = Watch()
    network.fit(dataset, epochs=EPOCHS, verbose=0, callbacks=[watch])
    result = {
        "before_mb": before,
        "peak_mb": memory_mb(os.getpid(), "VmHWM") - before,
        "epochs_mb": [each - before for each in watch.megabytes],
    }
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
