"""
From a value for each record to its label.

```
cat, dog, cat      texts            int32      0, 1, 0              class_names cat, dog
3, 0, 3            whole numbers    int32      3, 0, 3              class_names 0, 1, 2, 3
0.5, 2, -1         numbers          float32    0.5, 2.0, -1.0       no classes: regression
[a, b], [], [b]    lists of either  uint8      [1,1] [0,0] [0,1]    class_names a, b
```
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tfstream.checks import one_of, shown, some
from tfstream.labels.base import Labelled, Labels

ValueKind = Literal["auto", "class", "number"]

_MOST_CLASSES = 30_000
"""Their names stand in every spec, with 10 bytes each. ImageNet has 21,841."""
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""No number begins with a zero too many: `007` is a name."""
_LEFT_OUT = "not of a class of class_names"


@dataclass(frozen=True, kw_only=True)
class ValueLabels(Labels):
    """
    Labels that are made of a value for each record.

    Attributes:
        kind: What values are. `class`: names of classes, numbers too. `number`: numbers to
            predict, whole ones too. `auto`: texts are names of classes, whole numbers are
            classes from 0 on, other numbers are to be predicted; where all values are texts,
            as in a csv file, they count as numbers if all are written as numbers.
    """

    kind: ValueKind = "auto"

    def __post_init__(self) -> None:
        one_of("kind", self.kind, get_args(ValueKind))

    @property
    def lacking(self) -> str:
        """What a record without a value has not, for the error that names it."""
        raise NotImplementedError

    @property
    def from_text(self) -> bool:
        """Whether values are texts where they come from, so that some may mean numbers."""
        return True

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes in their order, where no value is needed to know them; else none."""
        return ()

    def labelled(
        self, values: Sequence[Any], keys: Sequence[str], class_names: Sequence[str] | None
    ) -> Labelled:
        """
        A label for each value. `keys` name them in errors.

        Errors:
            ValueError: values of several kinds, or that are no labels; or `class_names` that
                do not fit.
        """
        if self.kind == "auto" and self.from_text:
            values = read(values)
        values = [self._cast(value, key) for value, key in zip(values, keys, strict=True)]
        kind = _kind_of_all(values, keys)
        if kind == "list":
            return _sets(values, keys, class_names, self.classes)
        if kind == "number":
            return _numbers(values, keys, class_names)
        names = _names(values, class_names)
        if kind == "whole number":
            return Labelled(values, names)
        places = {name: place for place, name in enumerate(names)}
        found = [places.get(value, -1) for value in values]
        return Labelled(found, names, _LEFT_OUT)

    def _cast(self, value: Any, key: str) -> Any:
        if isinstance(value, (list, tuple)):
            if self.kind == "number":
                raise ValueError(f'{key!r} has several labels, {shown(value)}: kind="number"')
            return [self._cast(each, key) for each in value]
        if isinstance(value, bool) or (self.kind == "class" and isinstance(value, (int, float))):
            value = str(value)
        if self.kind == "number" and isinstance(value, (int, str)):
            try:
                return float(value)
            except (ValueError, OverflowError):
                raise ValueError(f"the label of {key!r} is no number: {shown(value)}") from None
        return value


def is_missing(value: Any) -> bool:
    """Whether there is no value: none at all, an empty text, or not a number."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def read(values: Sequence[Any]) -> Sequence[Any]:
    """Texts, or lists of them, as numbers, if all are written as such; else as they are."""
    texts = list(_items(values))
    if not texts or not all(isinstance(text, str) for text in texts):
        return values
    for pattern, made in ((_WHOLE, int), (_NUMBER, float)):
        if all(pattern.fullmatch(text) for text in texts):
            return [
                [made(each) for each in value] if isinstance(value, list) else made(value)
                for value in values
            ]
    return values


def _items(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def _kind_of(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "list"
    kinds = {str: "text", int: "whole number", float: "number"}
    return kinds.get(type(value), type(value).__name__)


def _kind_of_all(values: Sequence[Any], keys: Sequence[str]) -> str:
    """One kind; whole numbers among others are numbers."""
    first: dict[str, int] = {}
    for place, value in enumerate(values):
        first.setdefault(_kind_of(value), place)
    if first.keys() == {"number", "whole number"}:
        return "number"
    kinds = ("text", "whole number", "number", "list")
    if len(first) > 1 or not first.keys() <= set(kinds):
        named = (f"{keys[at]!r} has {shown(values[at])}" for at in list(first.values())[:2])
        what = "of several kinds" if len(first) > 1 else f"neither of {', '.join(kinds)}"
        raise ValueError(f"the labels are {what}: {'; '.join(named)}")
    return next(iter(first))


def _numbers(
    values: Sequence[Any], keys: Sequence[str], class_names: Sequence[str] | None
) -> Labelled:
    import numpy as np

    if class_names is not None:
        raise ValueError(
            "`class_names` is for classes, but the labels are numbers, such as "
            f'{values[0]} of {keys[0]!r}. kind="class" makes their texts names of classes'
        )
    with np.errstate(over="ignore"):
        column = np.asarray(values, np.float64).astype(np.float32)
    bad = [keys[row] for row in np.flatnonzero(~np.isfinite(column)).tolist()]
    if bad:
        raise ValueError(f"{len(bad):,} labels are no finite float32: those of {some(bad)}")
    return Labelled(column, None)


def _sets(
    values: Sequence[Any],
    keys: Sequence[str],
    class_names: Sequence[str] | None,
    classes: Sequence[str],
) -> Labelled:
    """Rows of 0 and 1. What `class_names` leaves out has no column; its records stay."""
    import numpy as np

    flat = [(each, key) for value, key in zip(values, keys, strict=True) for each in value]
    if not flat and not classes:
        raise ValueError(f"no record has any label in its list, such as {some(keys)}")
    kind = "text"
    if flat:
        kind = _kind_of_all([each for each, _ in flat], [key for _, key in flat])
    if kind not in ("text", "whole number"):
        raise ValueError(
            f"a list of labels has names or numbers of classes; {flat[0][1]!r} has {flat[0][0]!r}"
        )
    names = _names(values, class_names, classes)
    whole = kind == "whole number"
    places = {place if whole else name: place for place, name in enumerate(names)}
    rows = np.zeros((len(values), len(names)), np.uint8)
    for row, value in enumerate(values):
        rows[row, [places[each] for each in value if each in places]] = 1
    return Labelled(rows, names)


def _names(
    values: Iterable[Any], class_names: Sequence[str] | None, classes: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of all classes in texts or whole numbers, or those that were given."""
    found = set(classes or _items(values))
    if isinstance(next(iter(found)), int):
        return _names_of_numbers(min(found), max(found), class_names)
    if class_names is None and len(found) > _MOST_CLASSES:
        raise ValueError(
            f"the labels are {len(found):,} different texts, more than {_MOST_CLASSES:,} classes, "
            f"such as {some(sorted(found))}: are these names of classes?"
        )
    if class_names is not None and not set(class_names) <= found:
        raise ValueError(
            "The `class_names` passed did not match the labels. "
            f"Expected: {shown(sorted(found))} (or a subset of it), "
            f"but received: class_names={shown(list(class_names))}"
        )
    return tuple((classes or sorted(found)) if class_names is None else class_names)


def _names_of_numbers(least: int, most: int, class_names: Sequence[str] | None) -> tuple[str, ...]:
    if least < 0 or most >= _MOST_CLASSES:
        raise ValueError(
            f"the labels go from {least:,} to {most:,}, but classes are numbered from 0 to at "
            f'most {_MOST_CLASSES - 1:,}: kind="number" for numbers to predict, kind="class" to '
            "number the classes anew"
        )
    if class_names is None:
        return tuple(str(value) for value in range(most + 1))
    if len(class_names) <= most:
        raise ValueError(
            f"`class_names` has {len(class_names)} entries, but the labels go up to {most}"
        )
    return tuple(class_names)
