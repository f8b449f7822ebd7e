"""
`fit` for tasks: a retried or preempted one goes on by itself, another task's checkpoint too.

```
what the attempt before left in Flyte's store, else `start`, which another task has handed over
    -> a folder -> tfstream.keras.fit(checkpoint=folder)
    -> each checkpoint into the folder and Flyte's store
```

The store is where Flyte tells a task to keep its own checkpoints, and where it tells the next
attempt to look.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tfstream.flyte.checkpoint_file import as_keras
from tfstream.flyte.kept import KeptFolder
from tfstream.flyte.task import store_of_task
from tfstream.keras.checkpoint import Checkpoint

if TYPE_CHECKING:
    import keras

    from tfstream.dataset import StreamDataset
    from tfstream.flyte.checkpoints import TrainingCheckpoint


def fit(
    model: keras.Model,
    dataset: StreamDataset,
    *,
    start: TrainingCheckpoint | None = None,
    **arguments: Any,
) -> keras.callbacks.History:
    """
    `tfstream.keras.fit` in a task of Flyte, without a folder to think of.

    ```python
    @task(retries=3, interruptible=True)
    def train(data: tf.data.Dataset, start: TrainingCheckpoint | None = None) -> TrainingCheckpoint:
        model = model_of()
        tfstream.flyte.fit(model, data, start=start, epochs=10, save_every=500)
        return TrainingCheckpoint(model=model, data=data, epoch=10)
    ```

    One in a task, since a task has one place for checkpoints. Outside of a task, and where Flyte
    has no such place, nothing is kept.

    Args:
        model: As for `tfstream.keras.fit`.
        dataset: As for it.
        start: Where another task has ended; in mid-epoch, the rest of that epoch comes first.
            What an attempt of this task has saved is further on, so it wins.
        arguments: All else that `tfstream.keras.fit` has, but `checkpoint` and `keep`.

    Errors:
        SpecError: `start` is of other data, or the saved training is.
        CheckpointError: of another model, or what the attempt before left cannot be read.
    """
    from tfstream.keras.training import fit as keras_fit

    for name in ("checkpoint", "keep"):
        if name in arguments:
            raise ValueError(f"`{name}` is Flyte's own here: leave it out, or use tfstream.keras")
    with TemporaryDirectory(prefix="tfstream-") as path:
        folder = KeptFolder(path, store_of_task())
        if folder.restored() is None and start is not None:
            folder.write(_entered(start, dataset, arguments))
        return keras_fit(model, dataset, checkpoint=folder, **arguments)


def _entered(
    start: TrainingCheckpoint, dataset: StreamDataset, arguments: dict[str, Any]
) -> Checkpoint:
    """As `fit` would have saved it. Both count in the dataset's own epochs."""
    if arguments.get("steps_per_epoch") is not None:
        raise ValueError("`start` counts the dataset's epochs, so there is no `steps_per_epoch`")
    return as_keras(start.counted_by(dataset), len(dataset.epochs(1)))
