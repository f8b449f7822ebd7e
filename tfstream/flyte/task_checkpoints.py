"""
The checkpoints of a task with a training loop of its own; for `model.fit` see `retried`.

```python
with tfstream.flyte.task_checkpoints() as kept:
    start = kept.newest() or TrainingCheckpoint(model=model, data=data)
    start.restore(model, data)
    for step, batch in enumerate(start.dataset(data).epochs(1), start.step + 1):
        ...
        if step % 500 == 0:
            kept.save(TrainingCheckpoint(model=model, data=data, step=step))
```
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from tfstream.flyte.checkpoint_file import as_keras, from_keras
from tfstream.flyte.checkpoints import TrainingCheckpoint
from tfstream.flyte.kept import KeptFolder
from tfstream.flyte.task import store_of_task


class TaskCheckpoints:
    """What a task saves for its next attempt. Made by `task_checkpoints()`."""

    def __init__(self, folder: KeptFolder) -> None:
        self._folder = folder

    def newest(self) -> TrainingCheckpoint | None:
        """
        Where the attempt before was; None in a first attempt, and outside of a task.

        Errors:
            CheckpointError: it has saved something, and nothing of it can be read.
        """
        found = self._folder.restored()
        return None if found is None else from_keras(found, "the checkpoint of the task")

    def save(self, checkpoint: TrainingCheckpoint) -> None:
        """In place of what this attempt has saved before; when it returns, it is in the store."""
        self._folder.write(as_keras(checkpoint))


@contextmanager
def task_checkpoints() -> Iterator[TaskCheckpoints]:
    """Those of the task that runs. Outside of a task nothing is kept."""
    with TemporaryDirectory(prefix="tfstream-") as path:
        yield TaskCheckpoints(KeptFolder(path, store_of_task()))
