"""`GET /health`: what a process that serves says of itself, as JSON, from a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def health(port: int | None, status: Callable[[], Mapping[str, Any]]) -> Iterator[int | None]:
    """
    Answer on `port`, on all addresses, while inside; 0 is any free one, None is not at all.

    Gives the port. `status` is called for each request.
    """
    if port is None:
        yield None
        return
    server = ThreadingHTTPServer(("", port), _handler(status))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _handler(status: Callable[[], Mapping[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Health(BaseHTTPRequestHandler):
        timeout = 10  # seconds, for a client that says nothing

        def do_GET(self) -> None:
            if self.path != "/health":
                self.send_error(404)
                return
            body = json.dumps(dict(status())).encode() + b"\n"
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: a probe comes every few seconds."""

    return Health
