"""
A folder of checkpoints that a task of Flyte keeps for its next attempt.

```
attempt 1    epoch-00001-step-00000500.npz -> its place in Flyte's store
   killed
attempt 2    what attempt 1 left -> folder -> its own place, at once
```

At once, since the attempt after it is told of its place only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tfstream.errors import CheckpointError
from tfstream.flyte.task import Store
from tfstream.keras.checkpoint import Checkpoint
from tfstream.keras.folder import Folder


class KeptFolder(Folder):
    """One whose newest checkpoint is in the task's store too; without a store, a folder."""

    def __init__(self, path: str | os.PathLike[str], store: Store | None) -> None:
        super().__init__(path, keep=1)
        self._store = store

    def restored(self) -> Checkpoint | None:
        """
        What the attempt before has left, which then is in the folder; None if it left nothing.

        Errors:
            CheckpointError: it has, and nothing of it can be read.
        """
        with TemporaryDirectory(prefix="tfstream-") as downloaded:
            files = self._store.files(Path(downloaded)) if self._store else ()
            newest = _newest(files)
        if newest is not None:
            self.write(newest)
        return newest

    def write(self, checkpoint: Checkpoint) -> Path:
        """Into both."""
        file = super().write(checkpoint)
        if self._store is not None:
            self._store.save(file)
        return file


def _newest(files: Sequence[Path]) -> Checkpoint | None:
    """Of those that are whole: a kill may have cut the one that was written last."""
    whole, cut = [], []
    for file in files:
        try:
            whole.append(Checkpoint.read(file))
        except CheckpointError as error:
            cut.append(error)
    if cut and not whole:
        raise CheckpointError(
            f"the attempt before has left a checkpoint that cannot be read: {cut[-1]}. Start a new "
            "execution to begin anew"
        ) from cut[-1]
    return max(whole, key=_place, default=None)


def _place(checkpoint: Checkpoint) -> tuple[int, int, bool]:
    progress = checkpoint.progress
    return progress.epoch, progress.step, progress.ended
