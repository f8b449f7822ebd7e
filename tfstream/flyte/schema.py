"""
The JSON schema of a spec, for the console's forms and for attribute access.

```
choose().batch_size     Flyte looks up the field's type before anything has run
```
"""

from __future__ import annotations

import types
from dataclasses import fields
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tfstream.decoders.base import Decoder
from tfstream.labels.base import Labels
from tfstream.readers.base import Reader
from tfstream.sources.base import Source
from tfstream.spec import DatasetSpec

TITLE = "DatasetSpec"
_WORDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


@lru_cache(maxsize=1)
def json_schema() -> dict[str, Any]:
    """Of the whole spec. It has no numbers, which a protobuf Struct would turn into doubles."""
    found = _object(DatasetSpec)
    found["properties"] = {"tfstream": {"type": "integer"}, **found["properties"]}
    return {"title": TITLE, **found}


def attributes() -> dict[str, str]:
    """Each field, and `string`, `integer`, `array` or `object`: what a task's input gets."""
    hints = get_type_hints(DatasetSpec)
    return {each.name: _kind(hints[each.name]) for each in fields(DatasetSpec)}


def _kind(hint: Any) -> str:
    found = _schema(_choices(hint)[0])
    return str(found.get("type", "string"))


def _choices(hint: Any) -> list[Any]:
    """What it may be beside None."""
    if get_origin(hint) in (Union, types.UnionType):
        return [each for each in get_args(hint) if each is not type(None)]
    return [hint]


def _schema(hint: Any) -> dict[str, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each) for each in args]}
    if hint is type(None):
        return {"type": "null"}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is tuple:
        return {"type": "array", "items": _schema(args[0])}
    if hint in _WORDS:
        return {"type": _WORDS[hint]}
    return _NAMED if hint in (Source, Reader, Labels, Decoder) else _object(hint)


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties = {each.name: _schema(hints[each.name]) for each in fields(kind)}
    return {"type": "object", "properties": properties}


_NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
"""A source, reader, decoder or labels: which fields it has, its name decides."""
