"""What a record's small field means as a label: a number where it is one, else the text."""

from __future__ import annotations

import math


def value_of(data: bytes) -> int | float | str:
    """
    The value of a text field, such as WebDataset's `cls`.

    Errors:
        ValueError: it is no text in UTF-8.
    """
    text = data.decode("utf-8").strip()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
