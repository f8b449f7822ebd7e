"""`FileReader`: every object is one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tfstream.readers.base import Reader


@dataclass(frozen=True, kw_only=True)
class FileReader(Reader):
    """One object, one record: single images that people can look at in the store."""

    name: ClassVar[str] = "file"
