"""
`TFDataset`: how a task's dataset is passed, where its author wants another way than the default.

```
Annotated[tf.data.Dataset, TFDataset(mode="save")]
Annotated[tf.data.Dataset, TFDataset(preview=16)]
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from tfstream.checks import whole

Mode = Literal["describe", "save", "snapshot"]

MOST_PICTURES = 64
"""On a contact sheet. Of 96 pixels they are well below a megabyte together."""


@dataclass(frozen=True, kw_only=True)
class TFDataset:
    """
    How an output of type `tf.data.Dataset` is passed on, and what a Deck shows of it.

    ```python
    @task
    def resize() -> Annotated[tf.data.Dataset, TFDataset(mode="save")]: ...
    ```

    Attributes:
        mode: `describe` passes the spec or the graph, and reads nothing. `save` reads all of
            it once and passes its elements, as `tf.data.Dataset.save` writes them. `snapshot`
            passes the graph together with the elements, as `tf.data.Dataset.snapshot` writes
            them. Both write an epoch: every epoch of the reader has the same elements.
        preview: How many of the first pictures flytekit's Deck shows, small; also for an input
            and for a `DatasetSpec`. They are read for it, so by default there are none.
    """

    mode: Mode = "describe"
    preview: int = 0

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(f"`mode` must be one of {get_args(Mode)}. Received: {self.mode!r}")
        whole("preview", self.preview, least=0, most=MOST_PICTURES)

    def to_html(self, python_val: Any) -> str:
        """What flytekit asks an annotation for, in place of the transformer."""
        from tfstream.flyte.deck import dataset_html

        return dataset_html(python_val, self.preview)


def annotation_of(kind: Any) -> TFDataset:
    """The one in an annotated type; other annotations are somebody else's."""
    if get_origin(kind) is Annotated:
        for each in get_args(kind)[1:]:
            if isinstance(each, TFDataset):
                return each
    return TFDataset()


def class_of(kind: Any) -> Any:
    """The type without its annotations."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind
