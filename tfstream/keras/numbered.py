"""
From a position of the training to the dataset that goes on there.

```
training:  epoch, step        steps_per_epoch long, as Keras counts
stream:    epoch, step        as long as the dataset is; both are the same unless
                              `steps_per_epoch` was given
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from tfstream.dataset import StreamDataset
from tfstream.spec import Position

Transform = Callable[[tf.data.Dataset], tf.data.Dataset]


@dataclass(frozen=True)
class NumberedEpochs:
    """
    The epochs of a training as parts of one numbered stream.

    Attributes:
        dataset: Entered nowhere yet.
        transform: What comes after it, element by element.
        length: Its steps in an epoch of its own.
        steps: Those of an epoch of the training.
    """

    dataset: StreamDataset
    transform: Transform | None
    length: int
    steps: int

    @classmethod
    def of(
        cls, dataset: StreamDataset, transform: Transform | None, steps: int | None
    ) -> NumberedEpochs:
        """
        `steps` as in `model.fit(steps_per_epoch=)`.

        Errors:
            ValueError: it is entered in the middle, or nobody knows how long it is.
        """
        start = dataset.spec.start
        if start not in (None, Position()):
            raise ValueError(
                f"the dataset is entered at {start}: pass it as it begins, with `initial_epoch`; "
                "fit itself enters it where the checkpoint says"
            )
        if dataset._epochs != 0:
            raise ValueError(
                "the dataset has its number of epochs already: pass it without `.epochs()`, and "
                "`epochs=` to fit, which numbers them"
            )
        once = dataset.epochs(1)
        if once.cardinality() < 0:
            raise ValueError(
                "nobody knows how many steps an epoch has when bad records are left out one by "
                'one: make batches (batch_size=32), or use on_error="substitute"'
            )
        return cls(dataset, transform, len(once), steps or len(once))

    def part(self, epoch: int, step: int, until: int) -> tf.data.Dataset:
        """
        From a step of an epoch to the beginning of the epoch `until`; at least some epoch.

        Errors:
            ValueError: `transform` gives more or fewer elements than it gets.
        """
        first = epoch * self.steps + step
        at, within = divmod(first, self.length)
        epochs = -(-(within + until * self.steps - first) // self.length)
        data = self.dataset.at(epoch=at, step=within).epochs(max(epochs, 1))
        return data if self.transform is None else self._transformed(data)

    def _transformed(self, data: StreamDataset) -> tf.data.Dataset:
        assert self.transform is not None
        result = self.transform(data)
        if not isinstance(result, tf.data.Dataset):
            raise ValueError(f"`transform` must return a dataset. It returned: {result!r}")
        had, has = int(data.cardinality()), int(result.cardinality())
        if had != has:
            raise ValueError(
                f"`transform` makes {has if has >= 0 else 'an unknown number of'} elements of "
                f"{had}, so that nobody could say where to go on: use only stages that keep their "
                "number, such as map, and make batches with the dataset's own batch_size"
            )
        return result
