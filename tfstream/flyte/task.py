"""
Where the task that runs keeps its own checkpoints, in either SDK.

```
store.files(folder)     what the attempt before this one has saved; none in a first attempt
store.save(file)        in place of what this attempt has saved before
```
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

_SDKS = {"flyte": "tfstream.flyte.task_v2", "flytekit": "tfstream.flyte.task_v1"}
"""The first has a context of a task only if it runs one; it may be imported beside the second."""


class Store(Protocol):
    """A task's own checkpoints."""

    def files(self, folder: Path) -> Sequence[Path]:
        """
        What is there, downloaded; an empty folder is given for it. One may be cut by a kill.

        Empty in a first attempt, and where the attempt before ended before it saved.
        """
        ...

    def save(self, file: Path) -> None:
        """Upload it."""
        ...


def store_of_task() -> Store | None:
    """None outside of a task, and where Flyte gives it no place."""
    for package, home in _SDKS.items():
        if package in sys.modules:
            store = import_module(home).store_of_task()
            if store is not None:
                return cast(Store, store)
    return None
