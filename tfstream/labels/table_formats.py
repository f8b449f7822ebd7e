"""
Tables as columns of values: csv, tsv, jsonl, parquet.

```
file,class                {"file": "1.jpg", "class": "cat"}
1.jpg,cat                 {"file": "2.jpg", "class": "dog"}
2.jpg,dog
```

Text is UTF-8, with or without a byte order mark; empty lines are skipped. A jsonl row may lack a
column: its value is None.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from tfstream.checks import repeated, shown, some
from tfstream.errors import MissingDependencyError

Columns = dict[str, list[Any]]


def format_of(path: str) -> str | None:
    """`csv`, `tsv`, `jsonl` or `parquet`, by the name's end; None for another."""
    end = path.lower().rpartition(".")[2]
    return {"ndjson": "jsonl"}.get(end, end if end in _READERS else None)


def columns_of(data: bytes, format: str, names: Sequence[str]) -> Columns:
    """
    The named columns of a table, all of the same length.

    Errors:
        ValueError: it is no such table, or has no such column.
        MissingDependencyError: pyarrow is absent.
    """
    columns = _READERS[format](data, names)
    if not columns[names[0]]:
        raise ValueError("it has no rows")
    return columns


def _csv(data: bytes, names: Sequence[str], delimiter: str = ",") -> Columns:
    reader = csv.reader(io.StringIO(_text(data), newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num:,}: {error}") from None
    header = rows[0][1] if rows else []
    _have(header, names)
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {line:,} has {len(row)} values, the first one {len(header)}")
    places = {name: header.index(name) for name in names}
    return {name: [row[place] for _, row in rows[1:]] for name, place in places.items()}


def _tsv(data: bytes, names: Sequence[str]) -> Columns:
    return _csv(data, names, "\t")


def _jsonl(data: bytes, names: Sequence[str]) -> Columns:
    rows = []
    for number, line in enumerate(_text(data).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number:,} is no JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number:,} is no JSON object: {shown(row)}")
        rows.append(row)
    _have(list(dict.fromkeys(name for row in rows for name in row)), names)
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet(data: bytes, names: Sequence[str]) -> Columns:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingDependencyError('pip install "tfstream[parquet]"') from None
    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        _have(file.schema_arrow.names, names)
        table = file.read(columns=list(names))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"it is no Parquet file that can be read: {error}") from None
    return {name: table.column(name).to_pylist() for name in names}


_READERS: dict[str, Callable[[bytes, Sequence[str]], Columns]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "tsv": _tsv,
}
FORMATS = (*sorted(_READERS), "ndjson")
"""What a table's name may end with."""


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8 text (at byte {error.start:,})") from None


def _have(columns: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}; its columns: {shown(list(columns))}")
    if twice := [name for name in repeated(columns) if name in names]:
        raise ValueError(f"it has two columns {some(twice)}")
