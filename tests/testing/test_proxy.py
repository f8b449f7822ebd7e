"""The fault-injecting proxy, in front of a server that answers with what it got."""

import base64
import contextlib
import gc
import http.client
import socket
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tfstream.testing.proxy import Fault, FaultProxy


class Echo(socketserver.StreamRequestHandler):
    """Answers each request with its own bytes as the body."""

    def handle(self):
        """All requests of a connection; one to `/chunked` in two chunks, `/old` as HTTP/1.0."""
        while first := self.rfile.readline():
            head = first + b"".join(iter(self.rfile.readline, b"\r\n"))
            lines = head.decode("latin-1").lower().splitlines()
            sizes = [int(line[15:]) for line in lines if line.startswith("content-length:")]
            body = self.rfile.read(sum(sizes))
            if "transfer-encoding: chunked" in lines:
                body = b"".join(iter(self.rfile.readline, b"\r\n")) + b"\r\n"
            self.answer(lines[0], head + b"\r\n" + body)
            if "/old" in lines[0]:
                return

    def answer(self, first, body):
        """One answer, interim answers included where `Expect` asks for them."""
        if b"Expect: " in body:
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "/chunked" in first:
            head, half = b"Transfer-Encoding: chunked\r\n\r\n", len(body) // 2
            parts = body[:half], body[half:], b""
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        else:
            head = b"" if "/old" in first else b"Content-Length: %d\r\n" % len(body)
            head += b'ETag: "a"\r\n\r\n'
        version = b"1.0" if "/old" in first else b"1.1"
        bare = first.startswith("head") or "/empty" in first
        status = b"204 No Content" if "/empty" in first else b"200 OK"
        self.wfile.write(b"HTTP/%b %b\r\n%b%b" % (version, status, head, b"" if bare else body))


@pytest.fixture(scope="module")
def server():
    """The address of an echo server."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as echo:
        thread = threading.Thread(target=echo.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{echo.server_address[1]}"
        echo.shutdown()
        thread.join()


@pytest.fixture
def proxy(server):
    """A proxy in front of it."""
    with FaultProxy(server) as proxy:
        yield proxy


def ask(proxy, target="/x", method="GET", *, headers=(), timeout=20):
    """One request on a connection of its own: status, headers, body."""
    client = http.client.HTTPConnection(urlsplit(proxy.endpoint).netloc, timeout=timeout)
    try:
        client.request(method, target, headers=dict(headers))
        response = client.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        client.close()


def raw(proxy, *requests):
    """Send these bytes on one connection and give all that comes back until its end."""
    parts = urlsplit(proxy.endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as client:
        for request in requests:
            client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


@pytest.mark.parametrize("target", ["//a/../b%2f%2F+?x=%20&y", "/é".encode().decode("latin-1")])
def test_request_bytes_arrive_unchanged(proxy, target):
    """Target, Host and the order and case of headers reach the server byte for byte."""
    request = f"GET {target} HTTP/1.1\r\nhOsT: a.b:1\r\nX-Two:  y \r\nX-Two: z\r\n\r\n".encode(
        "latin-1"
    )
    assert request == raw(proxy, request).partition(b"\r\n\r\n")[2]
    assert [target] == [request.target for request in proxy.requests]


def test_bodies_pass_whatever_their_framing(proxy):
    """A sized and a chunked request body go on as they are, on one kept connection."""
    sized = b"PUT /1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    chunked = (
        b"PUT /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n"
    )
    answer = raw(proxy, sized, chunked)
    assert sized in answer
    assert answer.endswith(b"\r\n\r\n" + chunked)
    assert [("PUT", "/1", 200), ("PUT", "/2", 200)] == [
        (request.method, request.target, request.status) for request in proxy.requests
    ]


@pytest.mark.parametrize("target", ["/chunked", "/old"])
def test_answers_of_every_framing_get_a_length(proxy, target):
    """A chunked answer, and one that ends with the connection, come whole and with a length."""
    status, headers, body = ask(proxy, target)
    assert (200, str(len(body))) == (status, headers["Content-Length"])
    assert body.startswith(b"GET " + target.encode())


def test_answers_without_a_body(proxy):
    """The answer to HEAD keeps the length that GET would have; 204 has no body."""
    status, headers, body = ask(proxy, "/x", "HEAD")
    assert (200, b"") == (status, body)
    assert int(headers["Content-Length"]) > 0
    assert (204, b"") == ask(proxy, "/empty")[::2]


def test_expected_continue_is_answered(proxy):
    """A client that waits for `100 Continue` gets it, and one final answer."""
    request = b"PUT /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nz"
    answer = raw(proxy, request)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\n\r\n" + request)


def test_status_is_answered_in_place_of_the_server(proxy):
    """`status` gives its status, Retry-After and body as often as asked, then all is well."""
    proxy.add(Fault("status", status=429, retry_after="7", body=b"slow", times=2))
    for _ in range(2):
        status, headers, body = ask(proxy)
        assert (429, "7", b"slow") == (status, headers["Retry-After"], body)
    assert 200 == ask(proxy)[0]
    assert [("status", 429), ("status", 429), (None, 200)] == [
        (request.fault, request.status) for request in proxy.requests
    ]


def test_reset_is_a_reset(proxy):
    """`reset` ends the connection by RST, with no answer noted."""
    proxy.add(Fault("reset"))
    with pytest.raises(ConnectionResetError):
        ask(proxy)
    assert [("reset", None)] == [(request.fault, request.status) for request in proxy.requests]


@pytest.mark.parametrize("fault", [Fault("cut", after=4), Fault("length", by=4)])
def test_short_bodies(proxy, fault):
    """`cut` and a `length` that is too large end the body before its declared length."""
    proxy.add(fault)
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(proxy)
    assert b"GET " == caught.value.partial[:4]
    if fault.kind == "cut":
        assert b"GET " == caught.value.partial


def test_length_too_small(proxy):
    """A `length` below the truth hides the rest of the body from a client that trusts it."""
    whole = ask(proxy)[2]
    proxy.add(Fault("length", by=-3))
    assert whole[:-3] == ask(proxy)[2]


def test_html_and_changed_answers(proxy):
    """`html` is a page with status 200; `change` swaps body and headers, and sizes them."""
    proxy.add(Fault("html"), Fault("change", body=b"new", headers={"ETag": '"b"'}))
    status, headers, body = ask(proxy)
    assert (200, "text/html") == (status, headers["Content-Type"])
    assert body.startswith(b"<!DOCTYPE html>")
    status, headers, body = ask(proxy)
    assert (200, '"b"', b"new", "3") == (status, headers["ETag"], body, headers["Content-Length"])


def test_change_of_headers_keeps_the_body(proxy):
    """`change` without a body leaves the server's."""
    proxy.add(Fault("change", headers={"etag": '"b"'}))
    status, headers, body = ask(proxy)
    assert (200, '"b"') == (status, headers["etag"])
    assert body.startswith(b"GET /x")


def test_ignored_range(proxy):
    """`ignore_range` takes Range from the request, or answers 200 with the body it was given."""
    proxy.add(Fault("ignore_range"), Fault("ignore_range", body=b"whole"))
    asked = {"Range": "bytes=0-1", "X-Other": "kept"}
    seen = ask(proxy, headers=asked)[2]
    assert b"Range" not in seen
    assert b"X-Other: kept\r\n" in seen
    assert (200, b"whole") == ask(proxy, headers=asked)[::2]


def test_slow_answers_come_whole(proxy):
    """`delay` and `trickle` change nothing but the time."""
    whole = ask(proxy)[2]
    proxy.add(Fault("delay", seconds=0.01), Fault("trickle", seconds=0.0001))
    assert [whole, whole] == [ask(proxy)[2], ask(proxy)[2]]
    assert [None, "delay", "trickle"] == [request.fault for request in proxy.requests]


def test_hang_ends_when_the_client_gives_up(proxy):
    """`hang` gives no answer; the next connection is served as ever."""
    proxy.add(Fault("hang"))
    with pytest.raises(TimeoutError):
        ask(proxy, timeout=0.05)
    assert 200 == ask(proxy)[0]


def proxies():
    """The threads of all proxies that there are, also of fixtures of the whole session."""
    return [thread for thread in threading.enumerate() if thread.name == "FaultProxy"]


def test_closing_ends_every_wait(server):
    """`close` drops clients that wait on a hang, a delay or a trickle, and leaves no thread."""
    before = proxies()
    proxy = FaultProxy(server)
    proxy.add(
        Fault("hang", match="hang"),
        Fault("delay", match="delay", seconds=3600),
        Fault("trickle", match="trickle", seconds=3600),
    )
    with ThreadPoolExecutor(3) as clients:
        with proxy:
            waiting = [
                clients.submit(ask, proxy, f"/{kind}") for kind in ("hang", "delay", "trickle")
            ]
            proxy.wait_for(3)
        assert all(isinstance(each.exception(20), Exception) for each in waiting)
    proxy.close()
    assert [] == [thread for thread in proxies() if thread not in before]


def test_closing_leaves_no_socket(server):
    """Connections that are being accepted while the proxy closes are closed with it."""
    for _ in range(20):
        with contextlib.ExitStack() as clients, FaultProxy(server) as proxy:
            address = ("127.0.0.1", urlsplit(proxy.endpoint).port)
            for _ in range(3):
                clients.enter_context(socket.create_connection(address, timeout=20))
    gc.collect()  # a socket that was lost would warn now, which is an error


def test_who_signed(proxy):
    """The access key id of a request is read from Basic and from AWS signatures, never shown."""
    basic = "Basic " + base64.b64encode(b"me:secret").decode()
    for given in (
        basic,
        "AWS4-HMAC-SHA256 Credential=you/20240101/r/s3, Signature=f00",
        "Bearer z",
    ):
        ask(proxy, headers={"Authorization": given})
    ask(proxy)
    assert ["me", "you", None, None] == [request.access_key_id for request in proxy.requests]
    assert not any(word in repr(proxy.requests) for word in (basic, "f00", "Bearer"))


def test_faults_are_chosen_in_order(proxy):
    """The first fault that matches and is not used up is met; `skip` lets some pass first."""
    proxy.add(
        Fault("status", match="/a", status=500, skip=1),
        Fault("status", match=lambda request: request.method == "HEAD", status=502, times=None),
        Fault("status", match="/a", status=503, times=None),
    )
    statuses = [ask(proxy, "/a")[0] for _ in range(3)]
    assert [503, 500, 503] == statuses
    assert [502, 502, 200] == [ask(proxy, "/b", method)[0] for method in ("HEAD", "HEAD", "GET")]


def test_clear_forgets(proxy):
    """After `clear` no fault is met and no request is listed."""
    proxy.add(Fault("status", times=None))
    assert 503 == ask(proxy)[0]
    proxy.clear()
    assert ([], 0) == (proxy.requests, proxy.max_in_flight)
    assert 200 == ask(proxy)[0]


def test_requests_in_flight_are_counted(proxy):
    """`max_in_flight` is the most requests that were unanswered at the same time."""
    proxy.add(Fault("hang", times=3))
    with ThreadPoolExecutor(3) as clients:
        waiting = [clients.submit(ask, proxy) for _ in range(3)]
        proxy.wait_for(3)
        assert 3 == proxy.max_in_flight
        proxy.close()
        assert all(isinstance(each.exception(20), Exception) for each in waiting)


def test_waiting_for_requests_ends(proxy):
    """`wait_for` says how many came where too few did."""
    with pytest.raises(TimeoutError, match="0 of 1 requests"):
        proxy.wait_for(1, timeout=0.01)


def test_server_down_is_a_closed_connection(server):
    """Where the server cannot be reached the client's connection ends without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with FaultProxy(f"http://127.0.0.1:{port}") as proxy, pytest.raises(ConnectionError):
        ask(proxy)
    assert [None] == [request.status for request in proxy.requests]


def test_unknown_kind():
    """A kind that is not in the table is refused at once."""
    with pytest.raises(ValueError, match=r"one of change, cut, .* got 'slow'"):
        Fault("slow")
