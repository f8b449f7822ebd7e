"""
Hyperparameters as JSON holds them, whichever way a task's author writes them.

```
{"rate": 0.1}     Run(rate=0.1), a NamedTuple     Run(rate=0.1), a dataclass     -> {"rate": 0.1}
```
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, cast


def plain(name: str, value: Any) -> dict[str, Any]:
    """
    As a dict of what came back from JSON: a tuple is a list, NumPy's numbers are Python's.

    Errors:
        ValueError: it is no such thing, or has a value that JSON cannot hold.
    """
    try:
        text = json.dumps(_mapping(value), default=_number)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{name}` must be a dict, NamedTuple or dataclass of numbers, texts, lists and dicts: "
            f"{error}"
        ) from error
    return cast(dict[str, Any], json.loads(text))


def _mapping(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if not isinstance(value, Mapping):
        raise TypeError(f"it is a {type(value).__name__}")
    strange = [key for key in value if not isinstance(key, str)]
    if strange:
        raise TypeError(f"the name {strange[0]!r} is no text")
    return dict(value)


def _number(value: Any) -> Any:
    """NumPy's and TensorFlow's scalars."""
    array = getattr(value, "numpy", lambda: value)()
    if hasattr(array, "tolist") and getattr(array, "dtype", None) is not None:
        return array.tolist()
    raise TypeError(f"a {type(value).__name__} is not JSON")
