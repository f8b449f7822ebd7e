"""
Which specs a dataset comes from.

```
StreamDataset, or what came as a graph -> map, batch, zip, ... -> dataset: spec_of walks back
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfstream.graph.errors import raising
from tfstream.spec import DatasetSpec


class GraphDataset(tf.data.Dataset):  # type: ignore[misc]
    """A dataset that came as a graph. `specs` are those of its sources."""

    def __init__(
        self, variant: tf.Tensor, element_spec: Any, specs: tuple[DatasetSpec, ...]
    ) -> None:
        self._elements = element_spec
        self.specs = specs
        super().__init__(variant)

    def _inputs(self) -> list[tf.data.Dataset]:
        return []

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of an element."""
        return self._elements

    def __iter__(self) -> Iterator[Any]:
        return raising(super().__iter__())


def spec_of(dataset: tf.data.Dataset) -> DatasetSpec | None:
    """
    What is streamed in a dataset that was made of a `StreamDataset`, or None.

    ```python
    tfstream.spec_of(train.map(augment).batch(32)) == train.spec
    ```

    Errors:
        ValueError: several specs, such as of a `zip` of two.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError(f"spec_of takes a tf.data.Dataset, got {type(dataset).__name__}")
    found = list(dict.fromkeys(_specs_above(dataset)))
    if len(found) > 1:
        names = ", ".join(sorted(map(_named, found)))
        raise ValueError(f"the dataset has {len(found)} specs: {names}; ask each for its own")
    return found[0] if found else None


def _specs_above(dataset: tf.data.Dataset) -> Iterator[DatasetSpec]:
    """Of all datasets that it was made of, each as often as it was used."""
    left, seen = [dataset], set()
    while left:
        each = left.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        spec = getattr(each, "spec", None)
        if isinstance(spec, DatasetSpec):
            yield spec
        elif isinstance(each, GraphDataset):
            yield from each.specs
        else:
            left += each._inputs()


def _named(spec: DatasetSpec) -> str:
    source, part = spec.source, spec.order.subset or "all"
    return f"{source.url(source.pattern)} ({part}, {spec.digest[:15]}…)"
