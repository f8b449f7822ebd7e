"""
What is passed as one file, which Flyte stores and hands on by its address.

```
value -> write -> file -> the SDK uploads, passes the address, downloads -> file -> read -> value
```

The format is the literal's, and the same in both SDKs. How a file is written is in the module
that `home` names: functions `write(value, path)`, `read(path)` and `shown(value)`, a line for
people. It is loaded when a value is passed, since it may need TensorFlow.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple


class Blob(NamedTuple):
    """
    How values of one type are passed.

    Fields:
        name: Of the transformer. It is in the literals of unions, so it never changes.
        format: Of the literal. It is in the interfaces of registered tasks, so it never changes.
        suffix: Of the file.
        home: The module that writes and reads it.
    """

    name: str
    format: str
    suffix: str
    home: str

    def write(self, value: Any, path: Path) -> None:
        """Into a new file."""
        import_module(self.home).write(value, path)

    def read(self, path: Path) -> Any:
        """What `write` was given, or as much of it as can leave a process."""
        return import_module(self.home).read(path)

    def shown(self, value: Any) -> str:
        """A line about it, which is not escaped."""
        return str(import_module(self.home).shown(value))

    def told_apart(self, form: str) -> str:
        """The error for a literal of another format."""
        return f"this is a {form or 'literal that is no file'}, and {self.format} is expected"


_TENSORS = "tfstream.flyte.tensors"
_BLOBS = {
    "Tensor": Blob("tfstream.Tensor", "TensorFlowTensor", ".tfrecord", _TENSORS),
    "RaggedTensor": Blob("tfstream.RaggedTensor", "TensorFlowRaggedTensor", ".tfrecord", _TENSORS),
    "SparseTensor": Blob("tfstream.SparseTensor", "TensorFlowSparseTensor", ".tfrecord", _TENSORS),
    # flytekit passes models by itself, as this format too
    "Model": Blob("tfstream.Model", "TensorFlowModel", ".keras", "tfstream.flyte.models"),
    "TrainingCheckpoint": Blob(
        "tfstream.TrainingCheckpoint",
        "TensorFlowTrainingCheckpoint",
        ".npz",
        "tfstream.flyte.checkpoint_file",
    ),
}


def blob_of(kind: type) -> Blob:
    """For a type of `registration.TYPES`."""
    return _BLOBS[kind.__name__]
