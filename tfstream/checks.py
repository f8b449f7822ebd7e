"""
Checks of one argument each, whose errors are in Keras' manner: the name, the rule, what came.

```
one_of    one of a few words
whole     an integer, NumPy's too, as a plain int
sides     (height, width), from two integers or one
words     a list of different strings
check_keys    a list of different keys, or one key
```
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

MOST = 2**31 - 1
"""What an int32 of a graph can hold: the most of any number but the seed."""
MOST_KEYS = 10_000
"""Of those that stand in a spec: it is read by people and travels with every task."""
_NAMED = 3
_MOST_SIDE = 32_768
"""Pixels. One image of that many both ways takes 13 GB in float32."""


def one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Errors: ValueError, in Keras' words, unless `value` is one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        named = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"`{name}` argument must be one of {named}. Received: {name}={shown(value)}"
        )


def whole(
    name: str, value: Any, *, least: int | None, most: int | None = MOST, none: bool = False
) -> Any:
    """
    The value as an int; None where `none` allows it.

    Errors:
        ValueError: it is no integer, or out of bounds.
    """
    if value is None and none:
        return None
    number = integer(value)
    low = number is not None and least is not None and number < least
    if number is None or low:
        bound = "" if least is None else f" of at least {least}"
        raise ValueError(f"`{name}` must be an integer{bound}. Received: {name}={shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"`{name}` must be at most {most:,}. Received: {name}={shown(value)}")
    return number


def sides(name: str, value: Any) -> tuple[int, int]:
    """
    Height and width in pixels.

    Errors:
        ValueError: it is neither one positive integer nor two, or one is too large.
    """
    both = value if isinstance(value, (list, tuple)) else (value, value)
    numbers = [number for number in map(integer, both) if number is not None and number > 0]
    if len(both) != 2 or len(numbers) != 2:
        raise ValueError(
            f"Invalid `{name}` value. Expected a tuple of 2 positive integers. "
            f"Received: {name}={shown(value)}"
        )
    if max(numbers) > _MOST_SIDE:
        raise ValueError(
            f"`{name}` must be at most {_MOST_SIDE:,} a side. Received: {name}={shown(value)}"
        )
    return numbers[0], numbers[1]


def words(name: str, value: Any) -> None:
    """Errors: ValueError unless `value` is a list of strings, each of them once."""
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    if not listed or not all(isinstance(each, str) for each in value):
        raise ValueError(f"`{name}` must be a list of strings. Received: {name}={shown(value)}")
    if len(set(value)) < len(value):
        raise ValueError(f"`{name}` must name each once. Received: {name}={shown(value)}")


def check_keys(value: Any) -> None:
    """
    Whether it can be the `keys` of a dataset.

    Errors:
        ValueError: it is no key and no list of at most `MOST_KEYS` different ones.
    """
    if value is None or (isinstance(value, str) and value):
        return
    listed = isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
    if not value or not listed or "" in value:
        raise ValueError(
            "`keys` must be a list of keys, or the key of an object that lists them. "
            f"Received: keys={shown(value)}"
        )
    if len(value) > MOST_KEYS:
        raise ValueError(
            f"`keys` has {len(value):,} entries, more than {MOST_KEYS:,}, and would make every "
            "spec as large: put them into an object, one a line, and pass its key"
        )
    if twice := repeated(value):
        raise ValueError(f"`keys` must name each once. Received twice: {some(twice)}")


def repeated(keys: Sequence[str]) -> list[str]:
    """Those that come more than once."""
    return [key for key, count in Counter(keys).items() if count > 1]


def some(keys: Sequence[str]) -> str:
    """The first few for a message, in one line."""
    return ", ".join(map(repr, keys[:_NAMED])) + (", …" if len(keys) > _NAMED else "")


def integer(value: Any) -> int | None:
    """The value as an int; None for what is no integer, such as a bool."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def shown(value: Any) -> str:
    """The value for a message, not more than 100 characters of it."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "an integer of very many digits"
    return text if len(text) <= 100 else text[:97] + "..."
