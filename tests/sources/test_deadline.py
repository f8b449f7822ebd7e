"""A response that is whole by a moment."""

from __future__ import annotations

import socket
import threading

import pytest

from tfstream.sources.deadline import DeadlineResponse

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\nX-Slow: yes\r\n\r\n"


@pytest.fixture
def ends():
    """Both ends of a connection, the client's with a timeout of 0.3 s."""
    client, server = socket.socketpair()
    client.settimeout(0.3)
    with client, server:
        yield client, server


def drip(server, data, done):
    """Send a byte every 0.05 s: each soon enough for the socket, all together too late."""
    for number in range(len(data)):
        server.sendall(data[number : number + 1])
        if done.wait(0.05):
            return


def whole(response):
    """Head and body of a response."""
    response.begin()
    return response.status, response.headers["X-Slow"], response.read()


@pytest.mark.parametrize(("at_once", "slowly"), [(b"", HEAD), (HEAD, b"x" * 60)])
def test_a_trickle_ends_in_time(ends, at_once, slowly):
    """A head or a body that comes byte by byte is a TimeoutError, however small the pauses."""
    client, server = ends
    done = threading.Event()
    server.sendall(at_once)
    thread = threading.Thread(target=drip, args=(server, slowly, done))
    thread.start()
    response = DeadlineResponse(client, method="GET")
    try:
        with response, pytest.raises(TimeoutError):
            whole(response)
    finally:
        done.set()
        thread.join()


def test_what_comes_in_time_is_read(ends):
    """Head and body are as they were sent, and so is the next response of the connection."""
    client, server = ends
    for body in (b"a" * 60, b"b" * 60):
        server.sendall(HEAD + body)
        with DeadlineResponse(client, method="GET") as response:
            assert (200, "yes", body) == whole(response)


def test_without_a_timeout_it_waits(ends):
    """A socket that may wait for ever still does."""
    client, server = ends
    client.settimeout(None)
    server.sendall(HEAD + b"x" * 60)
    with DeadlineResponse(client, method="GET") as response:
        assert (200, "yes", b"x" * 60) == whole(response)
