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

Numbers = np.ndarray[Any, np.dtype[Any]]
_BROKEN = (
    *(ValueError, KeyError, EOFError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What NumPy raises for a file that is no `.npz` of plain arrays, or is cut."""


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
        sizes = self.numbers(f"{before}sizes", np.int64, None)
        if sizes is None:
            raise SpecError(f"a broken manifest: no column {before}sizes")
        rows = len(sizes)
        return Objects(
            self._texts(f"{before}path", rows), sizes, self._texts(f"{before}token", rows)
        )

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
