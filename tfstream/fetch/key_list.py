"""
`keys` from an object: a list that is too long for a spec.

```
train.txt    one key a line       train.csv    a column named key, file or path; else the first
             cat/1.jpg                         label,path
             dog/2.jpg                         0,cat/1.jpg
```

Both are UTF-8. Empty lines are skipped; all else of a line is the key, spaces too.
"""

from __future__ import annotations

import csv
import io

from tfstream.checks import repeated, some
from tfstream.errors import ObjectNotFoundError
from tfstream.fetch.listing import object_at
from tfstream.fetch.reading import Reading

_NAMES = frozenset({"key", "file", "path"})


def keys_of(keys: tuple[str, ...] | str | None, reading: Reading) -> tuple[str, ...] | None:
    """
    The keys themselves, read where `keys` is the key of an object; None for all.

    Errors:
        SourceError: there is no such object, or it cannot be read.
        ValueError: it is no list of different keys.
    """
    if not isinstance(keys, str):
        return keys
    info = object_at(keys, reading.source, reading.store, reading.options, reading.counts)
    url = reading.source.url(keys)
    if info is None:
        near = reading.store.near(keys)
        raise ObjectNotFoundError(
            f"no object {url}, which keys= says has the keys{near and f'; {near}'}", path=keys
        )
    try:
        return _different(_parsed(keys, reading.get(info)))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{url}, the list for keys=: {error}") from None


def _different(keys: list[str]) -> tuple[str, ...]:
    if not keys:
        raise ValueError("it has no keys")
    if twice := repeated(keys):
        raise ValueError(f"it has {len(twice):,} keys more than once: {some(twice)}")
    return tuple(keys)


def _parsed(name: str, data: bytes) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8 text (at byte {error.start:,})") from None
    if name.lower().endswith(".csv"):
        return _column(list(csv.reader(io.StringIO(text, newline=""), strict=True)))
    return [line for line in (line.removesuffix("\r") for line in text.split("\n")) if line]


def _column(rows: list[list[str]]) -> list[str]:
    """One column; without the first row, where that names one."""
    rows = [row for row in rows if any(row)]
    header = [name.strip().lower() for name in rows[0]] if rows else []
    column = next((place for place, name in enumerate(header) if name in _NAMES), None)
    body = rows if column is None else rows[1:]
    place = column or 0
    short = next((row for row in body if len(row) <= place or not row[place]), None)
    if short is not None:
        raise ValueError(f"it has a row without a key: {short!r}")
    return [row[place] for row in body]
