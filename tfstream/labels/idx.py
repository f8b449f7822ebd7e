"""`IdxLabels`: the labels file that lies beside an IDX images file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tfstream.labels.base import Labels


@dataclass(frozen=True, kw_only=True)
class IdxLabels(Labels):
    """The records of `…labels-idx1…`, paired by name with `…images-idx3…`."""

    name: ClassVar[str] = "idx"
