"""
Flyte: pass the description of a dataset between tasks, not the data.

```python
@task
def choose(branch: str) -> DatasetSpec: ...
@task
def train(data: tf.data.Dataset) -> float: ...      # fed by the spec
```

Installed beside flytekit or flyte, tfstream needs no import for this: see `registration`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfstream.flyte.annotation import TFDataset
    from tfstream.flyte.checkpoints import TrainingCheckpoint
    from tfstream.flyte.report import log_dataset
    from tfstream.flyte.retried import fit
    from tfstream.flyte.task_checkpoints import task_checkpoints

__all__ = ["TFDataset", "TrainingCheckpoint", "fit", "log_dataset", "task_checkpoints"]

_MODULES = {
    "annotation": "TFDataset",
    "checkpoints": "TrainingCheckpoint",
    "report": "log_dataset",
    "retried": "fit",
    "task_checkpoints": "task_checkpoints",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tfstream.flyte' has no attribute {name!r}")
    value = getattr(import_module(f"tfstream.flyte.{home}"), name)
    globals()[name] = value
    return value
