"""A `TrainingCheckpoint`'s variables, read and written by what `tfstream.keras.fit` uses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tfstream.errors import CheckpointError
from tfstream.keras import state as keras_state

if TYPE_CHECKING:
    from tfstream.flyte.checkpoints import TrainingCheckpoint
    from tfstream.keras.checkpoint import State


def state_of(checkpoint: TrainingCheckpoint) -> State:
    """
    The values now; of a model that came from another task, those that came.

    Errors:
        CheckpointError: the model has no variables yet.
    """
    model: Any = checkpoint.model
    optimizer = checkpoint.optimizer
    if not hasattr(model, "variables"):
        return _some(model=model, optimizer=optimizer or (), metrics=checkpoint.sums)
    if not model.variables:
        raise CheckpointError(
            f"the model {model.name} has no weights yet: give it an Input, or call it once"
        )
    trained = _trained(model, optimizer if hasattr(optimizer, "variables") else None)
    _complete(trained.optimizer, model)
    return _some(**keras_state.state_of(trained, metrics=checkpoint.step > 0))


def restore(checkpoint: TrainingCheckpoint, model: Any, data: Any, optimizer: Any) -> None:
    """As `TrainingCheckpoint.restore` says."""
    state, trained = dict(checkpoint.state()), _trained(model, optimizer)
    if data is not None and trained is model:
        keras_state.build(model, data)
    else:
        state.pop("metrics", None)
        _complete(trained.optimizer, model)
    if trained.optimizer is None and "optimizer" in state:
        raise CheckpointError(
            "the checkpoint has an optimizer and the model has none: compile it, or pass "
            "restore(model, optimizer=…)"
        )
    keras_state.restore(trained, state)


def _trained(model: Any, optimizer: Any) -> Any:
    """What `keras.state` looks at: the model, or a training loop's parts as if they were one."""
    if optimizer is None and model.compiled:
        return model
    return SimpleNamespace(variables=model.variables, optimizer=optimizer, metrics_variables=[])


def _complete(optimizer: Any, model: Any) -> None:
    """Make the variables that an optimizer makes in its first step."""
    if optimizer is not None and not optimizer.built:
        optimizer.build(model.trainable_variables)


def _some(**state: Any) -> State:
    return {kind: variables for kind, variables in state.items() if variables}
