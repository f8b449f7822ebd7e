"""
What two specs do not have in common, field by field, for errors that say so.

```
$.order.seed: 0 there, 1 here
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfstream.jsonable import to_plain
from tfstream.spec.dataset_spec import DatasetSpec

_SHOWN = 80
"""Characters of a value: lists of labels can be long."""
_ABSENT = object()


Described = DatasetSpec | Mapping[str, Any]
"""A spec, or fields that say as much."""


def differences(old: Described, new: Described) -> list[str]:
    """One line for each field of their JSON that differs: `old` is there, `new` is here."""
    return list(_compared(to_plain(old), to_plain(new), "$"))


def _compared(old: Any, new: Any, where: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _compared(old.get(name, _ABSENT), new.get(name, _ABSENT), f"{where}.{name}")
    elif old != new:
        yield f"{where}: {_shown(old)} there, {_shown(new)} here"


def _shown(value: Any) -> str:
    text = "nothing" if value is _ABSENT else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
