"""`TableLabels`: the labels are in a table, an object beside the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from tfstream.checks import one_of, repeated, shown, some, words
from tfstream.labels.table_formats import FORMATS, columns_of, format_of
from tfstream.labels.values import ValueLabels

_TRUTHS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


class Named(NamedTuple):
    """
    One way to name records.

    Fields:
        records: The name of each.
        others: Names of what was left out on purpose: a row may have it.
    """

    records: Sequence[str]
    others: frozenset[str] = frozenset()


@dataclass(frozen=True)  # not all by keyword: the table comes first
class TableLabels(ValueLabels):
    """
    A row of a csv, tsv, jsonl or Parquet file for each record.

    ```python
    labels = tfstream.TableLabels("labels.csv", key="file", label="class")
    tfstream.from_lakefs("photos", "main", "img/**", labels=labels)
    ```

    The column `key` has whole keys; or, in all rows, what comes in them after what is before the
    pattern's wildcards; or names within archives. A record without a row is an error, and so are
    two rows for one.

    Attributes:
        path: The table's key in the same repository (of the same commit) or bucket. For a
            folder: a path below it, or a path of its own.
        key: The column that names records.
        label: The column that has labels; or several, each of them a class, with 0 and 1.
        separator: What stands between labels, where a text has several. An empty text has none.
        extra: Whether rows that fit no record are an `error`, or `ignore` them.
    """

    name: ClassVar[str] = "table"

    path: str
    key: str = field(kw_only=True)
    label: tuple[str, ...] | str = field(kw_only=True)
    separator: str | None = field(default=None, kw_only=True)
    extra: Literal["error", "ignore"] = field(default="error", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("extra", self.extra, ("error", "ignore"))
        if format_of(self.path) is None:
            ends = ", ".join(f".{end}" for end in FORMATS)
            raise ValueError(f"a table's name ends with one of {ends}. Received: {self.path!r}")
        if not isinstance(self.label, str):
            words("label", self.label)
            object.__setattr__(self, "label", tuple(self.label))
        if not self.key or not self.label:
            raise ValueError("`key` and `label` of TableLabels must name columns")
        if self.separator is not None and not (self.separator and isinstance(self.label, str)):
            raise ValueError(
                "`separator` of TableLabels is a text between the labels of one column. "
                f"Received: separator={self.separator!r}, label={shown(self.label)}"
            )

    @property
    def lacking(self) -> str:
        """What a record without a row has not."""
        return f"no row, or an empty label, in the table {self.path!r}"

    @property
    def from_text(self) -> bool:
        """csv and tsv have nothing but texts; names of columns are no numbers."""
        return isinstance(self.label, str) and format_of(self.path) in ("csv", "tsv")

    @property
    def classes(self) -> tuple[str, ...]:
        """The columns, where there are several."""
        return () if isinstance(self.label, str) else self.label

    def values(self, data: bytes, ways: Sequence[Named]) -> list[Any]:
        """
        The value of each record, or None; `ways` are how the table may name them.

        Errors:
            ValueError: no such table, two rows for a record, or rows that fit none.
        """
        try:
            rows = self._rows(data)
        except ValueError as error:
            raise ValueError(f"the table {self.path!r}: {error}") from None
        named = next((way for way in ways if any(name in rows for name in way.records)), ways[0])
        if twice := repeated(named.records):
            raise ValueError(
                f"the table {self.path!r} has names within archives, and several records have "
                f"the same: {some(twice)}"
            )
        there = {*named.records, *named.others}
        extra = [name for name in rows if name not in there]
        if len(extra) == len(rows):
            raise ValueError(
                f"the table {self.path!r} fits no record: it has rows for {some(extra)}; there "
                f"are keys such as {some(named.records)}"
            )
        if extra and self.extra == "error":
            raise ValueError(
                f"the table {self.path!r} has {len(extra):,} rows that fit no record: "
                f'{some(extra)}. extra="ignore" leaves them out'
            )
        return [rows.get(name) for name in named.records]

    def _rows(self, data: bytes) -> dict[str, Any]:
        labels = (self.label,) if isinstance(self.label, str) else self.label
        columns = columns_of(data, format_of(self.path) or "", (self.key, *labels))
        keys = columns[self.key]
        odd = [key for key in keys if not isinstance(key, str) or not key]
        if odd:
            raise ValueError(f"column {self.key!r} has {shown(odd[0])}, which is no key")
        if twice := repeated(keys):
            raise ValueError(f"it has {len(twice):,} keys more than once: {some(twice)}")
        if isinstance(self.label, str):
            cells = columns[self.label]
            values = [self._parts(cell, key) for cell, key in zip(cells, keys, strict=True)]
        else:
            rows = zip(*(columns[name] for name in labels), strict=True)
            values = [self._classes(row, key) for row, key in zip(rows, keys, strict=True)]
        return dict(zip(keys, values, strict=True))

    def _parts(self, value: Any, key: str) -> Any:
        if self.separator is None or value is None:
            return value
        if not isinstance(value, str):
            raise ValueError(f"`separator` is for texts, but {key!r} has {shown(value)}")
        parts = (part.strip() for part in value.split(self.separator))
        return [part for part in parts if part]

    def _classes(self, cells: Sequence[Any], key: str) -> list[str]:
        """The columns that have a 1."""
        truths = [_TRUTHS.get(str(cell).strip().lower()) for cell in cells]
        for name, cell, truth in zip(self.label, cells, truths, strict=True):
            if truth is None:
                raise ValueError(f"column {name!r} has {shown(cell)} for {key!r}, neither 0 nor 1")
        return [name for name, truth in zip(self.label, truths, strict=True) if truth]
