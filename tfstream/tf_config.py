"""
Which of how many workers this process is, by the variable `TF_CONFIG`.

```json
{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 0}}
```

is worker 1 of 3: a chief trains too, and comes first, as in `tf.distribute`.
"""

from __future__ import annotations

import json
import os
from typing import Any

AUTO = "auto"
"""The `num_shards` that asks for it."""


def resolved(num_shards: Any, shard_index: Any) -> tuple[Any, Any]:
    """
    Both as they are, or by `TF_CONFIG` where `num_shards` is "auto".

    Errors:
        ValueError: an index is given as well, or the variable does not say which worker this is.
    """
    if not isinstance(num_shards, str) or num_shards != AUTO:
        return num_shards, shard_index
    if shard_index is not None:
        raise ValueError(
            '`num_shards="auto"` takes the index from TF_CONFIG: leave out `shard_index`. '
            f"Received: shard_index={shard_index!r}"
        )
    return _worker(os.environ.get("TF_CONFIG", ""))


def _worker(text: str) -> tuple[int, int]:
    config = _object(_parsed(text) if text.strip() else {}, "")
    cluster = _object(config.get("cluster") or {}, "cluster")
    if not cluster:
        return 1, 0
    chiefs, workers = (_count(cluster, kind) for kind in ("chief", "worker"))
    task = _object(config.get("task") or {}, "task")
    kind, index = task.get("type"), str(task.get("index", 0))
    places = {"chief": (0, chiefs), "worker": (chiefs, workers)}
    if kind not in places:
        raise ValueError(
            f"TF_CONFIG: a task of the type {kind!r} does not train, so it is none of the "
            'workers; the types "chief" and "worker" are. Leave out `num_shards` here'
        )
    first, count = places[kind]
    if not index.isdecimal() or int(index) >= count:
        raise ValueError(f"TF_CONFIG: the cluster has {count} of the type {kind!r}, and no {index}")
    return chiefs + workers, first + int(index)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is no JSON: {error}. It begins with {text[:40]!r}") from None


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"TF_CONFIG: {name or 'it'} must be a JSON object, not {value!r:.40}")
    return value


def _count(cluster: dict[str, Any], kind: str) -> int:
    addresses = cluster.get(kind, [])
    if not isinstance(addresses, (list, dict)):  # a dict is from indices to addresses
        raise ValueError(f"TF_CONFIG: cluster.{kind} must be a list, not {addresses!r:.40}")
    return len(addresses)
