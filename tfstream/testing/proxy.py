"""
A reverse proxy that injects faults, in front of any HTTP server.

```python
with FaultProxy("http://127.0.0.1:8000") as proxy:
    proxy.add(Fault("status", match="/x.jpg", status=503, retry_after="1", times=2))
    ...                                  # read through proxy.endpoint
    assert 3 == sum("/x.jpg" in request.target for request in proxy.requests)
```

A request goes on byte for byte, Host and target too, so that signatures stay valid. Each one
has its own connection to the server; the client's is kept alive. One thread runs it all, and
`close` ends every wait at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
from concurrent.futures import Future
from types import TracebackType
from typing import cast
from urllib.parse import urlsplit

from tfstream.testing.faults import Fault, Request
from tfstream.testing.wire import Head, Response, read_body, read_head, read_response

__all__ = ["Fault", "FaultProxy", "Request"]

WELL = Fault("delay")  # by no time: what a request meets when no fault was added for it
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD_BYTES = 1 << 20  # the longest head that is read; S3 keys alone may be 1,024 bytes, escaped


class _Rule:
    """A fault and how often it was met."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.met = 0

    def applies(self, request: Request) -> bool:
        """Whether this request gets it; counts a request that matches."""
        if not self.fault.matches(request):
            return False
        self.met += 1
        last = float("inf") if self.fault.times is None else self.fault.skip + self.fault.times
        return self.fault.skip < self.met <= last


class FaultProxy:
    """
    The proxy itself, for use in `with`. Of the added faults the first that applies is met.

    Attributes:
        endpoint: Its own address, to use in place of `target`.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Condition()  # re-entrant: a fault's `match` may ask for `requests`
        self._rules: list[_Rule] = []
        self._requests: list[Request] = []
        self._in_flight = self._most = 0
        self._stop: Future[None] = Future()
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="FaultProxy")

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, *faults: Fault) -> None:
        """Inject these from the next request on."""
        with self._lock:
            self._rules += [_Rule(fault) for fault in faults]

    def clear(self) -> None:
        """Forget all faults and requests."""
        with self._lock:
            self._rules, self._requests, self._most = [], [], 0

    @property
    def requests(self) -> list[Request]:
        """Every request since the start or the last `clear`, in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def max_in_flight(self) -> int:
        """The most requests that were under way at the same time."""
        with self._lock:
            return self._most

    def wait_for(self, count: int, timeout: float = 20.0) -> None:
        """Wait until this many requests have arrived; TimeoutError after `timeout` seconds."""
        with self._lock:
            if not self._lock.wait_for(lambda: len(self._requests) >= count, timeout):
                raise TimeoutError(f"{len(self._requests)} of {count} requests in {timeout} s")

    def close(self) -> None:
        """Drop every connection and stop. May be called twice."""
        if not self._stop.done():
            self._stop.set_result(None)
        if self._thread.is_alive():
            self._thread.join()
        self._listener.close()

    async def _main(self) -> None:
        server = await asyncio.start_server(
            self._serve, sock=self._listener, limit=HEAD_BYTES, backlog=1024
        )
        await asyncio.wrap_future(self._stop)
        # A server that is closed loses the sockets that it has just accepted (asyncio's own
        # accepting fails then), so first no more come, and those that came start and end.
        asyncio.get_running_loop().remove_reader(self._listener)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for connection in self._connections:
                connection.cancel()
            await asyncio.wait(others)
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client connection. That either side goes, or `close` cancels, is no error here."""
        ends = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
        task = cast(asyncio.Task[None], asyncio.current_task())
        self._connections.add(task)
        try:
            with contextlib.suppress(*ends):
                while not self._stop.done() and await self._exchange((reader, writer)):
                    pass
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()
            self._connections.remove(task)

    async def _exchange(self, client: Streams) -> bool:
        """One request and its answer. True where the connection goes on."""
        reader, writer = client
        head = await read_head(reader)
        if head.get("expect"):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        sent = head.raw + (await read_body(reader, head)).raw
        request, fault = self._arrived(head)
        try:
            whole = await self._respond(client, request, fault, sent)
            return whole and head.get("connection").lower() != "close"
        finally:
            with self._lock:
                self._in_flight -= 1

    def _arrived(self, head: Head) -> tuple[Request, Fault]:
        method, _, rest = head.start.partition(" ")
        headers = {name.lower(): value for name, value in head.headers}
        request = Request(method, rest.rpartition(" ")[0], headers, time.monotonic())
        with self._lock:
            rules = (rule.fault for rule in self._rules if rule.applies(request))
            fault = next(rules, WELL)
            request.fault = None if fault is WELL else fault.kind
            self._requests.append(request)
            self._in_flight += 1
            self._most = max(self._most, self._in_flight)
            self._lock.notify_all()
        return request, fault

    async def _ask(self, request: Request, sent: bytes) -> Response:
        reader, writer = await asyncio.open_connection(*self._target, limit=HEAD_BYTES)
        try:
            writer.write(sent)
            await writer.drain()
            return await read_response(reader, request.method)
        finally:
            writer.transport.abort()

    async def _respond(self, client: Streams, request: Request, fault: Fault, sent: bytes) -> bool:
        """Answer one request. True where the whole answer was sent."""
        if fault.kind == "hang":
            await client[0].read()  # until the client gives up
            return False
        if fault.kind != "trickle":
            await asyncio.sleep(fault.seconds)
        if fault.kind == "reset":
            _reset(client[1])
            return False
        response = fault.answer() or await self._ask(request, fault.rewrite(sent))
        response = fault.change(response)
        if request.method == "HEAD":
            response = response._replace(body=b"")
        request.status = response.status
        await _send(client[1], response, fault)
        return fault.kind not in ("cut", "length")


async def _send(writer: asyncio.StreamWriter, response: Response, fault: Fault) -> None:
    writer.write(response.head())
    if fault.kind == "trickle":
        for byte in response.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(fault.seconds)
    else:
        writer.write(response.body[: fault.after] if fault.kind == "cut" else response.body)
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with RST: that is what closing does to a socket that lingers 0 s."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
