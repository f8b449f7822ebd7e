"""fsspec over HTTP: what a folder's page lists, one object alone, a cache on top."""

from __future__ import annotations

import pytest

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectNotFoundError,
    SourceError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.fsspec import FsspecSource, fsspec_source
from tfstream.sources.fsspec_http import child
from tfstream.testing.sources import all_pages, found

OPTIONS = ReadOptions(attempts=1)


def open_root(root, credentials=None, options=OPTIONS, **fields):
    return FsspecSource(root=root, **fields).open(credentials, options)


def paths(store, prefix=""):
    return [info.path for info in found(store, prefix)]


class TestPages:
    """What the pages of web servers mean."""

    def test_links_elsewhere_are_no_keys(self, web):
        """Sorting links, parents, other hosts and schemes are not files of the folder."""
        web.page(
            "/data/",
            *("?C=N;O=D", "../", "..", "/", "./", "#top", "mailto:x@y", "http://example.com/x"),
            *("/other/x.jpg", "/data/", "./a.jpg", "/data/b.jpg", f"{web.url}/data/c.jpg"),
            web.url.replace("http:", "https:") + "/data/f.jpg",
            *("d&amp;e.jpg", "%64.jpg", "..."),
        )
        for name in ["a.jpg", "b.jpg", "c.jpg", "d&e.jpg", "d.jpg", "f.jpg", "..."]:
            web.file(f"/data/{name}", name.encode())
        store = open_root(f"{web.url}/data")
        expected = ["...", "a.jpg", "b.jpg", "c.jpg", "d&e.jpg", "d.jpg", "f.jpg"]
        assert expected == paths(store)
        assert [key.encode() for key in expected] == [store.get(info) for info in found(store)]

    @pytest.mark.parametrize("link", ["sub/x.jpg", "a%2Fb.jpg", "a%2f", "/data/sub/x.jpg"])
    def test_links_further_down(self, web, link):
        """A page that links past its own folder's files is no listing, and that is an error."""
        web.page("/data/", link)
        with pytest.raises(SourceError, match="no listing of a folder"):
            paths(open_root(f"{web.url}/data"))

    def test_a_folder_without_slash_is_no_file(self, web):
        """What turns out to be a page is left out, unless it is named as one."""
        web.page("/data/", "sub", "redirected", "index.html", "a.jpg")
        web.page("/data/sub")
        web.page("/data/index.html")
        web.answers["/data/redirected"] = (301, {"Location": "/data/redirected/"}, b"")
        web.file("/data/redirected/", b"")
        web.file("/data/a.jpg", b"data")
        assert ["a.jpg", "index.html"] == paths(open_root(f"{web.url}/data"))

    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            (401, AuthenticationError),
            (403, AccessDeniedError),
            (404, ObjectNotFoundError),
            (410, SourceError),
            (429, TransientError),
            (500, TransientError),
            (503, TransientError),
        ],
    )
    @pytest.mark.parametrize("where", ["/data/", "/data/sub/", "/data/sub/a.jpg"])
    def test_no_error_shortens_a_listing(self, web, status, expected, where):
        """A folder or file that cannot be had ends the listing with its own error."""
        web.page("/data/", "sub/", "x.jpg")
        web.page("/data/sub/", "a.jpg")
        web.file("/data/x.jpg", b"data")
        web.file("/data/sub/a.jpg", b"data")
        web.answers[where] = (status, {}, b"")
        with pytest.raises(expected) as error:
            paths(open_root(f"{web.url}/data"))
        assert expected in (SourceError, type(error.value))

    def test_endless_folders_end(self, web):
        """A server that answers every path with the same page is an error, not for ever."""

        class Any(dict):
            def get(self, path, _):
                return super().get("/data/") if path.endswith("/a/") else super().get(path)

        web.answers = Any()
        web.page("/data/", "a/")
        with pytest.raises(SourceError, match="folders in each other"):
            paths(open_root(f"{web.url}/data"))

    def test_a_size_that_is_not_told(self, web):
        """A file of unknown size cannot be checked, and is an error that names it."""
        web.page("/data/", "a.jpg")
        web.file("/data/a.jpg", b"data", **{"Content-Length": None})
        with pytest.raises(SourceError, match=r"does not tell the size: .*/data/a\.jpg"):
            paths(open_root(f"{web.url}/data"))

    def test_head_is_not_needed(self, web):
        """A server that knows no HEAD is asked with GET."""
        web.page("/data/", "a.jpg")
        web.answers["/data/a.jpg"] = lambda request: (
            (405, {}, b"") if request.command == "HEAD" else (200, {"ETag": '"x"'}, b"data")
        )
        assert [ObjectInfo("a.jpg", 4, "x")] == found(open_root(f"{web.url}/data"))


class TestSingle:
    """A pattern without wildcard: one object, or else a folder."""

    def test_an_object_of_a_server_without_listings(self, web):
        """The object is found without its folder's page."""
        web.answers["/data/"] = (403, {}, b"")
        web.file("/data/a b.jpg", b"")
        web.file("/data/a%20b.jpg", b"data", ETag='"x"')
        store = fsspec_source(f"{web.url}/data/a%20b.jpg").open(None, OPTIONS)
        (page,) = all_pages(store, "a b.jpg")
        assert [ObjectInfo("a b.jpg", 4, "x")] == page.objects
        assert store.get(page.objects[0]) == b"data"

    def test_a_folder(self, web):
        """What is a page is listed as a folder."""
        web.page("/data/", "train/", "train.txt")
        web.page("/data/train", "a.jpg")
        web.page("/data/train/", "a.jpg")
        web.file("/data/train/a.jpg", b"")
        web.file("/data/train.txt", b"")
        store = fsspec_source(f"{web.url}/data/train").open(None, OPTIONS)
        assert ["train.txt", "train/a.jpg"] == paths(store, "train")
        assert ["train/a.jpg"] == paths(store, "train/")

    def test_nothing(self, web):
        """Neither object nor folder: the error names both."""
        store = fsspec_source(f"{web.url}/data/a.jpg").open(None, OPTIONS)
        with pytest.raises(ObjectNotFoundError, match=r"/data, nor is there .*/data/a\.jpg"):
            paths(store, "a.jpg")

    def test_an_error_is_not_nothing(self, web):
        """An object that cannot be asked for is not taken for a folder."""
        web.answers["/data/a.jpg"] = (503, {}, b"")
        store = fsspec_source(f"{web.url}/data/a.jpg").open(None, OPTIONS)
        with pytest.raises(TransientError):
            paths(store, "a.jpg")


def test_a_cache_on_top(web, tmp_path):
    """`simplecache::` keeps what was read; keys are those of the URL below."""
    for folder in ["/data", "/data/"]:  # newer ones ask without the slash, and servers redirect
        web.page(folder, "a%20b.jpg")
    web.file("/data/a%20b.jpg", b"data")
    store = open_root(f"simplecache::{web.url}/data", {"cache_storage": str(tmp_path)})
    (info,) = found(store)
    assert ("a b.jpg", b"data") == (info.path, store.get(info))
    asked = len(web.requests)
    assert store.get(info) == b"data"
    assert asked == len(web.requests)


@pytest.mark.parametrize(
    ("link", "name"),
    [("a%20b", "a b"), ("a%2520b", "a%20b"), ("a/", "a/"), ("%FF", "\udcff"), ("./a", "a")],
)
def test_links(link, name):
    """A link is decoded once."""
    assert name == child(link)
