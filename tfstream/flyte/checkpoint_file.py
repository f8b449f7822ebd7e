"""
A `TrainingCheckpoint` as a file: one of `tfstream.keras.fit`'s, which says more.

```
checkpoint.json, model/0.npy, …     as in tfstream/keras/checkpoint.py
    "more": {"hyperparameters": {…}, "metrics": {…}, "loss": …,
             "digest": "sha256:…", "position": {"epoch": 3, "record": …}}
```

So the file in the folder of a `fit` is where that training goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tfstream.errors import CheckpointError
from tfstream.flyte.checkpoints import TrainingCheckpoint
from tfstream.keras.checkpoint import Checkpoint, Progress
from tfstream.spec import DatasetSpec

_UNKNOWN = 0
"""The steps of an epoch, where nobody asks for them."""


def write(value: TrainingCheckpoint, path: Path) -> None:
    """Into a new file; the values are those of this moment."""
    with path.open("wb") as file:
        as_keras(value).write(file)


def read(path: Path) -> TrainingCheckpoint:
    """
    With weights in place of the model. No GPU is needed, no Keras and no TensorFlow.

    Errors:
        CheckpointError: damaged, of a newer version, or its spec is not the one it was written
            with.
    """
    return from_keras(Checkpoint.read(path), path.name)


def shown(value: TrainingCheckpoint) -> str:
    """How far it is, and of what."""
    of = value.spec.digest if value.spec else "other data"
    told = {"loss": value.loss, **value.metrics, **value.hyperparameters}
    return f"epoch {value.epoch}, step {value.step} of {of}: {told}"


def as_keras(value: TrainingCheckpoint, steps: int = _UNKNOWN) -> Checkpoint:
    """As `fit` knows it, for epochs of so many steps."""
    return Checkpoint(
        progress=Progress(epoch=value.epoch, step=value.step, steps=steps),
        spec=value.spec.to_json() if value.spec else "null",
        state=value.state(),
        more={
            "hyperparameters": value.hyperparameters,
            "loss": value.loss,
            "metrics": value.metrics,
            **_identity(value),
        },
    )


def from_keras(saved: Checkpoint, name: str) -> TrainingCheckpoint:
    """The other way; `name` is its file's. One that `fit` has saved has no `more`."""
    more = dict(saved.more)
    written = {key: more.pop(key) for key in ("digest", "position") if key in more}
    found = TrainingCheckpoint(
        model=saved.state.get("model", ()),
        optimizer=saved.state.get("optimizer"),
        sums=saved.state.get("metrics", ()),
        epoch=saved.progress.epoch,
        step=saved.progress.step,
        data=None if saved.spec == "null" else DatasetSpec.from_json(saved.spec),
        **more,
    )
    if written and written != _identity(found):
        raise CheckpointError(
            f"{name} was written for {written}, but its spec is {_identity(found)}: it was "
            f"changed, or its tfstream counts in another way: {saved.versions}",
            path=name,
        )
    return found


def _identity(value: TrainingCheckpoint) -> Mapping[str, Any]:
    """Of the data, and where it goes on: for readers that have no tfstream, and as a check."""
    spec, position = value.spec, value.position
    return {
        "digest": spec.digest if spec else None,
        "position": asdict(position) if position else None,
    }
