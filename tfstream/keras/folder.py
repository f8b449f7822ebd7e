"""
A folder of training checkpoints, of which the newest is always whole.

```
epoch-00003-step-00000120.npz          120 steps of epoch 3 are done, epochs 0, 1 and 2 too
epoch-00010-step-00000000-ended.npz    after ten epochs, with what callbacks did to the weights
                                       when training ended; beside the one without `-ended`
.….npz.partial                         being written, or cut by a kill: removed by the next run
```
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from tfstream.keras.checkpoint import Checkpoint, Progress

_NAME = re.compile(r"epoch-(\d{5,})-step-(\d{8,})(-ended)?\.npz")
_PARTIAL = ".partial"


class Place(NamedTuple):
    """How far a checkpoint is, as its name says it; the largest is the newest."""

    epoch: int
    step: int
    ended: bool

    @property
    def name(self) -> str:
        """The file's."""
        end = "-ended" if self.ended else ""
        return f"epoch-{self.epoch:05}-step-{self.step:08}{end}.npz"


class Folder:
    """The checkpoints of one training; made where it is missing. `keep` counts positions."""

    def __init__(self, path: str | os.PathLike[str], keep: int) -> None:
        if "://" in os.fspath(path):
            raise ValueError(
                f"`checkpoint` is a folder of this machine, perhaps a mounted one. Received: {path}"
            )
        self._path = Path(path)
        self._keep = keep
        self._path.mkdir(parents=True, exist_ok=True)
        for file in self._path.glob(f".*{_PARTIAL}"):
            file.unlink(missing_ok=True)

    def newest(self, epochs: int) -> Checkpoint | None:
        """
        Where a training of so many epochs goes on; None for an empty folder.

        What callbacks did at the end counts only where that is the end of this training too.
        """
        places = sorted(self._places(), reverse=True)
        for place in places:
            found = Checkpoint.read(self._path / place.name)
            if not place.ended or found.progress.stopped or epochs <= place.epoch:
                return found
        return None

    def write(self, checkpoint: Checkpoint) -> Path:
        """
        Add it, and remove what is too old; gives the new file.

        The bytes are on the disk before the name is there, so a kill or a power cut at any
        moment leaves either the new file whole or the folder as it was.
        """
        progress: Progress = checkpoint.progress
        file = self._path / Place(progress.epoch, progress.step, progress.ended).name
        partial = self._path / f".{file.name}{_PARTIAL}"
        try:
            with partial.open("wb") as written:
                checkpoint.write(written)
                written.flush()
                os.fsync(written.fileno())
        except OSError:  # a full disk: what is there already is room for somebody
            partial.unlink(missing_ok=True)
            raise
        os.replace(partial, file)
        _sync(self._path)
        self._remove_old()
        return file

    def _places(self) -> list[Place]:
        found = (_NAME.fullmatch(path.name) for path in self._path.iterdir())
        return [Place(int(it[1]), int(it[2]), bool(it[3])) for it in found if it]

    def _remove_old(self) -> None:
        places = self._places()
        kept = sorted({place[:2] for place in places})[-self._keep :]
        for place in places:
            if place[:2] not in kept:
                (self._path / place.name).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Put the folder's own list of names on the disk; Windows cannot, and need not."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
