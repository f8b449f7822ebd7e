"""
What makes a dataset's order and examples what they are, as a short text for checkpoints.

```json
{"batch_size": 32, "class_names": "sha256:1f0c…", "order": {"seed": 0, …}, "start": null, …}
```

It is the spec without what does not matter for the next example: where the server is, a ref's
name, `max_errors`. Values that may be long are hashed, each for itself, so that two texts
still tell which of them differ.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tfstream.errors import SpecError
from tfstream.jsonable import to_plain
from tfstream.spec.dataset_spec import DatasetSpec
from tfstream.spec.difference import differences

_MOST = 64
"""Characters of a value's JSON that are kept; a digest is as long."""


def identity_of(spec: DatasetSpec) -> str:
    """The text: equal for datasets whose iterators may go on from each other's checkpoints."""
    plain = to_plain(spec)
    del plain["max_errors"]
    for name in spec.source.location:
        plain["source"].pop(name, None)
    return json.dumps({name: _short(value) for name, value in plain.items()}, sort_keys=True)


def told_apart(old: str, new: str) -> SpecError:
    """The error for a checkpoint with the identity `old` in a dataset that has `new`."""
    lines = differences(json.loads(old), json.loads(new))
    return SpecError(
        "the checkpoint is of another dataset, so its position means nothing here: "
        + "; ".join(lines)
        + ". Load the spec that it was saved with",
        where="$",
    )


def _short(value: Any) -> Any:
    if isinstance(value, dict) and "name" not in value and len(value) > _MOST:
        return _digest(json.dumps(value, sort_keys=True))
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    text = json.dumps(value)
    return value if len(text) <= _MOST else _digest(text)


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:16]
