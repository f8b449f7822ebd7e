"""`Outcome`: what became of one object that was checked."""

from __future__ import annotations

from typing import NamedTuple

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectChangedError,
    ObjectGoneError,
    ObjectNotFoundError,
    ShardError,
    SourceError,
)
from tfstream.sources.base import ObjectInfo

UNREADABLE = "cannot be read"
KINDS: dict[type[Exception], str] = {
    AccessDeniedError: "access denied",
    ObjectChangedError: "changed since it was listed",
    ObjectGoneError: "data no longer stored",
    ObjectNotFoundError: "not found any more",
    ShardError: "broken shard",
}
"""What is wrong where nothing was decoded; else a DecodeError has its kind."""


class Outcome(NamedTuple):
    """
    Of one object.

    Fields:
        key: The object's.
        bytes: How many were read.
        format: By its header, such as `JPEG`; empty where it has none.
        decoded_by: The decode path, as in `stats()`; empty where nothing could be decoded.
        kind: What is wrong, one of not many texts such as `truncated JPEG`; empty: nothing is.
        error: The same in full.
    """

    key: str
    bytes: int = 0
    format: str = ""
    decoded_by: str = ""
    kind: str = ""
    error: str = ""


def unreadable(info: ObjectInfo, error: SourceError | ShardError) -> Outcome:
    """
    The outcome where an object could not be had.

    Errors:
        AuthenticationError: that is the error, and nothing about this object.
    """
    if isinstance(error, AuthenticationError):
        raise error
    return Outcome(info.path, kind=KINDS.get(type(error), UNREADABLE), error=str(error))
