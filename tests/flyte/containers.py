"""
A task of flytekit's as a container runs it: `pyflyte-execute`, with literals in files.

```python
Container(jobs, "jobs_v1.count").run(data=literal(spec, DatasetSpec)).output
```
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from flyteidl.core import literals_pb2
from flytekit.core.context_manager import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from flytekit.models.literals import Literal, LiteralMap

from tfstream.flyte.registration import register_flytekit


def literal(value, kind):
    """An input of that type."""
    register_flytekit()
    context = FlyteContextManager.current_context()
    return TypeEngine.to_literal(context, value, kind, TypeEngine.to_literal_type(kind))


class Ended(NamedTuple):
    """
    What became of a task.

    Fields:
        told: What it printed.
        output: None if it was killed or failed.
        error: What Flyte is told, or nothing.
        deck: HTML, or nothing.
    """

    told: str
    output: Literal | None
    error: str
    deck: str


class Container:
    """The attempts of one task, `module.name`, each a process in which nothing can be pickled."""

    def __init__(self, machine, task):
        self._machine, self._task = machine, task.split(".")
        self._folder = machine.folder / f"container-{task}"
        self._attempts = count(1)
        self._folder.mkdir()

    def place(self, number):
        """Where an attempt keeps its checkpoints."""
        return self._folder / "kept" / str(number)

    def run(self, inputs, **variables):
        """The next attempt, told of the place of the one before."""
        number = next(self._attempts)
        out = self._folder / f"out-{number}"
        out.mkdir()
        data = LiteralMap(inputs).to_flyte_idl().SerializeToString()
        (self._folder / "inputs.pb").write_bytes(data)
        before = [] if number == 1 else ["--prev-checkpoint", self.place(number - 1)]
        module, name = self._task
        done = self._machine.run_without_pickle(
            *("pyflyte-execute", "--inputs", self._folder / "inputs.pb", "--output-prefix", out),
            *("--raw-output-data-prefix", out / "raw"),
            *("--checkpoint-path", self.place(number), *before),
            *("--resolver", "flytekit.core.python_auto_container.default_task_resolver", "--"),
            *("task-module", module, "task-name", name),
            fails="KILL_AFTER" in variables,
            **variables,
        )
        assert done.returncode in (0, -9), done.stderr
        return Ended(done.stdout, _output(out), _text(out / "error.pb"), _text(out / "deck.html"))


def _output(folder):
    file = folder / "outputs.pb"
    if not file.exists():
        return None
    found = literals_pb2.LiteralMap.FromString(file.read_bytes())
    return LiteralMap.from_flyte_idl(found).literals["o0"]


def _text(file):
    return file.read_bytes().decode("utf-8", "replace") if file.exists() else ""
