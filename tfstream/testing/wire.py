"""
HTTP/1.1 messages as the bytes that they are.

```
head   start line CRLF (name: value CRLF)* CRLF     kept raw, so that nothing is normalised
body   by Content-Length | chunked | until the end  `raw` as sent, `data` without chunk frames
```
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import NamedTuple


class Head(NamedTuple):
    """Start line and headers of a message; `raw` is every byte of both."""

    raw: bytes
    start: str
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        """The value of the first header of this name in any case, or an empty text."""
        found = (value for key, value in self.headers if key.lower() == name)
        return next(found, "")


class Body(NamedTuple):
    """A body as it was sent, and its content."""

    raw: bytes
    data: bytes


class Response(NamedTuple):
    """An answer with its whole body, ready to be changed."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def head(self) -> bytes:
        """Status line and headers as they are sent."""
        phrases = {code.value: code.phrase for code in HTTPStatus}
        lines = [f"HTTP/1.1 {self.status} {phrases.get(self.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def without(self, *names: str) -> Response:
        """The same without the headers of these lower-case names."""
        kept = tuple(header for header in self.headers if header[0].lower() not in names)
        return self._replace(headers=kept)

    def sized(self, length: int | None = None) -> Response:
        """The same with this Content-Length; None: the right one."""
        size = len(self.body) if length is None else length
        rest = self.without("content-length")
        return rest._replace(headers=(*rest.headers, ("Content-Length", str(size))))


async def read_head(reader: asyncio.StreamReader) -> Head:
    """The next head. Raises `asyncio.IncompleteReadError` where the other side is gone."""
    raw = await reader.readuntil(b"\r\n\r\n")
    # latin-1 gives every byte back, also those of a target that is not ASCII
    start, *lines = raw[:-4].decode("latin-1").split("\r\n")
    parts = (line.partition(":") for line in lines)
    return Head(raw, start, tuple((name, value.strip()) for name, _, value in parts))


async def read_body(reader: asyncio.StreamReader, head: Head, *, to_end: bool = False) -> Body:
    """The body that follows `head`; `to_end`: without a length it ends with the connection."""
    if "chunked" in head.get("transfer-encoding").lower():
        return await _read_chunks(reader)
    length = head.get("content-length")
    if length:
        data = await reader.readexactly(int(length))
    else:
        data = await reader.read() if to_end else b""
    return Body(data, data)


async def _read_chunks(reader: asyncio.StreamReader) -> Body:
    raw, data = [], []
    while True:
        line = await reader.readuntil(b"\r\n")
        raw.append(line)
        size = int(line.split(b";")[0], 16)
        if size == 0:
            break
        chunk = await reader.readexactly(size + 2)
        raw.append(chunk)
        data.append(chunk[:-2])
    while raw[-1] != b"\r\n":  # trailers, and the empty line that ends them
        raw.append(await reader.readuntil(b"\r\n"))
    return Body(b"".join(raw), b"".join(data))


async def read_response(reader: asyncio.StreamReader, method: str) -> Response:
    """The whole answer to a request of this method; interim (1xx) answers are passed over."""
    status = 100
    while status < 200:
        head = await read_head(reader)
        status = int(head.start.split(" ")[1])
    bare = method == "HEAD" or status in (204, 304)
    body = Body(b"", b"") if bare else await read_body(reader, head, to_end=True)
    response = Response(status, head.headers, body.data).without("connection", "transfer-encoding")
    return response if bare else response.sized()
