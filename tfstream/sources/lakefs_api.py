"""
lakeFS' HTTP API through one pool of connections. One attempt a call: no retry, no redirect.

A call costs about 300 us of CPU, of which urllib3 has most. Every wait ends: connecting,
and head and body together, each have their time.
"""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Mapping
from http.client import IncompleteRead
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from tfstream.errors import SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError
from tfstream.sources.deadline import DeadlineResponse
from tfstream.sources.lakefs_credentials import Access
from tfstream.sources.lakefs_errors import Answer, Ask, error_of

if TYPE_CHECKING:
    from urllib3 import HTTPConnectionPool

SPARE = 8
"""Connections kept beyond `max_in_flight`, for listings."""


class LakeFSApi:
    """The API of one server. May be used from many threads, and after a fork."""

    def __init__(self, access: Access, options: ReadOptions) -> None:
        self._access, self._options = access, options
        self._headers = {"Accept-Encoding": "identity", "User-Agent": "tfstream"}
        self._headers["Authorization"] = _authorization(access)
        self._pool: tuple[int, HTTPConnectionPool] | None = None
        scheme, _, rest = access.endpoint.partition("://")
        self.proxy = proxy_for(access.endpoint)
        whole = self.proxy and scheme == "http"  # such a proxy is told the whole URL
        path = rest[rest.index("/") :] if "/" in rest else ""
        self._before = (access.endpoint if whole else path) + "/api/v1"

    def send(self, path: str, ask: Ask, headers: Mapping[str, str] | None = None) -> Answer:
        """
        The answer to a GET, whatever its status. `path` is below `/api/v1` and quoted.

        Errors:
            TransientError: there is none, or not a whole one.
            SourceError: the server's certificate is not to be trusted.
        """
        from urllib3.exceptions import HTTPError

        try:
            response = self._connections().urlopen(
                "GET",
                self._before + path,
                headers={**self._headers, **headers} if headers else self._headers,
                retries=False,
                redirect=False,
                assert_same_host=False,  # through a proxy the host is another
                decode_content=False,
            )
        except HTTPError as error:
            raise self._failure(error, ask) from None
        return Answer(response.status, response.headers, response.data)

    def read(self, path: str, ask: Ask, headers: Mapping[str, str] | None = None) -> Answer:
        """The answer to a GET that succeeds, or what its failure means."""
        answer = self.send(path, ask, headers)
        if answer.status not in (200, 206):
            raise self.error(answer, ask)
        return answer

    def parsed(self, path: str, ask: Ask) -> dict[str, Any]:
        """The JSON object that a GET gives."""
        return self.content(self.read(path, ask), ask)

    def content(self, answer: Answer, ask: Ask) -> dict[str, Any]:
        """The JSON object of an answer that succeeded."""
        content = answer.parsed()
        if not isinstance(content, dict):
            raise self.error(answer, ask)
        return content

    def error(self, answer: Answer, ask: Ask) -> Exception:
        """What to raise for an answer that is not the one hoped for."""
        access = self._access
        return error_of(answer, ask, endpoint=access.endpoint, found_in=access.found_in)

    def close(self) -> None:
        """Drop the connections; a later call makes new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool[1].close()

    def _connections(self) -> HTTPConnectionPool:
        """This process' pool: a fork's child must not write to its parent's connections."""
        pid = os.getpid()
        if self._pool is None or self._pool[0] != pid:
            self._pool = pid, self._connect()
        return self._pool[1]

    def _connect(self) -> HTTPConnectionPool:
        import urllib3

        options = self._options
        timeout = urllib3.Timeout(connect=options.connect_timeout, read=options.read_timeout)
        most = options.max_in_flight + SPARE
        if self.proxy:
            user = urlsplit(self.proxy).netloc.rpartition("@")[0]
            headers = urllib3.make_headers(proxy_basic_auth=user) if user else None
            pools: urllib3.PoolManager = urllib3.ProxyManager(
                self.proxy, proxy_headers=headers, maxsize=most, timeout=timeout
            )
        else:
            pools = urllib3.PoolManager(maxsize=most, timeout=timeout)
        pool = pools.connection_from_url(self._access.endpoint)
        pool.ConnectionCls = type(
            "Connection", (pool.ConnectionCls,), {"response_class": DeadlineResponse}
        )
        return pool

    def _failure(self, error: Exception, ask: Ask) -> Exception:
        """What no answer means. urllib3's own text is long, and not shown."""
        from urllib3 import exceptions

        where = self._access.endpoint
        tls = next((cause for cause in _causes(error) if isinstance(cause, ssl.SSLError)), None)
        if isinstance(tls, ssl.SSLCertVerificationError):
            return SourceError(
                f"{where} has a certificate that is not trusted ({tls.verify_message}): set "
                "SSL_CERT_FILE to the authority that signed it",
                path=ask.path,
            )
        if tls is not None and tls.reason == "WRONG_VERSION_NUMBER":
            return SourceError(f"{where} does not speak https: try http://", path=ask.path)
        refused = isinstance(error, exceptions.NewConnectionError)  # urllib3 has it as a timeout
        if isinstance(error, exceptions.TimeoutError) and not refused:
            return TransientError(f"{where} gave no whole answer in time", kind="timeout")
        if any(isinstance(cause, IncompleteRead) for cause in _causes(error)):
            return TransientError(f"{where} ended its answer early", kind="cut body")
        return TransientError(f"{where} cannot be reached or broke off", kind="connection")


def segment(text: str) -> str:
    """A repository or ref as one segment of a path."""
    return quote(text, safe="")


def query(**fields: str | int) -> str:
    """The fields as a query, with `?`."""
    return "?" + urlencode(fields, quote_via=quote, safe="")


def proxy_for(endpoint: str) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name; never one to this machine."""
    from urllib.request import getproxies_environment, proxy_bypass

    parts = urlsplit(endpoint)
    host = parts.hostname or ""
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    local = host == "localhost" or host == "::1" or host.startswith("127.")
    if not proxy or local or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _authorization(access: Access) -> str:
    if access.token:
        return f"Bearer {access.token}"
    both = f"{access.access_key_id}:{access.secret_access_key}".encode()
    return "Basic " + base64.b64encode(both).decode()


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and all that it was made of, outermost first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        inner = next((arg for arg in error.args if isinstance(arg, BaseException)), None)
        error = inner or error.__cause__ or error.__context__
    return found
