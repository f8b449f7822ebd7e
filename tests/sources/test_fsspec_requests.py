"""fsspec over HTTP: what an answer means."""

from __future__ import annotations

from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest

from tfstream.errors import (
    AccessDeniedError,
    ObjectChangedError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError
from tfstream.sources.fsspec import FsspecSource
from tfstream.testing.sources import one

OPTIONS = ReadOptions(attempts=1)


def open_root(root, credentials=None, options=OPTIONS, **fields):
    return FsspecSource(root=root, **fields).open(credentials, options)


class TestRequests:
    """What comes back from a web server for one object."""

    @pytest.fixture
    def info(self, web):
        web.page("/data/", "a.jpg")
        web.file("/data/a.jpg", b"0123456789", ETag='"one"')
        return one(open_root(f"{web.url}/data"), "a.jpg")

    @pytest.fixture
    def store(self, web, info):
        assert (10, "one") == (info.size, info.token)
        return open_root(f"{web.url}/data")

    def test_a_cut_body(self, web, info, store):
        """A body that ends too early can be tried again."""
        web.file("/data/a.jpg", b"01234", **{"Content-Length": "10"})
        with pytest.raises(TransientError) as error:
            store.get(info)
        assert error.value.kind == "cut body"

    def test_a_short_body(self, web, info, store):
        """A shorter body of an object that has not changed can be tried again."""
        web.answers["/data/a.jpg"] = lambda request: (
            (200, {"ETag": '"one"', "Content-Length": "10"}, b"")
            if request.command == "HEAD"
            else (200, {}, b"01234")
        )
        for read in (store.get, partial(store.get_range, start=2, length=7)):
            with pytest.raises(TransientError, match="5 of 10 bytes") as error:
                read(info)
            assert error.value.kind == "cut body"

    def test_a_changed_object(self, web, info, store):
        """Another size with another token is a change, not a cut body."""
        web.file("/data/a.jpg", b"01234", ETag='"two"')
        with pytest.raises(ObjectChangedError, match="had 10 bytes and has 5 now"):
            store.get(info)

    def test_a_server_without_ranges(self, web, info, store):
        """The part is taken from the whole."""
        assert store.get_range(info, start=3, length=4) == b"3456"
        assert web.requests[-1][2]["Range"] == "bytes=3-6"

    def test_ranges_are_asked_for(self, web, info, store):
        """Only the part is sent where the server knows ranges."""
        web.answers["/data/a.jpg"] = (206, {"Content-Range": "bytes 3-6/10"}, b"3456")
        assert store.get_range(info, start=3, length=4) == b"3456"

    def test_nothing_is_unpacked(self, web, info, store):
        """A body that is marked as gzip comes as it is stored."""
        web.file("/data/a.jpg", b"0123456789", **{"Content-Encoding": "gzip"})
        assert store.get(info) == b"0123456789"
        assert web.requests[-1][2]["Accept-Encoding"] == "identity"

    def test_a_wait_is_transient(self, web, info, store):
        """429 and 503 say when to try again."""
        for header, expected in [("7", 7.0), (None, None), ("soon", None)]:
            web.answers["/data/a.jpg"] = (503, {"Retry-After": header}, b"")
            with pytest.raises(TransientError) as error:
                store.get(info)
            assert ("503", expected) == (error.value.kind, error.value.retry_after)

    def test_a_hang_ends(self, web, info):
        """An answer that does not come ends within the timeout."""
        web.answers["/data/a.jpg"] = lambda _: None
        store = open_root(f"{web.url}/data", options=ReadOptions(read_timeout=0.05))
        with pytest.raises(TransientError) as error:
            store.get(info)
        assert error.value.kind == "timeout"

    def test_a_refused_connection(self, info, serving):
        """A server that is down can be tried again."""
        with serving(BaseHTTPRequestHandler) as url:
            pass
        with pytest.raises(TransientError) as error:
            open_root(url).get(info)
        assert error.value.kind == "connection"

    def test_no_secret_is_told(self, web, info):
        """Neither headers nor query parameters from the credentials are in an error or cause."""
        secrets = {"headers": {"X-Key": "hush-hush"}, "params": {"Signature": "s3cr3t"}}
        store = open_root(f"{web.url}/data", secrets)
        web.answers["/data/a.jpg?Signature=s3cr3t"] = (403, {}, b"")
        with pytest.raises(AccessDeniedError, match="needs read permission") as error:
            store.get(info)
        assert (True, None) == (error.value.__suppress_context__, error.value.__cause__)
        assert web.requests[-1][2]["X-Key"] == "hush-hush"
        for text in (str(error.value), repr(store), repr(store._connection)):
            assert "hush" not in text
            assert "s3cr3t" not in text
