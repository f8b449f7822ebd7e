"""What can go wrong between a client and a server, as `Fault`; which `Request` met it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, get_args

from tfstream.testing.wire import Response

Kind = Literal[
    "change", "cut", "delay", "hang", "html", "ignore_range", "length", "reset", "status", "trickle"
]
HTML = b"<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>"


@dataclass
class Request:
    """
    One request that arrived.

    Attributes:
        target: Path and query exactly as sent, each byte one character (latin-1).
        headers: By lower-case name.
        started: `time.monotonic()` when its head had arrived.
        fault: The kind of the fault that it got, or None.
        status: What was answered; None before that, and where nothing was.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)  # they carry passwords
    started: float
    fault: Kind | None = None
    status: int | None = None

    @property
    def access_key_id(self) -> str | None:
        """Who signed (AWS Signature) or logged in (Basic), or None."""
        given = self.headers.get("authorization", "")
        if given.startswith("Basic "):
            return base64.b64decode(given[6:]).decode().partition(":")[0]
        signed = re.search("Credential=([^/]+)/", given)
        return signed.group(1) if signed else None


@dataclass(frozen=True)
class Fault:
    """
    What goes wrong, for which requests, how often.

    ```
    delay         waits `seconds`, then all is well
    reset         a TCP reset in place of the answer
    hang          no answer until the client gives up
    status        answers `status` itself, with `retry_after` and `body`
    html          answers 200 and an HTML page, as sign-in pages do
    cut           the right Content-Length, `after` bytes of the body, then the end
    length        a Content-Length that is wrong by `by`, the whole body, then the end
    trickle       one byte of the body every `seconds`
    change        another `body`, other `headers`, or both; all else as the server has it
    ignore_range  200 and the whole object; where Range is signed, `body` is the object
    ```

    Attributes:
        match: A part of the raw target, or a question about the request.
        skip: Matching requests that pass unharmed before the first fault.
        times: How many requests get it; None: all.
        seconds: Waited before the answer, whatever the kind; for `trickle` between bytes.
        retry_after: Seconds or an HTTP date, as the header has it.
    """

    kind: Kind
    _: KW_ONLY
    match: str | Callable[[Request], bool] = ""
    skip: int = 0
    times: int | None = 1
    seconds: float = 0.0
    status: int = 503
    retry_after: str | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int = 0
    by: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"Fault.kind is one of {', '.join(get_args(Kind))}, got {self.kind!r}")

    def matches(self, request: Request) -> bool:
        """Whether this fault is meant for this request."""
        if isinstance(self.match, str):
            return self.match in request.target
        return self.match(request)

    def rewrite(self, sent: bytes) -> bytes:
        """The request's bytes as the server gets them."""
        if self.kind != "ignore_range":
            return sent
        head, end, body = sent.partition(b"\r\n\r\n")
        return re.sub(rb"(?i)\r\nrange:[^\r]*", b"", head) + end + body

    def answer(self) -> Response | None:
        """What the client gets without the server being asked; None: ask the server."""
        extra = tuple(self.headers.items())
        if self.kind == "html":
            html = (("Content-Type", "text/html"), *extra)
            return Response(200, html, self.body or HTML).sized()
        if self.kind == "status":
            if self.retry_after is not None:
                extra += (("Retry-After", self.retry_after),)
            return Response(self.status, extra, self.body or b"").sized()
        if self.kind == "ignore_range" and self.body is not None:
            return Response(200, extra, self.body).sized()
        return None

    def change(self, response: Response) -> Response:
        """The server's answer as the client gets it."""
        if self.kind == "length":
            return response.sized(len(response.body) + self.by)
        if self.kind != "change":
            return response
        kept = response.without(*(name.lower() for name in self.headers))
        body = response.body if self.body is None else self.body
        return Response(kept.status, (*kept.headers, *self.headers.items()), body).sized()
