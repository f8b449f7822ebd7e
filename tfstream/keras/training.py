"""
`fit`: `model.fit` that can be killed at any moment and goes on where it was.

```
newest checkpoint -> (epoch, step), state            folder.py, checkpoint.py
    -> dataset.at(epoch, step).epochs(…)             numbered.py
    -> model, optimizer, metrics as they were        state.py
    -> model.fit(rest of the epoch), then the others, saving on the way     continued.py
```
"""

from __future__ import annotations

import os
from typing import Any

import keras
import tensorflow as tf

from tfstream.checks import whole
from tfstream.dataset import StreamDataset
from tfstream.graph.op import translated
from tfstream.keras.checkpoint import Progress
from tfstream.keras.continued import Continued
from tfstream.keras.folder import Folder
from tfstream.keras.numbered import NumberedEpochs, Transform
from tfstream.keras.preemption import Preemption
from tfstream.keras.saving import Saving
from tfstream.keras.state import build


def fit(
    model: keras.Model,
    dataset: StreamDataset,
    *,
    checkpoint: str | os.PathLike[str] | Folder | None = None,
    transform: Transform | None = None,
    save_every: int = 1000,
    keep: int = 2,
    **fit_arguments: Any,
) -> keras.callbacks.History:
    """
    Train as `model.fit` does; killed and started again, end with the same weights.

    ```python
    history = tfstream.keras.fit(
        model,
        train,
        transform=lambda data: data.map(augment),
        checkpoint="checkpoints/",
        validation_data=validation,
        epochs=10,
    )
    ```

    Epoch e of the training is epoch e of the dataset. What comes with a checkpoint folder, and
    what does not, is in docs/resume.md.

    Args:
        model: Compiled, on Keras' TensorFlow backend.
        dataset: As `tfstream.from_lakefs` and the like make it.
        checkpoint: A folder for this training alone. Where it has checkpoints, the newest is gone
            on from; a training that is finished gives its History at once.
        transform: A function from dataset to dataset, as `tf.data.Dataset.apply` takes, of stages
            that keep the number of elements: `map` and the like.
        save_every: Steps. An epoch's end is saved too.
        keep: How many positions stay on the disk.
        fit_arguments: `epochs`, `validation_data`, `callbacks` and all else that `model.fit` has.

    Errors:
        SpecError: the checkpoint is of another dataset; the text says what differs.
        CheckpointError: it cannot be read, or is of another model.
        DecodeError and the like: the data, as when the dataset is iterated in Python.
    """
    _check(model, dataset, fit_arguments.get("callbacks"))
    arguments = {"shuffle": False, **fit_arguments}  # Keras warns of its own default
    arguments["validation_data"] = _in_one_order(arguments.get("validation_data"))
    saving = Saving(
        folder=_folder(checkpoint, whole("keep", keep, least=1)),
        spec=dataset.spec,
        every=whole("save_every", save_every, least=1),
        validated=arguments["validation_data"] is not None,
    )
    numbered = NumberedEpochs.of(dataset, transform, arguments.pop("steps_per_epoch", None))
    start = Progress(epoch=arguments.pop("initial_epoch", 0), step=0, steps=numbered.steps)
    with Preemption(enabled=checkpoint is not None) as preemption:
        callbacks = Continued(
            arguments.pop("callbacks", None),
            progress=start,
            saving=saving,
            preemption=preemption,
            model=model,
            epochs=arguments.pop("epochs", 1),
            verbose=arguments.get("verbose", "auto"),
        )
        _train(model, numbered, callbacks, arguments)
    return callbacks.history


def _folder(checkpoint: str | os.PathLike[str] | Folder | None, keep: int) -> Folder | None:
    if checkpoint is None or isinstance(checkpoint, Folder):  # of `tfstream.flyte.fit`
        return checkpoint
    return Folder(checkpoint, keep)


def _train(
    model: keras.Model, numbered: NumberedEpochs, callbacks: Continued, arguments: dict[str, Any]
) -> None:
    """A cut epoch, then the others: each part begins as a new process would."""
    try:
        for _ in range(2):
            if callbacks.progress.ended:
                return
            saved = callbacks.newest()
            progress = saved.progress if saved else callbacks.progress
            until = _until(progress, callbacks.params["epochs"])
            data = numbered.part(progress.epoch, progress.step, until)
            _check_execution(model.steps_per_execution, numbered.steps, progress.step)
            if saved:
                build(model, data)
                callbacks.enter(saved)
            if not progress.ended:
                rest = numbered.steps - progress.step
                model.fit(
                    data,
                    callbacks=callbacks,
                    initial_epoch=progress.epoch,
                    epochs=until,
                    steps_per_epoch=rest,
                    **arguments,
                )
    except tf.errors.OpError as error:
        ours = translated(error)
        if ours is error:
            raise
        raise ours from ours.__cause__


def _until(progress: Progress, epochs: int) -> int:
    """Where the next part ends: before this epoch, after it when it was cut, or at the end."""
    if progress.stopped or progress.epoch >= epochs:
        return progress.epoch
    return progress.epoch + 1 if progress.step else epochs


def _check(model: keras.Model, dataset: Any, callbacks: Any) -> None:
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            f"fit is for Keras' TensorFlow backend, and this is {keras.backend.backend()}: set "
            "KERAS_BACKEND=tensorflow"
        )
    if not isinstance(dataset, StreamDataset):
        raise ValueError(
            "fit enters the dataset itself, so it takes what tfstream made, and what comes after "
            "as a function: fit(model, train, transform=lambda data: data.map(augment)). "
            f"Received: {dataset!r}"
        )
    for each in tf.nest.flatten(callbacks):
        if isinstance(each, keras.callbacks.BackupAndRestore):
            raise ValueError(
                "BackupAndRestore and fit would each go on from a place of its own: leave it out, "
                "and pass `checkpoint`"
            )


def _check_execution(together: int, steps: int, step: int) -> None:
    """Keras always takes so many steps together, also at an epoch's end."""
    if steps % together or step % together:
        raise ValueError(
            f"`steps_per_execution` must divide the {steps} steps of an epoch"
            + (f" and the {step} that are done" if step else "")
            + f". Received: steps_per_execution={together}"
        )


def _in_one_order(validation: Any) -> Any:
    """Always that of its first epoch: a sum in another order differs in its last bits."""
    uncounted = isinstance(validation, StreamDataset) and validation._epochs == 0
    return validation.epochs(1) if uncounted else validation
