"""
A training as a user writes it: run as a process, killed at a chosen moment, run again.

```
python program.py '{"photos": …, "checkpoint": …, "result": …, "kill": {"at": "step 7"}}'
```

It writes History and a digest of all weights as JSON to `result`. Moments, counted from 1 in each
process:

```
step N              a batch is over, and not yet saved
save N              the Nth checkpoint is written, but has no name yet
named N             it has its name, and the old ones are still there
validation N        a batch of a validation begins
end 1               callbacks are told that training ends
```
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import sys
from pathlib import Path

import keras
import tensorflow as tf

import tfstream


def streamed(photos, **arguments):
    """Ten batches of three."""
    arguments = {"image_size": (8, 8), "batch_size": 3, "seed": 5, "verbose": False, **arguments}
    return tfstream.from_url(photos, **arguments)


def model_of(size=4):
    """All kinds of state: moving means, seed generators, moments, a metric that is built late."""
    layers = [
        keras.layers.Rescaling(1 / 255),
        keras.layers.RandomFlip("horizontal"),
        keras.layers.Conv2D(size, 3),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Dropout(0.3),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(2),
    ]
    model = keras.Sequential(layers)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 7, 0.9)
    model.compile(
        keras.optimizers.Adam(schedule, use_ema=True),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(1, name="top")],
    )
    return model


def digest(model):
    """Of every bit of the weights and of the optimizer."""
    found = hashlib.sha256()
    for variable in (*model.variables, *model.optimizer.variables):
        found.update(variable.numpy().tobytes())
    return found.hexdigest()


class Fatal(keras.callbacks.Callback):
    """Kills the process at its moment, by its signal."""

    def __init__(self, at, number):
        super().__init__()
        self._at, self._number, self._seen = at, number, {}
        for name, moment in (("fsync", "save"), ("replace", "named")):
            self._after(name, moment)

    def _after(self, name, moment):
        real = getattr(os, name)

        def call(*arguments):
            real(*arguments)
            if name != "fsync" or stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                self._now(moment)

        setattr(os, name, call)

    def _now(self, moment):
        self._seen[moment] = self._seen.get(moment, 0) + 1
        if self._at == f"{moment} {self._seen[moment]}":
            os.kill(os.getpid(), self._number)

    def on_train_batch_end(self, batch, logs=None):
        self._now("step")

    def on_test_batch_begin(self, batch, logs=None):
        self._now("validation")

    def on_train_end(self, logs=None):
        self._now("end")


def main(photos, checkpoint, result, kill=None, epochs=3, **arguments):
    """Train, and say what came out."""
    keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    model, callbacks = model_of(), []
    if kill:
        callbacks = [Fatal(kill["at"], getattr(signal, kill.get("signal", "SIGKILL")))]
    history = tfstream.keras.fit(
        model,
        streamed(photos),
        checkpoint=checkpoint,
        transform=lambda data: data.map(lambda image, label: (255 - image, label)),
        validation_data=streamed(photos, seed=6),
        epochs=epochs,
        callbacks=callbacks,
        **{"save_every": 4, "verbose": 2, **arguments},
    )
    found = {"history": history.history, "epochs": history.epoch, "weights": digest(model)}
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
