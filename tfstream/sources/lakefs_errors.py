"""
What lakeFS' answers mean.

```
2xx                          good
3xx                          SourceError: the endpoint is another
401, 403                     AuthenticationError: the keys are not known
  "insufficient permissions" AccessDeniedError: they do not allow this; also any other 403
404                          ObjectNotFoundError
410                          ObjectGoneError: in the commit, but garbage-collected
408, 429, 500, 502-504       TransientError
  "validation error"         with 500: what was asked for cannot be, as `main~x`
no JSON                      SourceError: that is no lakeFS
```
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectGoneError,
    ObjectNotFoundError,
    SourceError,
)
from tfstream.sources.base import TransientError
from tfstream.sources.obstore_errors import TRANSIENT_STATUSES


class Ask(NamedTuple):
    """
    What a request is for, to say so when it fails.

    Fields:
        url: What was asked for, as people write it.
        needs: The permission that it takes.
        path: The object's key.
    """

    url: str
    needs: str
    path: str | None = None


class Answer(NamedTuple):
    """One HTTP response, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def said(self) -> str | None:
        """The message of a lakeFS error, or None where this is none."""
        content = self.parsed()
        message = content.get("message") if isinstance(content, dict) else None
        return message[:200] if isinstance(message, str) else None

    @property
    def impossible(self) -> bool:
        """Whether what was asked for does not exist, or cannot: both are the same to a user."""
        if self.status == 404:
            return self.said is not None
        return self.status in (400, 500) and "validation error" in (self.said or "")

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asked to wait, from a number or an HTTP date."""
        text = self.headers.get("Retry-After", "")
        try:
            seconds = float(text)
        except ValueError:
            seconds = _until(text)
        return max(seconds, 0.0) if math.isfinite(seconds) else None

    def parsed(self) -> Any:
        """The body's JSON, or None where it has none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def error_of(answer: Answer, ask: Ask, *, endpoint: str, found_in: str) -> Exception:
    """What to raise for an answer that is not the one hoped for."""
    status, said = answer.status, answer.said
    told = f"{status}: {said}" if said else str(status)
    if status in TRANSIENT_STATUSES and not answer.impossible:
        return TransientError(told, kind=str(status), retry_after=answer.retry_after)
    if 300 <= status < 400:
        return _redirected(answer, endpoint)
    if said is None:
        return _foreign(answer, endpoint)
    if status == 401 and not said.startswith("insufficient permissions"):
        return AuthenticationError(
            f"lakeFS at {endpoint} does not accept the credentials from {found_in} ({told})",
            path=ask.path,
        )
    if status in (401, 403):
        return AccessDeniedError(
            f"access denied: {ask.url} ({told}): needs {ask.needs}", path=ask.path
        )
    if status == 410:
        return ObjectGoneError(
            f"gone: {ask.url} ({told}): the commit lists it, but its data is no longer stored, "
            "most likely removed by garbage collection",
            path=ask.path,
        )
    if answer.impossible:
        return ObjectNotFoundError(f"not found: {ask.url} ({told})", path=ask.path)
    return SourceError(f"unexpected answer: {ask.url} ({told})", path=ask.path)


def _until(date: str) -> float:
    """Seconds from now to an HTTP date; NaN where it is none."""
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, TypeError):
        return math.nan


def _redirected(answer: Answer, endpoint: str) -> SourceError:
    target = urlsplit(answer.headers.get("Location", ""))
    host = f"{target.scheme}://{target.hostname}" if target.hostname else "elsewhere"
    return SourceError(
        f"{endpoint} sends on to {host} ({answer.status}): give the address that lakeFS itself "
        "has as the endpoint"
    )


def _foreign(answer: Answer, endpoint: str) -> SourceError:
    kind = answer.headers.get("Content-Type", "no content type")
    start = answer.body[:60].decode("utf-8", "replace")
    return SourceError(
        f"{endpoint} does not answer as lakeFS does: {answer.status} with {kind}, {start!r}…: "
        "check the endpoint"
    )
