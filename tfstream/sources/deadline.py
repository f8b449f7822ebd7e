"""
An HTTP response that is whole by a moment, or a `TimeoutError`.

A socket's timeout starts again with every byte, so a server that sends one byte a second is
never too slow for it. Here each wait gets only what is left of the whole response's time.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any


class DeadlineResponse(http.client.HTTPResponse):
    """Head and body must arrive within the timeout that the socket has when this is made."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()  # nothing is buffered yet
        self.fp = io.BufferedReader(_Deadline(sock, raw))


class _Deadline(io.RawIOBase):
    """Reads from `raw` until the socket's timeout, counted from now, is used up."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._sock, self._raw = sock, raw
        timeout = sock.gettimeout()
        self._end = None if timeout is None else time.monotonic() + timeout

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
