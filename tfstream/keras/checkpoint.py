"""
What a training checkpoint is: one file, a zip without compression that `numpy.load` reads too.

```
checkpoint.json         how far, History, the dataset's spec, versions, and what each array is
model/0.npy, …          in the order of the model's variables
optimizer/0.npy, …
metrics/0.npy, …        only inside an epoch: Keras resets them at its beginning
```

No pickle is written or read. The zip has a checksum of each part.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tfstream
from tfstream.errors import CheckpointError

_VERSION = 1
_HEAD = "checkpoint.json"
_PACKAGES = ("keras", "tensorflow", "tensorflow-cpu")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, NotImplementedError),
    *(KeyError, TypeError, ValueError, EOFError, OSError, MemoryError),
)
"""What reading raises for a file that is cut, damaged or something else."""


class Variable(NamedTuple):
    """One variable's value; NumPy stores a dtype that it lacks, such as bfloat16, as raw bytes."""

    name: str
    dtype: str
    value: NDArray[Any]


State = Mapping[str, Sequence[Variable]]
"""By kind: model, optimizer, metrics."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """
    How far a training is.

    Attributes:
        epoch: The one that runs, or comes next; from 0.
        step: How many of its steps are done.
        steps: How many an epoch has.
        stopped: A callback has ended the training.
        ended: `on_train_end` is over, and may have changed the weights.
        epochs: As in `History.epoch`.
        history: As in `History.history`.
    """

    epoch: int
    step: int
    steps: int
    stopped: bool = False
    ended: bool = False
    epochs: Sequence[int] = ()
    history: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def installed() -> dict[str, str]:
    """Versions, for people; without importing any of them."""
    found = {"tfstream": tfstream.__version__}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """
    All that a training needs to go on.

    Attributes:
        progress: How far it is.
        spec: The JSON of the dataset's; `null` for data of another kind.
        state: The variables' values.
        versions: That wrote it, for people.
        more: What else its writer wants to say, of JSON's types.
    """

    progress: Progress
    spec: str
    state: State
    versions: Mapping[str, str] = field(default_factory=installed)
    more: Mapping[str, Any] = field(default_factory=dict)

    def write(self, file: IO[bytes]) -> None:
        """Into an open, empty file."""
        head = {
            "tfstream_checkpoint": _VERSION,
            "progress": asdict(self.progress),
            "spec": json.loads(self.spec),
            "versions": dict(self.versions),
            "more": dict(self.more),
            "variables": {
                kind: [[each.name, each.dtype] for each in variables]
                for kind, variables in self.state.items()
            },
        }
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_HEAD, json.dumps(head, indent=1, default=_plain))
            for kind, variables in self.state.items():
                for number, variable in enumerate(variables):
                    with archive.open(_member(kind, number), "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, variable.value, allow_pickle=False)

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """
        From a file.

        Errors:
            CheckpointError: it is damaged, or of a newer version.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                head = json.loads(archive.read(_HEAD))
                number = head["tfstream_checkpoint"]
                if number == _VERSION:
                    return cls._of(head, archive)
        except _BROKEN as error:
            raise CheckpointError(
                f"cannot read the checkpoint {path}: {error}; if it is damaged, delete it to go on "
                "from the one before",
                path=str(path),
            ) from error
        raise CheckpointError(
            f"{path} is of version {number}, and this tfstream knows {_VERSION}: it was written "
            f"by {head['versions']}",
            path=str(path),
        )

    @classmethod
    def _of(cls, head: Mapping[str, Any], archive: zipfile.ZipFile) -> Checkpoint:
        state = {
            kind: [
                Variable(name, dtype, _array(archive, _member(kind, number)))
                for number, (name, dtype) in enumerate(variables)
            ]
            for kind, variables in head["variables"].items()
        }
        return cls(
            progress=Progress(**head["progress"]),
            spec=json.dumps(head["spec"]),
            state=state,
            versions=head["versions"],
            more=head["more"],
        )


def _member(kind: str, number: int) -> str:
    return f"{kind}/{number}.npy"


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _plain(value: Any) -> Any:
    """What a metric gives that is no number, such as a tensor with a value for each class."""
    return np.asarray(value).tolist()
