"""
A training on a machine that may be taken away at any moment.

```
python -m examples.spot_training            # trains three epochs; killed in the second by SIGKILL
python -m examples.spot_training            # goes on, and ends
python -m examples.spot_training --demo     # both, and one that nobody kills: the same weights
```
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

KILLED_AT = 1, 7
"""Epoch and step."""


def photos(folder: Path) -> Path:
    """Sixty small pictures in two classes, made here."""
    from tfstream.testing.images import encode, noise

    for number in range(60):
        file = folder / ("cat", "dog")[number % 2] / f"{number:02}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(noise(16, 16, seed=number), "PNG"))
    return folder


def train(folder: Path, checkpoints: Path | None, killed: bool) -> str:
    """Three epochs; gives a digest of the weights."""
    import keras
    import tensorflow as tf

    import tfstream

    keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    model = keras.Sequential(
        [
            keras.layers.Rescaling(1 / 255),
            keras.layers.RandomFlip("horizontal"),  # its random state is in the checkpoint
            keras.layers.Conv2D(8, 3),
            keras.layers.BatchNormalization(),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

    class Spot(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
            self.epoch = epoch

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            if (self.epoch, batch) == KILLED_AT:
                os.kill(os.getpid(), signal.SIGKILL)

    data = tfstream.from_url(folder, image_size=(16, 16), batch_size=4, seed=1, verbose=False)
    tfstream.keras.fit(
        model,
        data,
        checkpoint=checkpoints,
        save_every=5,
        epochs=3,
        callbacks=[Spot()] if killed else [],
        verbose=2,
    )
    weights = b"".join(each.numpy().tobytes() for each in model.variables)
    return hashlib.sha256(weights).hexdigest()[:16]


def demo() -> None:
    """A training that is killed and run again, and one that is not."""
    with tempfile.TemporaryDirectory() as state:
        digests = [
            _run("--state", state),
            _run("--state", state),
            _run("--state", state, "--no-checkpoints"),
        ]
    print("killed, and run again:", digests[1])
    print("never killed:         ", digests[2])
    if digests[0] is not None or digests[1] != digests[2]:
        raise SystemExit("they differ")
    print("the same weights, bit for bit")


def _run(*arguments: str) -> str | None:
    """The digest that it prints; None if it was killed."""
    command = [sys.executable, "-m", "examples.spot_training", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    if done.returncode == -signal.SIGKILL:
        print("… killed")
        return None
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.split()[-1]


def main() -> None:
    """Parse, and do it."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--demo", action="store_true", help="kill, go on, compare")
    parser.add_argument("--no-checkpoints", action="store_true", help="train in one go")
    parser.add_argument("--state", type=Path, default=Path("spot"), help="folder for everything")
    given = parser.parse_args()
    if given.demo:
        demo()
        return
    checkpoints = None if given.no_checkpoints else given.state / "checkpoints"
    fresh = checkpoints is not None and not list(checkpoints.glob("*.npz"))
    print("weights:", train(photos(given.state / "photos"), checkpoints, killed=fresh))


if __name__ == "__main__":
    main()
