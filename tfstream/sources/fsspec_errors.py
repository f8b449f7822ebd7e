"""
What fsspec's filesystems raise, as tfstream's errors: one table.

Each filesystem has its own client, so errors are told by the HTTP status that they carry, by
the name of their class (none is imported for that), and by the operating system's table.
Their texts are shown only where nothing else is known, and without credentials or queries.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import metadata
from typing import Any

from tfstream.errors import AuthenticationError, MissingDependencyError, SourceError
from tfstream.sources.base import TransientError
from tfstream.sources.obstore_errors import by_status
from tfstream.sources.os_errors import os_error
from tfstream.sources.s3_errors import retry_after

_CUT = frozenset({"ClientPayloadError", "ChunkedEncodingError", "IncompleteRead"})
_CERTIFICATE = frozenset({"ClientConnectorCertificateError", "SSLCertVerificationError"})
_TIMEOUT = frozenset({"TimeoutError", "Timeout"})
_CONNECTION = frozenset({"ClientConnectionError", "ConnectionError", "SSHException", "EOFError"})
_LOGIN = frozenset(
    {
        "AuthenticationException",  # paramiko, before SSHException: it is one
        "ClientAuthenticationError",
        "DefaultCredentialsError",
        "NoCredentialsError",
    }
)
_PACKAGES = {
    "arrow_hdfs": "fsspec[arrow]",
    "az": "adlfs",
    "dbfs": "requests",
    "gist": "requests",
    "hf": "huggingface_hub",
    "https": "fsspec[http]",
    "jlab": "requests",
    "jupyter": "requests",
    "lakefs": "lakefs-spec",
    "oss": "ossfs",
    "s3a": "fsspec[s3]",
    "webdav": "webdav4[fsspec]",
    "webhdfs": "requests",
}


def fsspec_error(
    error: Exception, *, url: str, path: str | None, credentials: Mapping[str, Any] | None
) -> Exception:
    """What to raise, `from None`, for an error at the object or folder `url`."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception) and _tells(cause):
        error = cause  # fsspec's HTTP says "not found" for any failure
    status = _status(error)
    if status is not None:
        headers = getattr(error, "headers", None) or {}
        after = retry_after(headers.get("Retry-After"))
        return by_status(status, None, url=url, path=path, retry_after=after)
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _LOGIN:
        return AuthenticationError(
            f"credentials are not accepted: {url}: pass credentials={{...}}, the filesystem's "
            "own options",
            path=path,
        )
    if names & _CERTIFICATE:
        return SourceError(f"the server's certificate is not trusted: {url}", path=path)
    if names & _TIMEOUT or isinstance(error, asyncio.TimeoutError):
        return TransientError(f"timeout: {url}", kind="timeout")
    if names & _CUT:
        return TransientError(f"cut body: {url}", kind="cut body")
    if names & _CONNECTION:
        return TransientError(f"connection: {url}", kind="connection")
    if isinstance(error, (FileNotFoundError, NotADirectoryError, PermissionError)) or (
        isinstance(error, OSError) and error.errno
    ):
        return os_error(error, url=url, path=path)
    said = without_secrets(str(error), credentials)
    return SourceError(f"cannot read {url}: {type(error).__name__}: {said}", path=path)


def missing(protocol: str, hint: str) -> MissingDependencyError:
    """The pip line that brings the package for a protocol; `hint` is fsspec's own word."""
    extras = metadata("fsspec").get_all("Provides-Extra") or []
    package = _PACKAGES.get(protocol) or (f"fsspec[{protocol}]" if protocol in extras else None)
    line = f'pip install "{package}"' if package else hint
    return MissingDependencyError(f"{protocol}:// needs a package that is not installed: {line}")


def without_secrets(text: str, credentials: Mapping[str, Any] | None) -> str:
    """The text without the credentials' values, and its URLs without user and query."""
    for secret in sorted(texts(credentials), key=len, reverse=True):
        text = text.replace(secret, "…")
    text = re.sub(r"(?<=//)[^/\s@]*@", "…@", text)
    return re.sub(r"(?<=\?)[^\s'\"<>]+", "…", text)[:300]


def texts(value: object) -> Iterator[str]:
    """Every text of at least four letters in nested credentials."""
    if isinstance(value, str):
        yield from [value] if len(value) >= 4 else []
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts(each)


def _tells(cause: Exception) -> bool:
    """Whether a cause says more than that something was not found."""
    return _status(cause) is not None or not isinstance(cause, (LookupError, FileNotFoundError))


def _status(error: Exception) -> int | None:
    """The HTTP status that an error of aiohttp, requests, Google's or Azure's client carries."""
    response = getattr(error, "response", None)
    for holder in (error, response):
        for name in ("status", "status_code", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None
