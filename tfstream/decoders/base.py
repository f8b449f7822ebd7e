"""What every decoder is: a frozen description of how encoded bytes become a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """Encoded bytes to a tensor, in the graph. Subclasses are frozen dataclasses."""

    name: ClassVar[str]
