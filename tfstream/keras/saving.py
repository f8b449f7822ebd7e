"""When a training is saved, and whether what was saved is of this training."""

from __future__ import annotations

from dataclasses import dataclass

import keras

from tfstream.errors import SpecError
from tfstream.keras.checkpoint import Checkpoint, Progress
from tfstream.keras.folder import Folder
from tfstream.keras.state import state_of
from tfstream.spec import DatasetSpec
from tfstream.spec.difference import differences


@dataclass(frozen=True, kw_only=True)
class Saving:
    """
    When and where to save.

    Attributes:
        folder: None to save nothing.
        spec: The dataset's.
        every: Steps.
        validated: Whether a validation may come before an epoch's end.
    """

    folder: Folder | None
    spec: DatasetSpec
    every: int
    validated: bool

    def due(self, step: int, saved: int, before_last: bool) -> bool:
        """After so many steps of an epoch; validation is long, so there is one before it."""
        return step - saved >= self.every or (before_last and self.validated)

    def save(self, model: keras.Model, progress: Progress) -> None:
        """Now."""
        if self.folder is None:
            return
        checkpoint = Checkpoint(
            progress=progress,
            spec=self.spec.to_json(),
            state=state_of(model, metrics=progress.step > 0),
        )
        self.folder.write(checkpoint)

    def newest(self, epochs: int, steps: int) -> Checkpoint | None:
        """
        Where a training of so many epochs of so many steps goes on; None for the beginning.

        Errors:
            SpecError: it is of other data, in another order or in other parts.
        """
        found = self.folder.newest(epochs) if self.folder else None
        if found:
            self._check(found, steps)
        return found

    def _check(self, found: Checkpoint, steps: int) -> None:
        old, new = DatasetSpec.from_json(found.spec), self.spec
        wrong = []
        if (old.digest, old.shard) != (new.digest, new.shard):
            wrong = differences(old, new)
        if found.progress.steps != steps:
            wrong.append(f"steps of an epoch: {found.progress.steps} there, {steps} here")
        if wrong:
            raise SpecError(
                "the checkpoint is of another training. " + "; ".join(wrong) + ". Make the dataset "
                "as it was, or use an empty folder"
            )
