"""What every reader is: a frozen description of how an object's bytes become records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Reader:
    """
    Shard bytes to records; no network, no TensorFlow.

    Attributes:
        shards: Whether one object holds several records.
    """

    name: ClassVar[str]
    shards: ClassVar[bool] = False
