"""What the trainings of both SDKs have in common: a machine that ends, and a digest at the end."""

import hashlib
import os
import signal

import keras


class Killed(keras.callbacks.Callback):
    """Tells each batch, and ends the process after so many, as a spot machine's end does."""

    def __init__(self):
        super().__init__()
        self._left = int(os.environ.get("KILL_AFTER", 0))

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        print(f"trained batch {self._epoch}:{batch}", flush=True)
        self.count()

    def count(self):
        """One more."""
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def digest(model):
    """Of every bit of the weights and of the optimizer."""
    found = hashlib.sha256()
    for variable in (*model.variables, *model.optimizer.variables):
        found.update(variable.numpy().tobytes())
    return found.hexdigest()
