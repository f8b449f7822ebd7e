"""
`keras.Model` in Keras' own format, for flyte 2.

flytekit has a transformer for it, which writes and reads the same file in the same way; it stays
in charge there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write(value: Any, path: Path) -> None:
    """With its optimizer, if it is compiled. The suffix is `.keras`, which is the format."""
    value.save(path)


def read(path: Path) -> Any:
    """
    In safe mode: a file cannot run Python of its own.

    Errors:
        ValueError: it has Python in it, such as a Lambda layer's function.
    """
    import keras

    return keras.models.load_model(path, safe_mode=True)


def shown(value: Any) -> str:
    """Its class, name and size."""
    size = f"{value.count_params():,} parameters" if value.built else "not built"
    return f"{type(value).__name__} {value.name}, {size}"
