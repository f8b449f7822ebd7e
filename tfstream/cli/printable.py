"""`printable`: text from outside, such as a key, that a terminal may be given."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The same text with an escape, such as `\x1b`, for each letter that is not to be seen."""
    letters = (
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
    return "".join(letters)
