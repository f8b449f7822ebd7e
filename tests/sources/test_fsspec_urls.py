"""fsspec: URLs as people write them, and what is refused before anything is sent."""

from __future__ import annotations

import fsspec
import pytest

from tfstream.errors import (
    MissingDependencyError,
    SpecError,
)
from tfstream.options import ReadOptions
from tfstream.sources.fsspec import FsspecSource, fsspec_source
from tfstream.testing.sources import found

OPTIONS = ReadOptions(attempts=1)


def open_root(root, credentials=None, options=OPTIONS, **fields):
    return FsspecSource(root=root, **fields).open(credentials, options)


def paths(store, prefix=""):
    return [info.path for info in found(store, prefix)]


class TestOpening:
    """What is refused before anything is sent."""

    @pytest.mark.parametrize(
        ("root", "protocol", "line"),
        [
            ("https://host/x", "https", 'pip install "fsspec[http]"'),
            ("sftp://host/x", "sftp", 'pip install "fsspec[sftp]"'),
            ("zip::hf://datasets/x.zip", "hf", 'pip install "huggingface_hub"'),
            ("box://x", "box", "Please install boxfs"),
        ],
    )
    def test_a_missing_package(self, monkeypatch, root, protocol, line):
        """The error is the pip line, or what fsspec says where there is no such line."""
        original = fsspec.get_filesystem_class

        def absent(name):
            if name == protocol:
                raise ImportError("Please install boxfs")
            return original(name)

        monkeypatch.setattr(fsspec, "get_filesystem_class", absent)
        with pytest.raises(MissingDependencyError) as error:
            open_root(root)
        assert f"{protocol}:// needs a package that is not installed: {line}" == str(error.value)

    def test_an_unknown_protocol(self):
        """It may be a filesystem of the user's own: the error says how to pass it."""
        with pytest.raises(SpecError, match=r"no protocol 'mine'.*credentials={'filesystem'"):
            open_root("mine://x")

    def test_a_filesystem_for_coroutines(self):
        """One that cannot be called from threads is refused."""
        own = fsspec.filesystem("http", asynchronous=True, skip_instance_cache=True)
        with pytest.raises(SpecError, match="asynchronous=False"):
            open_root("mine://x", {"filesystem": own})

    @pytest.mark.parametrize(
        "url",
        [
            "https://user:hush@host/x",
            "https://hush@host/x",
            "sftp://user:hush@host/x",
            "zip://x::https://user:hush@host/x.zip",
            "https://host/x?sig=hush",
            "https://host/x#hush",
            "simplecache::https://host/x?sig=hush",
        ],
    )
    def test_secrets_in_a_url(self, url):
        """A URL with a password or query is refused, unseen, with the way out."""
        for make in (fsspec_source, lambda url: FsspecSource(root=url)):
            with pytest.raises(SpecError, match="pass credentials") as error:
                make(url)
            assert "hush" not in str(error.value)

    @pytest.mark.parametrize("url", ["sftp://user@host/x", "github://owner:repo@main/x"])
    def test_names_in_a_url(self, url):
        """A user's name alone is no secret, nor are a repository and its branch."""
        assert url == FsspecSource(root=url).root

    @pytest.mark.parametrize(
        ("root", "portable"),
        [
            ("https://host/x", True),
            ("zip::https://host/x.zip", True),
            ("memory://x", False),
            ("file:///x", False),
            ("zip://x::/data/x.zip", False),
            ("mine://x", False),
        ],
    )
    def test_portable(self, root, portable):
        """What only this machine or process can open does not travel."""
        assert portable == FsspecSource(root=root).portable


class TestURLs:
    """URLs as people write them."""

    @pytest.mark.parametrize(
        ("url", "root", "pattern"),
        [
            ("memory://photos", "memory://", "photos"),
            ("memory://photos/", "memory://photos", "**"),
            ("memory://", "memory://", "**"),
            ("memory://photos/train/**/*.jpg", "memory://photos/train", "**/*.jpg"),
            ("memory://photos/a[[]1]/b?/c", "memory://photos/a[1]", "b?/c"),
            ("memory://*", "memory://", "*"),
            ("https://host", "https://host", "**"),
            ("https://host/", "https://host", "**"),
            ("https://host/a%20b/x.jpg", "https://host/a%20b", "x.jpg"),
            ("https://host/a%20b/c%20d%5B1.jpg", "https://host/a%20b", "c d[[]1.jpg"),
            ("https://host:80/train/*/%E5%86%99.jpg", "https://host:80/train", "*/写.jpg"),
            ("sftp://user@host/data/**", "sftp://user@host/data", "**"),
            ("file:///data/*.jpg", "file:///data", "*.jpg"),
            ("zip::https://host/x.zip", "zip://::https://host/x.zip", "**"),
            ("zip://train/*.jpg::https://h/x.zip", "zip://train::https://h/x.zip", "*.jpg"),
            ("simplecache::https://h/a/*.jpg", "simplecache::https://h/a", "*.jpg"),
            ("simplecache::zip://a/*::https://h/x", "simplecache::zip://a::https://h/x", "*"),
        ],
    )
    def test_patterns(self, url, root, pattern):
        """The root ends before the first wildcard, or before the last name."""
        assert FsspecSource(root=root, pattern=pattern) == fsspec_source(url)

    @pytest.mark.parametrize(
        ("root", "path", "url"),
        [
            ("memory://photos", "a b.jpg", "memory://photos/a b.jpg"),
            ("memory://", "a", "memory://a"),
            ("memory://photos", "", "memory://photos"),
            ("https://host/x", "a b#?.jpg", "https://host/x/a%20b%23%3F.jpg"),
            ("zip::https://host/x.zip", "a", "zip://a::https://host/x.zip"),
            ("zip://in::https://host/x.zip", "a", "zip://in/a::https://host/x.zip"),
            ("simplecache::https://host/x", "a", "simplecache::https://host/x/a"),
        ],
    )
    def test_url(self, root, path, url):
        """An object's URL has its key where the path is."""
        assert url == FsspecSource(root=root).url(path)

    def test_a_root_as_typed(self, web):
        """A URL with characters that URLs do not have is read as browsers do."""
        web.page("/my%20d%C3%A9ta/", "/my%20d%C3%A9ta/x.jpg")
        web.file("/my%20d%C3%A9ta/x.jpg", b"data")
        assert ["x.jpg"] == paths(open_root(f"{web.url}/my déta"))
