"""
A saved manifest's columns, none of which is trusted.

The file may come from anyone. A column of another dtype or length would give wrong rows
without an error, so each is checked when it is taken.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, Any

import numpy as np

from tfstream.errors import SpecError
from tfstream.fetch.columns import Objects, Texts
from tfstream.fetch.members import Members

Numbers = np.ndarray[Any, np.dtype[Any]]
_BROKEN = (
    *(ValueError, KeyError, EOFError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What NumPy raises for a file that is no `.npz` of plain arrays, or is cut."""
LABELS = {"int32": "labels", "float32": "label_numbers", "uint8": "label_sets"}
"""The name of the column of labels says their dtype, so that a digest does, too."""


class Saved:
    """
    The columns of a file of this format.

    Errors:
        SpecError: it is something else.
    """

    def __init__(self, file: IO[bytes], format: str) -> None:
        try:
            self._columns = _read(file)
        except _BROKEN as error:
            raise SpecError(f"not a manifest: {error}") from error
        found = self._columns.pop("format", None)
        if str(found) != format:
            raise SpecError(
                f"a manifest of this tfstream is {format!r}, this one says "
                f"{None if found is None else str(found)[:80]!r}: read it with the tfstream that "
                "wrote it"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def objects(self, before: str) -> Objects:
        """
        The objects in the columns whose names start with `before`.

        Errors:
            SpecError: a column is missing, or does not fit the others.
        """
        if not before and "shard_sizes" in self:
            return self._members()
        sizes = self.numbers(f"{before}sizes", np.int64, None)
        if sizes is None:
            raise SpecError(f"a broken manifest: no column {before}sizes")
        rows = len(sizes)
        return Objects(
            self._texts(f"{before}path", rows), sizes, self._texts(f"{before}token", rows)
        )

    def _members(self) -> Members:
        names = ("places", "member_sizes", "starts", "extras")
        places = self.numbers(names[0], np.int64, None)
        rows = 0 if places is None else len(places)
        others = [self.numbers(name, np.int64, rows) for name in names[1:]]
        shards = self.objects("shard_")
        if places is None or any(each is None for each in others):
            raise SpecError(f"a broken manifest: not all of the columns {', '.join(names)}")
        if rows and places.max() >= len(shards):
            raise SpecError(f"a broken manifest: a record in archive {places.max()}")
        sizes, starts, extras = others
        paths, tokens = self._texts("path", rows), Texts.of(b"" for _ in range(rows))
        return Members(paths, sizes, tokens, shards, places, starts, extras)  # type: ignore[arg-type]

    def labels(self, rows: int) -> Numbers | None:
        """
        The labels of so many rows, or None.

        Errors:
            SpecError: they do not fit, are infinite, or neither 0 nor 1 in a set.
        """
        numbers = self._columns.pop(LABELS["float32"], None)
        if numbers is not None:
            return _finite(numbers, rows)
        sets = self.numbers(LABELS["uint8"], np.uint8, None)
        if sets is None:
            return self.numbers(LABELS["int32"], np.int32, rows)
        if not rows or not len(sets) or len(sets) % rows or sets.max() > 1:
            raise SpecError(f"a broken manifest: {len(sets)} label_sets for {rows} rows")
        return sets.reshape(rows, -1)

    def numbers(self, name: str, dtype: Any, rows: int | None) -> Numbers | None:
        """
        A column of so many numbers from 0 up, or None where there is none.

        Errors:
            SpecError: another dtype or length, or a negative number.
        """
        column = self._columns.pop(name, None)
        if column is None:
            return None
        wanted = np.dtype(dtype)
        if column.ndim != 1 or column.dtype.newbyteorder("=") != wanted:
            raise SpecError(
                f"a broken manifest: column {name} is {column.dtype} of shape {column.shape}, "
                f"not a list of {wanted}"
            )
        if rows is not None and len(column) != rows:
            raise SpecError(f"a broken manifest: {len(column)} {name} for {rows} rows")
        if len(column) and column.min() < 0:
            raise SpecError(f"a broken manifest: column {name} has {column.min()}")
        return column.astype(wanted, copy=False)

    def all_taken(self) -> None:
        """
        Say that there should be no more.

        Errors:
            SpecError: there is a column that nothing has asked for.
        """
        if self._columns:
            raise SpecError(f"a broken manifest: unknown column {min(self._columns)!r}")

    def _texts(self, name: str, rows: int) -> Texts:
        ends = self.numbers(f"{name}_ends", np.int64, rows)
        buffer = self.numbers(f"{name}s", np.uint8, None)
        if ends is None or buffer is None:
            raise SpecError(f"a broken manifest: no column {name}s or {name}_ends")
        if (ends[-1] if rows else 0) != len(buffer) or (np.diff(ends) < 0).any():
            raise SpecError(f"a broken manifest: {name}_ends do not divide {name}s")
        return Texts(buffer.tobytes(), ends)


def _finite(column: Numbers, rows: int) -> Numbers:
    native = column.dtype.newbyteorder("=")
    if native != np.float32 or column.shape != (rows,) or not np.isfinite(column).all():
        raise SpecError(f"a broken manifest: label_numbers are not {rows} finite float32")
    return column.astype(np.float32, copy=False)


def _read(file: IO[bytes]) -> dict[str, Numbers]:
    data = np.load(file, allow_pickle=False)
    if not isinstance(data, np.lib.npyio.NpzFile):
        raise ValueError("one array, no archive")
    with data:
        columns = {name: data[name] for name in data.files}
    for name, column in columns.items():
        if not isinstance(column, np.ndarray):
            raise ValueError(f"{name!r} is no array")
    return columns
