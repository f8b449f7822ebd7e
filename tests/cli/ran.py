"""`Ran`: how a run of the program ended."""

from __future__ import annotations

import json
from typing import NamedTuple


class Ran(NamedTuple):
    """How a run ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def report(self):
        """The JSON that is all of stdout."""
        return json.loads(self.out)

    @property
    def kinds(self):
        """Kind -> bad keys."""
        return {kind: list(errors) for kind, errors in self.report["kinds"].items()}
