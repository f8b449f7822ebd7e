"""The checkpoint of a task of flyte 2: `flyte.ctx().checkpoint`, one object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import flyte


def store_of_task() -> ObjectStore | None:
    """None without a task, or without a place."""
    checkpoint = getattr(flyte.ctx(), "checkpoint", None)
    return None if checkpoint is None else ObjectStore(checkpoint)


class ObjectStore:
    """One file, which an object store replaces at once."""

    def __init__(self, checkpoint: Any) -> None:
        self._checkpoint = checkpoint

    def files(self, folder: Path) -> Sequence[Path]:
        """The one that the attempt before has saved."""
        path = self._checkpoint.load_sync()
        return [] if path is None else [path]

    def save(self, file: Path) -> None:
        """In place of the one before."""
        self._checkpoint.save_sync(file)
