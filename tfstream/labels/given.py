"""Labels that the user gives as a list or a mapping. They are part of the spec, so they are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tfstream.checks import shown
from tfstream.labels.base import Labelled, Labels

MOST = 10_000
"""A spec is read by people and travels with every task: more labels belong in an object."""


@dataclass(frozen=True, kw_only=True)
class ListLabels(Labels):
    """
    One integer for each record, in record order: bytewise by key.

    Attributes:
        values: As many as there are records.
    """

    name: ClassVar[str] = "list"
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        _few(len(self.values))

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        if len(self.values) != len(keys):
            raise ValueError(
                "Expected the lengths of `labels` to match the number of files. len(labels) is "
                f"{len(self.values)} while we found {len(keys)} files"
            )
        return Labelled(self.values, _names(self.values))


@dataclass(frozen=True, kw_only=True)
class MappingLabels(Labels):
    """
    An integer for each key.

    Attributes:
        values: Whole keys, as `file_paths` and the store have them, to labels.
    """

    name: ClassVar[str] = "mapping"
    values: Mapping[str, int]

    def __post_init__(self) -> None:
        _few(len(self.values))

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        missing = [key for key in keys if key not in self.values]
        if missing:
            raise ValueError(
                f"`labels` has no entry for {len(missing)} of {len(keys)} files, such as "
                f"{missing[0]!r}"
            )
        extra = self.values.keys() - set(keys)
        if extra:
            raise ValueError(
                f"`labels` has {len(extra)} entries that match no file, such as {min(extra)!r}"
            )
        values = [self.values[key] for key in keys]
        return Labelled(values, _names(values))


_MOST_VALUE = 2**31 - 1
"""Labels are int32."""


def _few(count: int) -> None:
    if count > MOST:
        raise ValueError(
            f"labels= holds {count:,} entries, more than {MOST:,}, and would make every spec as "
            "large: put the images into class folders instead"
        )


def _names(values: Sequence[int]) -> tuple[str, ...]:
    bad = [value for value in values if not 0 <= value <= _MOST_VALUE]
    if bad:
        raise ValueError(
            f"`labels` must be integers from 0 to 2,147,483,647. Received: {shown(bad[0])}"
        )
    return tuple(str(value) for value in sorted(set(values)))
