"""
The callbacks of one training, over as many `model.fit` calls as it takes.

```
epoch 3 was cut at step 120 of 713        model.fit(steps_per_epoch=593, initial_epoch=3, epochs=4)
    on_train_begin
    on_epoch_begin(3)                     callbacks first, then the state as it was at step 120
    batches 120 … 712                     Keras says 0 … 592
    on_epoch_end(3)
epochs 4 …                                model.fit(steps_per_epoch=713, initial_epoch=4, epochs=10)
    on_epoch_begin(4) … on_train_end
```

`model.fit` uses a `CallbackList` that it is given as it is, and this is one. Saving happens here
and not in a callback of its own, since Keras runs those of others in a thread only as long as none
of the list needs each batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import keras

from tfstream.keras.checkpoint import Checkpoint, Progress, State
from tfstream.keras.preemption import Preemption
from tfstream.keras.saving import Saving
from tfstream.keras.state import restore

Logs = Mapping[str, Any] | None


class Continued(keras.callbacks.CallbackList):  # type: ignore[misc]
    """A list of callbacks that knows how far the training is, saves it, and begins there."""

    def __init__(
        self,
        callbacks: Any,
        *,
        progress: Progress,
        saving: Saving,
        preemption: Preemption,
        model: keras.Model,
        epochs: int,
        verbose: Any,
    ) -> None:
        super().__init__(
            callbacks,
            add_history=True,
            add_progbar=verbose != 0,
            model=model,
            verbose=verbose,
            epochs=epochs,
            steps=progress.steps,
        )
        self.progress = progress
        self._saving = saving
        self._preemption = preemption
        self._cut: State | None = None
        self._begun = False
        self._first = self._done = self._saved = 0

    @property
    def history(self) -> keras.callbacks.History:
        """The user's own, or the one that Keras adds."""
        return next(it for it in self.callbacks if isinstance(it, keras.callbacks.History))

    @property
    def over(self) -> bool:
        """Whether no epoch is left."""
        return self.progress.stopped or self.progress.epoch >= self.params["epochs"]

    def newest(self) -> Checkpoint | None:
        """Where to go on, if there is such a place."""
        return self._saving.newest(self.params["epochs"], self.progress.steps)

    def enter(self, checkpoint: Checkpoint) -> None:
        """Go on there; the model is built."""
        self.progress = checkpoint.progress
        restore(self.model, checkpoint.state)
        self._cut = checkpoint.state if checkpoint.progress.step else None
        self._show_history()

    def on_train_begin(self, logs: Logs = None) -> None:
        """Once."""
        if self._begun:
            return
        self._begun = True
        super().on_train_begin(logs)
        self._show_history()

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """In a cut epoch: what callbacks do to the learning rate is in the saved state already."""
        self._first = self._saved = self.progress.step
        super().on_epoch_begin(epoch, logs)
        if self._cut is not None:
            restore(self.model, self._cut)
            self._cut = None

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """`batch` begins at 0 where Keras begins."""
        self._done = self._first + batch + self.model.steps_per_execution
        super().on_train_batch_begin(self._first + batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Save, if it is time; the epoch's last step is saved by its end."""
        super().on_train_batch_end(self._first + batch, logs)
        step, steps = self._done, self.progress.steps
        if step >= steps:
            return
        before_last = step + self.model.steps_per_execution >= steps
        if self._preemption.asked or self._saving.due(step, self._saved, before_last):
            self._saved = step
            self._save(step=step)
        self._preemption.obey()

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """In a validation nothing is worth saving: there is a checkpoint one step before."""
        self._preemption.obey()
        super().on_test_batch_begin(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Save, when all callbacks have seen it."""
        super().on_epoch_end(epoch, logs)
        self._save(epoch=epoch + 1, step=0, stopped=bool(self.model.stop_training))
        self._preemption.obey()

    def on_train_end(self, logs: Logs = None) -> None:
        """Once, when no epoch is left; it may change the weights, and so does Keras before it."""
        if not self.over:
            return
        super().on_train_end(logs)
        self._save(ended=True)

    def _save(self, **changes: Any) -> None:
        self.progress = replace(
            self.progress,
            **changes,
            epochs=list(self.history.epoch),
            history=dict(self.history.history),
        )
        self._saving.save(self.model, self.progress)

    def _show_history(self) -> None:
        if self.progress.epochs:
            history = {name: list(values) for name, values in self.progress.history.items()}
            self.history.epoch, self.history.history = list(self.progress.epochs), history
