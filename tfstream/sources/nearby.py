"""What exists near something that was not found, to say so in the error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

SHOWN = 5
DEEPEST = 8
"""How many folders above a missing key are asked for, besides the root."""


def keys_near(first_keys: Callable[[str], Sequence[str]], path: str) -> str:
    """
    The first keys in the deepest folder above `path` (a key or a pattern) that has any.

    `first_keys(folder)` gives some keys below a folder: `SHOWN` and one more are enough.
    """
    for folder in _folders_above(path):
        names = first_keys(folder)
        if names:
            return f"in {folder or 'the root'} there are: {listed(names)}"
    return "there are no objects at all"


def names_near(wanted: str, names: Sequence[str]) -> str:
    """`; near it: photos`, `; there are: music, videos`, or nothing where there are none."""
    close = get_close_matches(wanted, names, SHOWN)
    if close:
        return f"; near it: {listed(close)}"
    return f"; there are: {listed(names)}" if names else ""


def listed(names: Sequence[str]) -> str:
    """The first few names in one line."""
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def _folders_above(path: str) -> Iterator[str]:
    """From the deepest to the root (an empty text), each with its slash."""
    literal = re.split(r"[*?\[]", path, maxsplit=1)[0]
    parts = literal.split("/")[:-1][:DEEPEST]
    for depth in range(len(parts), -1, -1):
        yield "".join(f"{part}/" for part in parts[:depth])
