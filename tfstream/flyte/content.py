"""
What a literal of Flyte holds for a dataset: one msgpack map, of either kind.

```
the spec's JSON         {"tfstream": 1, "source": {…}, …}                  keys sorted
anything else           {"tfstream_dataset": 1, "form": …, …}
    form "graph"            "graph": bytes of to_graph, or "folder": address of a folder with it
    form "save"             "folder"
    form "snapshot"         "folder", with the graph in it
```

Equal specs give equal bytes, and Flyte's cache compares bytes. The console shows the map as
JSON. What comes from its form is a protobuf Struct, whose numbers are all doubles.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from tfstream.errors import NotPortableError, SpecError
from tfstream.spec import DatasetSpec

SPEC_NAME = "tfstream.DatasetSpec"
DATASET_NAME = "tfstream.Dataset"
"""Of the transformers. Literals of unions, and types in flyte 2, have them: they never change."""
VERSION = 1
"""Of the second kind."""
KEY = "tfstream_dataset"
_EXACT = 2**53
"""A double holds every whole number up to this."""

Content = dict[str, Any]


def packed(content: Content) -> bytes:
    """As msgpack."""
    import msgpack

    try:
        return cast(bytes, msgpack.packb(content))
    except OverflowError as error:  # a seed may have any size
        raise SpecError("Flyte passes integers of at most 64 bits", where="$.order.seed") from error


def unpacked(data: bytes) -> Content:
    """Errors: SpecError, something else."""
    import msgpack

    try:
        return _mapping(msgpack.unpackb(data))
    except (ValueError, msgpack.UnpackException) as error:
        raise SpecError(f"not msgpack of a dataset: {error}") from error


def from_struct(fields: Mapping[str, Any]) -> Content:
    """Of a Struct, whose integers came as doubles."""
    return _mapping(_whole(fields))


def of_spec(spec: DatasetSpec) -> Content:
    """Its JSON, with the keys in order."""
    return _mapping(json.loads(spec.to_json()))


def spec_in(content: Content) -> DatasetSpec:
    """
    The spec that it is.

    Errors:
        NotPortableError: it is a dataset that has more than a spec.
        SpecError: unknown fields, a newer version.
    """
    if KEY in content:
        raise NotPortableError(
            f"this is the {_shown(content.get('form'))} of a dataset with stages of its own, not a "
            "DatasetSpec: annotate the input as tf.data.Dataset, or pass dataset.spec"
        )
    return DatasetSpec.from_json(json.dumps(content))


def form_of(content: Content) -> str:
    """`spec`, `graph`, `save` or `snapshot`."""
    if KEY not in content:
        return "spec"
    version, form = content[KEY], content.get("form")
    if version != VERSION:
        raise SpecError(
            f"version {_shown(version)} was written by a newer tfstream; this one reads {VERSION}",
            where=f"$.{KEY}",
        )
    unknown = sorted(content.keys() - {KEY, "form", "graph", "folder"})
    if unknown or form not in ("graph", "save", "snapshot"):
        what = f"unknown field {unknown[0]!r}" if unknown else f"unknown form {_shown(form)}"
        raise SpecError(f"{what}; a newer tfstream may know it", where="$")
    return str(form)


def _mapping(value: Any) -> Content:
    if not isinstance(value, dict):
        raise SpecError(f"expected an object, got {type(value).__name__}", where="$")
    return value


def _whole(value: Any) -> Any:
    """Doubles without a fraction as the integers that they were."""
    if isinstance(value, Mapping):
        return {key: _whole(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        if abs(value) > _EXACT:
            raise SpecError(f"{value:.0f} came as a double, which may have changed it", where="$")
        return int(value)
    return value


def _shown(value: Any) -> str:
    return repr(value)[:40]
