"""
`TrainingCheckpoint`: what one task hands another so that a training goes on there.

```python
@task
def begin(data: tf.data.Dataset, hp: HyperParameters) -> TrainingCheckpoint:
    ...
    return TrainingCheckpoint(model=model, data=data, epoch=3, step=120, hyperparameters=hp)

@task
def go_on(start: TrainingCheckpoint) -> float:
    data = start.dataset()          # its next element is the first that `begin` did not train on
    start.restore(model, data)
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tfstream.checks import whole
from tfstream.errors import SpecError
from tfstream.flyte.hyperparameters import plain
from tfstream.spec import DatasetSpec, Position
from tfstream.spec.difference import differences

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

    from tfstream.dataset import StreamDataset
    from tfstream.keras.checkpoint import State, Variable


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingCheckpoint:
    """
    A training as it is now; a file without pickle, which is read on any machine.

    Give it the model itself, and its weights when the task returns are passed. What another
    task gets has the weights in place of the model, and `restore` puts them into one.

    Attributes:
        model: A Keras model, or its weights.
        optimizer: One that the model was not compiled with, or its state. A compiled model
            brings its own.
        hyperparameters: A dict, NamedTuple or dataclass, of what JSON can hold; a dict from then
            on.
        epoch: The one that runs, or comes next; from 0.
        step: How many of its steps are done.
        loss: The last one.
        metrics: The last values.
        data: The dataset that is trained on, or its spec; wherever it is entered, the
            checkpoint says where it goes on. None if it is not tfstream's.
        sums: The metrics' running sums in a cut epoch. A compiled model brings them.
    """

    model: keras.Model | Sequence[Variable]
    optimizer: keras.optimizers.Optimizer | Sequence[Variable] | None = None
    hyperparameters: Any = None
    epoch: int = 0
    step: int = 0
    loss: float | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    data: StreamDataset | DatasetSpec | None = None
    sums: Sequence[Variable] = ()

    def __post_init__(self) -> None:
        for name in ("epoch", "step"):
            object.__setattr__(self, name, whole(name, getattr(self, name), least=0))
        for name in ("hyperparameters", "metrics"):
            object.__setattr__(self, name, plain(name, getattr(self, name)))
        object.__setattr__(self, "loss", None if self.loss is None else float(self.loss))
        object.__setattr__(self, "data", _as_it_begins(self.data))

    @property
    def spec(self) -> DatasetSpec | None:
        """Of the data as it begins; its `digest` and `to_json()` say what it is."""
        assert self.data is None or isinstance(self.data, DatasetSpec)  # since __post_init__
        return self.data

    @property
    def position(self) -> Position | None:
        """Where the data goes on, for any number of workers."""
        if self.spec is None:
            return None
        return Position(epoch=self.epoch, record=self.step * _step_records(self.spec))

    def dataset(self, data: StreamDataset | None = None) -> StreamDataset:
        """
        The data, entered at the next example: at once, without reading what came before.

        Args:
            data: The same, as this process has opened it, with other credentials, options or
                workers; else it is opened from its spec.

        Errors:
            SpecError: `data` is another dataset; the text says what differs.
        """
        from tfstream.api import load

        if data is None:
            return load(self._known(), position=self.position)
        return data.at(epoch=self.epoch, step=self.counted_by(data).step)

    def counted_by(self, data: StreamDataset) -> TrainingCheckpoint:
        """
        The same place in the steps of `data`, the same dataset with other workers perhaps.

        Errors:
            SpecError: it is another dataset; the text says what differs. Or the place is inside
                a step of so many workers.
        """
        spec, new = self._known(), _as_it_begins(data)
        assert new is not None
        if spec.digest != new.digest:
            differ = "; ".join(differences(_of_all(spec), _of_all(new)))
            raise SpecError(
                f"the checkpoint is of other data: {differ}. Make the dataset as it was, or go on "
                "with this one by checkpoint.moved_to(dataset)"
            )
        together, taken = _step_records(spec), _step_records(new)
        step, rest = divmod(self.step * together, taken)
        if rest:
            raise SpecError(
                f"step {self.step} of {together} records is inside one of {taken}: go on with as "
                "many workers as before, or from the end of an epoch"
            )
        return replace(self, data=new, step=step)

    def restore(
        self,
        model: keras.Model,
        data: tf.data.Dataset | None = None,
        *,
        optimizer: keras.optimizers.Optimizer | None = None,
    ) -> None:
        """
        Give a model these weights, and the optimizer its state.

        Args:
            model: As it was; compiled, unless `optimizer` is given.
            data: What it will be trained on, to make the variables that the first step makes.
                With it the metrics' running sums are restored too. Without, the model must
                be built.
            optimizer: The training loop's own.

        Errors:
            CheckpointError: it is another model; nothing was changed.
        """
        from tfstream.flyte.checkpoint_state import restore

        restore(self, model, data, optimizer)

    def moved_to(self, data: StreamDataset | DatasetSpec | None) -> TrainingCheckpoint:
        """
        Go on with other data, which is refused otherwise, at the beginning of the epoch.

        A position means nothing in another order; weights and optimizer go on.
        """
        return replace(self, data=data, step=0, sums=())

    def state(self) -> State:
        """The variables' values now: of `model`, `optimizer`, `metrics`, as far as there are."""
        from tfstream.flyte.checkpoint_state import state_of

        return state_of(self)

    def _known(self) -> DatasetSpec:
        if self.spec is None:
            raise SpecError("the checkpoint was made without `data`, so it has no position")
        return self.spec


def _step_records(spec: DatasetSpec) -> int:
    """How many all workers take in a step."""
    return (spec.batch_size or 1) * (spec.shard.num_shards if spec.shard else 1)


def _of_all(spec: DatasetSpec) -> DatasetSpec:
    """Without the part of one worker, which may change."""
    return spec.replace(shard=None)


def _as_it_begins(data: StreamDataset | DatasetSpec | None) -> DatasetSpec | None:
    if data is None:
        return None
    spec = data if isinstance(data, DatasetSpec) else getattr(data, "spec", None)
    if not isinstance(spec, DatasetSpec):
        raise ValueError(
            "`data` is what tfstream made, before other stages, or its spec; leave it out for data "
            f"of another kind. Received: {type(data).__name__}"
        )
    return spec.replace(start=None)
