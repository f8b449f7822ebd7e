"""
Every error that tfstream raises.

```
TfstreamError
  SpecError (ValueError)                  where
  SourceError (OSError)                   path
    ObjectNotFoundError (FileNotFoundError)
    RefNotFoundError
    AccessDeniedError (PermissionError)
    AuthenticationError
    ObjectChangedError
    ObjectGoneError
    RetriesExhaustedError                 attempts, seconds
  ShardError (ValueError)                 path, offset
  DecodeError (ValueError)                path, key, kind
  CheckpointError (ValueError)            path
  NotPortableError (TypeError)
  MissingDependencyError (ImportError)
```

A graph keeps only an error's text, so the text alone carries the key and the cause;
the attributes are a convenience for code that catches the error in Python.
"""

from __future__ import annotations


class TfstreamError(Exception):
    """Base of all errors of tfstream."""


class SpecError(TfstreamError, ValueError):
    """A description that cannot be: `where` is its place, such as `$.order.seed`."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where


class SourceError(TfstreamError, OSError):
    """A store did not give what was asked; `path` is the object's key, where there is one."""

    def __init__(self, message: str, *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class ObjectNotFoundError(SourceError, FileNotFoundError):
    """No such object, no such bucket or repository, or nothing that matches a pattern."""


class RefNotFoundError(SourceError):
    """No such branch, tag or commit."""


class AccessDeniedError(SourceError, PermissionError):
    """The credentials are known to the store, but they do not allow this."""


class AuthenticationError(SourceError):
    """No credentials were found, or the store does not know them."""


class ObjectChangedError(SourceError):
    """The object is not the one that was listed when the dataset was pinned."""


class ObjectGoneError(SourceError):
    """The pinned commit lists the object, but its data is no longer stored."""


class RetriesExhaustedError(SourceError):
    """Every attempt failed; `attempts` and `seconds` say how many and for how long."""

    def __init__(
        self, message: str, *, path: str | None = None, attempts: int = 0, seconds: float = 0.0
    ) -> None:
        super().__init__(message, path=path)
        self.attempts = attempts
        self.seconds = seconds


class ShardError(TfstreamError, ValueError):
    """A shard that does not hold what its format says, at byte `offset` of `path`."""

    def __init__(self, message: str, *, path: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset


class DecodeError(TfstreamError, ValueError):
    """
    A record that cannot be decoded: `path` is its object, `key` its place in a shard.

    `kind` says what is wrong in few words, one of not many, such as `truncated JPEG`.
    """

    def __init__(
        self, message: str, *, path: str | None = None, key: str | None = None, kind: str = ""
    ) -> None:
        super().__init__(message)
        self.path = path
        self.key = key
        self.kind = kind


class CheckpointError(TfstreamError, ValueError):
    """A training's checkpoint that cannot be read, or is of another model; `path` is its file."""

    def __init__(self, message: str, *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class NotPortableError(TfstreamError, TypeError):
    """A dataset with a stage that cannot leave this process."""


class MissingDependencyError(TfstreamError, ImportError):
    """An optional package is absent; the message is the pip line that brings it."""
