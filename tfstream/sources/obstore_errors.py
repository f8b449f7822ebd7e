"""
Which keys obstore can read, and what its errors mean: for S3, GCS, Azure and lakeFS' gateway.

obstore tells less than HTTP does: no response header (so no `Retry-After`), an exception of
its own for only a few statuses, and a text that may hold a signed URL. So the text is read
for the status and the store's error code, and never shown:

```
GenericError("Generic S3 error: Error performing GET https://... status code: 503 ...

              Debug source:
              Generic { ... inner: Status { status: 503, body: Some("<Code>SlowDown</Code>")
```
"""

from __future__ import annotations

import re

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectChangedError,
    ObjectNotFoundError,
    SourceError,
)
from tfstream.sources.base import TransientError

TRANSIENT_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses after which another attempt may succeed."""
TRANSIENT_CODES = frozenset({"RequestTimeout", "SlowDown", "ServerBusy"})
"""Error codes that say so under any status: S3 answers 400 to a request that came too slowly."""
AUTHENTICATION_CODES = frozenset(
    {
        "AuthenticationFailed",
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidAuthenticationInfo",
        "InvalidSecurity",
        "InvalidToken",
        "NoAuthenticationInformation",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
        "XAdminUserNotFound",  # versitygw, with 404
    }
)
"""Error codes of S3, GCS and Azure for credentials that they do not know, whatever the status."""

_ODD = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]|(?:\A|/)\.{0,2}(?:/|\Z)")
_STATUS = re.compile(r"^\s*status: (\d{3}),$", re.MULTILINE)
_CODE = re.compile(r"<Code>(\w+)</Code>")
_TOKEN_REQUEST = re.compile(r"^\s*source: TokenRequest \{$", re.MULTILINE)
_METADATA = re.compile(r"^\s*http://(?:metadata\.google\.internal|169\.254\.)", re.MULTILINE)
"""Where obstore asks for the machine's own credentials when it has found no others."""
_TRANSPORT = {
    "kind: Timeout,": "timeout",
    "IncompleteBody": "cut body",
    "HttpError {": "connection",
}


def addressable(key: str) -> bool:
    """
    Whether obstore reads exactly this key.

    It refuses `a//b`, `./a`, `a/..` and control characters, and reads another key for `a/`
    and `/a`. Such keys need another client.
    """
    return _ODD.search(key) is None


def classify(
    error: Exception, *, url: str, path: str | None = None, needs: str = "read permission"
) -> TransientError | SourceError:
    """
    What to raise for an obstore error: `raise classify(error, url=url) from None`.

    `TransientError` says try again. A `SourceError` is final, or unclear: where another client
    can ask the same, its answer is better. `from None`, because obstore's text may hold a
    signed URL. `url` and `needs` (the permission) are for the message.
    """
    detail = str(error).rpartition("\n\nDebug source:\n")[2]  # quoted: no key or body can fake it
    status, code = _found(_STATUS, detail), _found(_CODE, detail)
    if _TOKEN_REQUEST.search(detail) and not _may_pass(status, detail):
        return AuthenticationError(f"no usable credentials were found for {url}", path=path)
    if status is not None:
        return by_status(int(status), code, url=url, path=path, needs=needs)
    if "InvalidCertificate(" in detail:
        return SourceError(f"the server's certificate is not trusted: {url}", path=path)
    for mark, kind in _TRANSPORT.items():
        if mark in detail:
            return TransientError(kind, kind=kind)
    if type(error).__name__ == "UnauthenticatedError":
        return AuthenticationError(f"no usable credentials were found for {url}", path=path)
    return SourceError(f"an answer that obstore cannot read: {url}", path=path)


def _may_pass(status: str | None, detail: str) -> bool:
    """Whether a request for a token may succeed later; a machine without any never answers."""
    if status is not None:
        return int(status) in TRANSIENT_STATUSES
    return _METADATA.search(detail) is None


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[1] if match else None


def by_status(
    status: int,
    code: str | None,
    *,
    url: str,
    path: str | None = None,
    needs: str = "read permission",
    retry_after: float | None = None,
) -> TransientError | SourceError:
    """What to raise for an HTTP answer that is not a success."""
    said = f"{status} {code}" if code and code != str(status) else str(status)
    if status in TRANSIENT_STATUSES or code in TRANSIENT_CODES:
        return TransientError(said, kind=str(status), retry_after=retry_after)
    if status == 401 or code in AUTHENTICATION_CODES:
        return AuthenticationError(f"credentials are not accepted: {url} ({said})", path=path)
    if status == 403:
        return AccessDeniedError(f"access denied: {url} ({said}): needs {needs}", path=path)
    if status == 404:
        return ObjectNotFoundError(f"not found: {url} ({said})", path=path)
    if status in (412, 416):  # not that version any more; not that long any more
        return ObjectChangedError(f"changed since it was listed: {url} ({said})", path=path)
    return SourceError(f"unexpected answer: {url} ({said})", path=path)
