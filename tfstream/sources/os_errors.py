"""The operating system's errors as tfstream's: one table."""

from __future__ import annotations

import errno

from tfstream.errors import AccessDeniedError, ObjectNotFoundError, SourceError
from tfstream.sources.base import TransientError

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
_DENIED = frozenset({errno.EACCES, errno.EPERM})
_TRANSIENT = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.EINTR,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ESTALE,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETRESET,
        errno.ENETUNREACH,
        errno.EPIPE,
        errno.ETIMEDOUT,
    }
)
"""A disk or a mounted network folder that stutters, too many open files, a lost connection."""


def os_error(error: OSError, *, url: str, path: str | None) -> SourceError | TransientError:
    """
    What to raise for an error of the operating system at the object or folder `url`.

    Only the error's number is quoted: the text of a library's OSError may hold a credential.
    """
    code = error.errno
    if code in _ABSENT or isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return ObjectNotFoundError(f"not found: {url}", path=path)
    if code in _DENIED or isinstance(error, PermissionError):
        return AccessDeniedError(
            f"access denied: {url}: this user needs permission to read it, and to enter each "
            "folder above it",
            path=path,
        )
    if isinstance(error, TimeoutError):
        return TransientError(f"timed out: {url}", kind="timeout")
    word = errno.errorcode.get(code or 0, type(error).__name__)
    if code in _TRANSIENT or isinstance(error, ConnectionError):
        return TransientError(f"{word} at {url}", kind=word)
    return SourceError(f"cannot read {url}: {word}", path=path)
