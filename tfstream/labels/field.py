"""`FieldLabels`: the label is another field of the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tfstream.checks import shown
from tfstream.labels.values import ValueLabels


@dataclass(frozen=True)  # not all by keyword: the field says enough
class FieldLabels(ValueLabels):
    """
    What a field of each record says, in archives whose records have several.

    ```python
    tfstream.from_url("shards/*.tar", labels=tfstream.FieldLabels("json.class"))
    tfstream.from_url("*.tfrecord", labels=tfstream.FieldLabels("image/class/label"))
    ```

    It is read once, when the dataset is made.

    Attributes:
        field: In a tar what follows the first dot of a file's name, `cls` or `txt`, and
            `json.class` for the value of `class` in `x.json`; in a TFRecord a field of the
            `tf.train.Example`.
    """

    name: ClassVar[str] = "field"

    field: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.field, str) or not self.field:
            raise ValueError(
                f"`field` of FieldLabels must be a name, such as 'cls'. Received: "
                f"{shown(self.field)}"
            )

    @property
    def lacking(self) -> str:
        """What a record without the field has not."""
        return f"no field {self.field!r}"
