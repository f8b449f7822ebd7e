"""
Errors as Flyte can show them.

Flyte formats an exception by its `args[0]`; TensorFlow's have no args, which then is an
IndexError without a word about the cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def failing_as(kind: type[Exception]) -> Iterator[None]:
    """Whatever is raised inside becomes this class, with a text."""
    try:
        yield
    except kind:
        raise
    except Exception as error:
        raise kind(f"{type(error).__name__}: {error}") from error
