"""
Frozen dataclasses to JSON and back, strictly.

Every field is written, defaults too, but for those that a class names as `later`: they came
after the first specs, and are left out while they are None, so that those specs keep their text
and their digest. Reading checks each value against the field's type and
refuses what it does not know, naming the place (`$.order.seed`). A class with a `name` is
written with it and found again through the registry: its type decides in which kind.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from tfstream import registry
from tfstream.errors import SpecError

_KINDS: dict[str, registry.Kind] = {
    "Source": "source",
    "Reader": "reader",
    "Labels": "labels",
    "Decoder": "decoder",
}
"""Base classes that stand for any registered class of a kind."""


def to_plain(value: Any) -> Any:
    """Dicts, lists, strings, numbers, booleans and None, ready for `json.dumps`."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        later = getattr(value, "later", ())
        plain = {
            name: to_plain(part)
            for name, part in parts.items()
            if part is not None or name not in later
        }
        return {"name": value.name, **plain} if hasattr(value, "name") else plain
    if isinstance(value, Mapping):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_plain(part) for part in value]
    return value


def parsed(text: str) -> dict[str, Any]:
    """
    The object that is JSON, strictly: no NaN, and no key that comes twice.

    Errors:
        SpecError: it is something else.
    """
    try:
        plain = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", where="$") from error
    if not isinstance(plain, dict):
        raise SpecError(f"expected an object, got {type(plain).__name__}", where="$")
    return plain


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {_shown(twice)} comes twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number there")


def from_plain(kind: type, value: Any, where: str) -> Any:
    """An instance of dataclass `kind`, or of the registered class that `value` names."""
    if not isinstance(value, Mapping):
        raise SpecError(f"expected an object, got {_shown(value)}", where=where)
    given = dict(value)
    group = _KINDS.get(kind.__name__)
    if group is not None:
        name = given.pop("name", None)
        found = registry.lookup(group, name) if isinstance(name, str) else None
        if found is None:
            known = ", ".join(registry.names(group))
            raise SpecError(f"no {group} is called {name!r}; known: {known}", where=where)
        kind = found
    hints = _hints(kind)
    unknown = sorted(given.keys() - hints.keys())
    if unknown:
        raise SpecError(f"unknown field {unknown[0]!r}; a newer tfstream may know it", where=where)
    for field in fields(kind):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name not in given:
            raise SpecError(f"the field {field.name!r} is missing", where=where)
    parts = {key: _typed(hints[key], part, f"{where}.{key}") for key, part in given.items()}
    try:
        return kind(**parts)
    except SpecError:
        raise
    except ValueError as error:
        raise SpecError(str(error), where=where) from error


@lru_cache(maxsize=256)
def _hints(kind: type) -> dict[str, Any]:
    known = {field.name for field in fields(cast(Any, kind))}
    return {name: hint for name, hint in get_type_hints(kind).items() if name in known}


def _typed(hint: Any, value: Any, where: str) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _one_of(args, value, where)
    if origin is Literal:
        if value in args and type(value) is type(args[args.index(value)]):
            return value
    elif origin is tuple:
        if isinstance(value, (list, tuple)):
            return _sequence(args, value, where)
    elif origin is not None and issubclass(origin, Mapping):
        if isinstance(value, Mapping):
            return {key: _typed(args[1], part, f"{where}.{key}") for key, part in value.items()}
    elif is_dataclass(hint) or getattr(hint, "__name__", "") in _KINDS:
        return from_plain(hint, value, where)
    elif hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    raise SpecError(f"expected {_name(hint)}, got {_shown(value)}", where=where)


def _one_of(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in hints:
        return None
    choices = [hint for hint in hints if hint is not type(None)]
    exact = [hint for hint in choices if hint is type(value)]
    return _typed((exact or choices)[0], value, where)


def _sequence(args: tuple[Any, ...], value: list[Any] | tuple[Any, ...], where: str) -> Any:
    hints = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
    if len(hints) != len(value):
        raise SpecError(f"expected {len(hints)} values, got {len(value)}", where=where)
    pairs = enumerate(zip(hints, value, strict=True))
    return tuple(_typed(hint, part, f"{where}[{index}]") for index, (hint, part) in pairs)


def _name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(repr(arg) for arg in get_args(hint))
    words = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
    return words.get(hint) or ("a list" if get_origin(hint) is tuple else "an object")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        return "a value of many levels"
    return text if len(text) <= 60 else text[:57] + "..."
