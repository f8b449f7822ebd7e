"""
A listing as columns: a million objects in a hundred megabytes.

Texts lie in one buffer with offsets, numbers in NumPy arrays; a Python object is made only
for the row that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfstream.sources.base import ObjectInfo


def encoded(text: str) -> bytes:
    """A key as bytes: UTF-8, and file names that are not survive too."""
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Texts(Sequence[str]):
    """
    A column of texts.

    Attributes:
        buffer: All of them, encoded, one after the other.
        ends: int64, where each one ends in `buffer`.
    """

    buffer: bytes
    ends: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> Texts:
        """From encoded texts."""
        parts = list(texts)
        lengths = np.fromiter((len(part) for part in parts), np.int64, len(parts))
        return cls(b"".join(parts), np.cumsum(lengths, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, row: int) -> bytes:
        """The encoded text of a row."""
        start = int(self.ends[row - 1]) if row else 0
        return self.buffer[start : int(self.ends[row])]

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[index] for index in range(*row.indices(len(self)))]
        index = int(row)
        index += len(self) if index < 0 else 0
        if not 0 <= index < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.raw(index).decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        for row in range(len(self)):
            yield self.raw(row).decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Objects(Sequence[ObjectInfo]):
    """
    Listed objects, columnar.

    Attributes:
        paths: Keys.
        sizes: int64, bytes.
        tokens: Change tokens.
    """

    paths: Texts
    sizes: np.ndarray[Any, np.dtype[np.int64]]
    tokens: Texts

    @classmethod
    def of(cls, objects: Sequence[ObjectInfo]) -> Objects:
        """From listed objects, in their order."""
        return cls(
            Texts.of(encoded(each.path) for each in objects),
            np.fromiter((each.size for each in objects), np.int64, len(objects)),
            Texts.of(encoded(each.token) for each in objects),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[index] for index in range(*row.indices(len(self)))]
        return ObjectInfo(self.paths[row], int(self.sizes[row]), self.tokens[row])

    def columns(self) -> Iterator[tuple[str, bytes | np.ndarray[Any, Any]]]:
        """Name and bytes or array of every column, in the order that digests use."""
        yield "paths", self.paths.buffer
        yield "path_ends", self.paths.ends
        yield "sizes", self.sizes
        yield "tokens", self.tokens.buffer
        yield "token_ends", self.tokens.ends
