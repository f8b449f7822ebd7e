"""`MetadataLabels`: the label is in the object's metadata, as lakeFS lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tfstream.checks import shown
from tfstream.labels.values import ValueLabels


@dataclass(frozen=True)  # not all by keyword: the key says enough
class MetadataLabels(ValueLabels):
    """
    One value of each object's user metadata in lakeFS. It comes with the listing.

    ```python
    tfstream.from_lakefs("photos", "main", "img/**", labels=tfstream.MetadataLabels("class"))
    ```

    What is in an archive has the archive's metadata.

    Attributes:
        key: Of the value, exactly as lakeFS shows it.
    """

    name: ClassVar[str] = "metadata"

    key: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.key, str) or not self.key:
            raise ValueError(
                "`key` of MetadataLabels must name a value of the metadata. "
                f"Received: key={shown(self.key)}"
            )

    @property
    def lacking(self) -> str:
        """What an object without the value has not."""
        return f"no metadata {self.key!r}"
