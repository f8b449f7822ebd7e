"""
All that training changes in a model, out of it and into it again.

```
model       weights, moving means, the states of seed generators (Dropout, random layers)
optimizer   of the model, and of its other attributes; learning rate and iterations too
metrics     the running sums of the epoch
```

Keras makes many of these variables in the first step only; `build` makes them before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tfstream.errors import CheckpointError
from tfstream.keras.checkpoint import State, Variable


def build(model: keras.Model, data: tf.data.Dataset) -> None:
    """
    Make every variable that a step of training uses, by tracing one and running none.

    An eager model cannot be traced, so it takes one step: to be restored after.
    """
    if model.run_eagerly:
        model.distribute_strategy.run(model.train_step, args=(next(iter(data)),))
        return

    def step(batch: Any) -> None:
        model.distribute_strategy.run(model.train_step, args=(batch,))

    tf.function(step, autograph=False).get_concrete_function(data.element_spec)


def state_of(model: keras.Model, *, metrics: bool) -> State:
    """The values now; with the metrics' running sums or without."""
    groups = _groups(model)
    if not metrics:
        del groups["metrics"]
    return {
        kind: [Variable(each.path, str(each.dtype), each.numpy()) for each in variables]
        for kind, variables in groups.items()
    }


def restore(model: keras.Model, state: State) -> None:
    """
    Give a built model the values of `state`; where it has no metrics, they stay.

    Errors:
        CheckpointError: it is of another model; nothing was changed.
    """
    groups = _groups(model)
    for kind, saved in state.items():
        _check(kind, saved, groups[kind])
    for kind, saved in state.items():
        for there, variable in zip(saved, groups[kind], strict=True):
            value = there.value
            if value.dtype.kind == "V":  # raw bytes of a dtype that NumPy lacks
                value = value.view(tf.as_dtype(there.dtype).as_numpy_dtype)
            variable.assign(value)


def _groups(model: keras.Model) -> dict[str, list[Any]]:
    attributes = {id(it): it for it in vars(model).values() if _is_optimizer(it)}
    optimizers = {id(model.optimizer): model.optimizer, **attributes}
    return {
        "model": list(model.variables),
        "optimizer": [each for it in optimizers.values() if it for each in it.variables],
        "metrics": list(model.metrics_variables),
    }


def _is_optimizer(value: Any) -> bool:
    return isinstance(value, keras.optimizers.Optimizer)


def _check(kind: str, saved: Sequence[Variable], variables: Sequence[Any]) -> None:
    for there, here in zip(saved, variables, strict=False):
        old = (_unnumbered(there.name), there.dtype, there.value.shape)
        new = (_unnumbered(here.path), str(here.dtype), tuple(here.shape))
        if old != new:
            raise CheckpointError(
                f"another model: {there.name} is {there.dtype} {list(there.value.shape)} in the "
                f"checkpoint, and {here.path} {here.dtype} {list(here.shape)} stands in its place; "
                "go on with the model that was saved, or use an empty folder"
            )
    if len(saved) != len(variables):
        longer = [*(it.name for it in saved), *(it.path for it in variables)][-1]
        raise CheckpointError(
            f"another model: the checkpoint has {len(saved)} variables of its {kind}, and the "
            f"model {len(variables)}, up to {longer}; go on with the model that was saved, or use "
            "an empty folder"
        )


def _unnumbered(path: str) -> str:
    """Without the numbers by which Keras tells the models of a process apart: dense_1 is dense."""
    return re.sub(r"_\d+(?=/|_|$)", "", path)
