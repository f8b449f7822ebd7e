"""A web server for the tests of sources."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@contextmanager
def _serving(handler):
    """A web server on a thread; gives its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def serving():
    """`with serving(handler) as url`: a web server on a thread."""
    return _serving


class Web:
    """A web server of scripted answers."""

    def __init__(self):
        self.answers = {}
        self.requests = []
        self.leave = threading.Event()

    def page(self, path, *links):
        """A folder's page."""
        body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
        self.answers[path] = (200, {"Content-Type": "text/html"}, body)

    def file(self, path, body, **headers):
        """A file with its headers."""
        self.answers[path] = (200, {"Content-Type": "image/jpeg", **headers}, body)

    def answer(self, request):
        """Send what is scripted; a function decides by the request itself."""
        self.requests.append((request.command, request.path, dict(request.headers)))
        answer = self.answers.get(request.path, (404, {}, b""))
        answer = answer(request) if callable(answer) else answer
        if answer is None:
            self.leave.wait(30)
            return
        status, headers, body = answer
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            if value is not None:
                request.send_header(name, value)
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(body)


@pytest.fixture
def web():
    """A scripted web server, with its URL as `web.url`."""
    script = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            script.answer(self)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            """Nothing."""

    with _serving(Handler) as script.url:
        yield script
        script.leave.set()
