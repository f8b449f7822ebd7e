"""What every kind of labels is, and what labelling gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:  # a spec needs no NumPy
    import numpy as np

    Column = np.ndarray[Any, np.dtype[Any]]


class Labelled(NamedTuple):
    """
    Labels for a sequence of keys.

    Fields:
        values: One number a key, in the order of the keys: the class's place in
            `class_names`, or -1 for a key that has no place in the dataset. Or an array:
            float32, numbers to predict; uint8 [keys, classes], which classes a key has.
        class_names: In order; None for numbers to predict.
        left_out: Why keys have -1, for the count in `stats()`.
    """

    values: Sequence[int] | Column
    class_names: tuple[str, ...] | None
    left_out: str = ""

    @property
    def column(self) -> Column:
        """The values as an array: classes as int32."""
        import numpy as np

        if isinstance(self.values, np.ndarray):
            return self.values
        return np.asarray(self.values, np.int32)


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Where a record's label comes from. Subclasses are frozen dataclasses with a `name`."""

    name: ClassVar[str]
    by_class: ClassVar[bool] = False
    """Whether the record order goes class by class, as Keras has it."""

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        """Label `keys`, which are sorted bytewise and all start with `prefix`."""
        raise NotImplementedError
