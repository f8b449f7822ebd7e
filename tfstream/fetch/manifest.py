"""
`Manifest`: the pinned, ordered listing of a source, with its labels and a digest.

The digest stands in every spec. A process that lacks the manifest lists again and compares.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any, Literal

import numpy as np

from tfstream.errors import ObjectChangedError, SpecError
from tfstream.fetch.columns import Objects
from tfstream.fetch.members import DERIVED
from tfstream.fetch.saved import LABELS, Saved

Numbers = np.ndarray[Any, np.dtype[Any]]
_FORMAT = "tfstream.manifest.1"


@dataclass(frozen=True)
class Manifest:
    """
    What a dataset reads, row by row in record order.

    Attributes:
        objects: The objects, or the shards.
        labels: One an object: int32, a class; float32, a number to predict; uint8 [objects,
            classes], 0 and 1. None where records carry their own or none are wanted.
        records: int64, how many records each shard has; None where an object is a record.
        partners: For shards whose labels lie in another object: that one, row for row.
    """

    objects: Objects
    labels: Numbers | None = None
    records: Numbers | None = None
    partners: Objects | None = None

    @cached_property
    def count(self) -> int:
        """How many records in all."""
        return len(self.objects) if self.records is None else int(self.records.sum())

    @cached_property
    def digest(self) -> str:
        """`sha256:…` of every column. Little-endian on every machine."""
        total = hashlib.sha256(_FORMAT.encode())
        for name, column in self._columns():
            if name in DERIVED:
                continue
            data = column if isinstance(column, bytes) else _little(column).tobytes()
            total.update(f"\n{name} {len(data)}\n".encode())
            total.update(data)
        return "sha256:" + total.hexdigest()

    def check(self, digest: str | None, url: str) -> None:
        """
        Compare with the digest of a spec.

        Errors:
            ObjectChangedError: this is another listing than the pinned one.
        """
        if digest is not None and digest != self.digest:
            raise ObjectChangedError(
                f"the objects at {url} are not those that were pinned: there are {self.count:,} "
                f"records now with digest {self.digest}, the spec has {digest}. Make the dataset "
                "again to read what is there now, or pin it to a commit"
            )

    def save(self, file: IO[bytes]) -> None:
        """Write all columns, uncompressed, as NumPy's `.npz`."""
        columns: dict[str, Any] = {
            name: np.frombuffer(column, np.uint8) if isinstance(column, bytes) else column
            for name, column in self._columns()
        }
        np.savez(file, **columns, format=np.array(_FORMAT))

    @classmethod
    def load(cls, file: IO[bytes]) -> Manifest:
        """
        Read what `save` wrote.

        Errors:
            SpecError: it is something else, of a newer tfstream, or its columns do not fit.
        """
        columns = Saved(file, _FORMAT)
        objects = columns.objects("")
        rows = len(objects)
        manifest = cls(
            objects=objects,
            labels=columns.labels(rows),
            records=columns.numbers("records", np.int64, rows),
            partners=columns.objects("partner_") if "partner_sizes" in columns else None,
        )
        if manifest.partners is not None and len(manifest.partners) != rows:
            raise SpecError(f"a broken manifest: {len(manifest.partners)} partners, {rows} shards")
        columns.all_taken()
        return manifest

    def _columns(self) -> list[tuple[str, bytes | Numbers]]:
        rows: list[tuple[str, bytes | Numbers]] = list(self.objects.columns())
        if self.partners is not None:
            rows += [(f"partner_{name}", column) for name, column in self.partners.columns()]
        if self.labels is not None:
            rows += [(LABELS[self.labels.dtype.name], self.labels.ravel())]
        rows += [("records", self.records)] if self.records is not None else []
        return rows


def _little(column: Numbers) -> Numbers:
    return column.astype(column.dtype.newbyteorder("<"), copy=False)


def form_of(manifest: Manifest) -> Literal["int", "float", "multi_hot"] | None:
    """What its labels are, before a `label_mode` makes vectors of classes; None for none here."""
    if manifest.labels is None:
        return None
    forms: dict[str, Literal["int", "float", "multi_hot"]]
    forms = {"int32": "int", "float32": "float", "uint8": "multi_hot"}
    return forms[manifest.labels.dtype.name]
