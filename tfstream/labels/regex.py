"""`RegexLabels`: the label is a part of the key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tfstream.checks import shown
from tfstream.labels.base import Labelled
from tfstream.labels.values import ValueLabels


@dataclass(frozen=True)  # not all by keyword: the pattern says enough
class RegexLabels(ValueLabels):
    r"""
    What a regular expression finds in the key.

    ```python
    tfstream.from_url("photos", labels=tfstream.RegexLabels(r"(?P<label>[a-z]+)_\d+\.jpg$"))
    ```

    It is searched, with `re.search`, in the key after what comes before the source's wildcards.
    A pattern whose time explodes, such as `(a+)+$`, takes that time for each key.

    Attributes:
        pattern: With the group `label`, or else its first group is the label.
    """

    name: ClassVar[str] = "regex"

    pattern: str

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            groups = re.compile(self.pattern).groups
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"`pattern` of RegexLabels is no regular expression: {error}. "
                f"Received: pattern={shown(self.pattern)}"
            ) from None
        if not groups:
            raise ValueError(
                "`pattern` of RegexLabels must have a group that is the label, such as "
                rf"'([a-z]+)_\d+'. Received: pattern={shown(self.pattern)}"
            )

    @property
    def lacking(self) -> str:
        """What a key that does not match has not."""
        return f"nothing that {self.pattern!r} finds"

    def values(self, keys: Sequence[str], *, prefix: str) -> list[str | None]:
        """The group in each key, or None."""
        compiled = re.compile(self.pattern)
        group = "label" if "label" in compiled.groupindex else 1
        found = (compiled.search(key[len(prefix) :]) for key in keys)
        return [None if match is None else match[group] for match in found]

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        """Label keys that all match."""
        return self.labelled(self.values(keys, prefix=prefix), keys, class_names)
