"""fsspec: the contract over memory and over HTTP, and what filesystems list."""

from __future__ import annotations

import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler

import fsspec
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from tfstream.errors import (
    ObjectNotFoundError,
    SourceError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.fsspec import FsspecSource
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.sources import SourceTests, all_pages, found, one

OPTIONS = ReadOptions(attempts=1)


def fits_folders(key):
    """Whether a store of folders can hold it beside the other odd keys."""
    return not {"", ".", ".."} & set(key.split("/")) and key != "e"


class TestMemory(SourceTests):
    """`memory://` keeps the contract of every source."""

    odd_keys = tuple(filter(fits_folders, ODD_KEYS))
    pages_are_bounded = True
    notices_same_size = False  # it has no change token

    @pytest.fixture(autouse=True)
    def location(self):
        self.filesystem = fsspec.filesystem("memory")
        self.root = f"/{uuid.uuid4().hex}"
        self.filesystem.mkdir(self.root)
        yield
        self.filesystem.rm(self.root, recursive=True)

    def source(self):
        return FsspecSource(root=f"memory:/{self.root}")

    def missing_source(self):
        return FsspecSource(root=f"memory:/{self.root}/no such folder")

    def put(self, path, data):
        self.filesystem.pipe(f"{self.root}/{path}", data)

    def remove(self, path):
        self.filesystem.rm(f"{self.root}/{path}")


class FolderHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing."""


class TestHTTP(SourceTests):
    """A web server that lists its folders keeps the contract of every source."""

    odd_keys = tuple(filter(fits_folders, ODD_KEYS))
    notices_same_size = False  # this server has no change token

    @pytest.fixture(autouse=True)
    def location(self, tmp_path, serving):
        self.credentials = {"headers": {"Authorization": "Bearer a secret"}}
        self.root = tmp_path / "served"
        self.root.mkdir()
        with serving(partial(FolderHandler, directory=str(tmp_path))) as self.url:
            yield

    def source(self):
        return FsspecSource(root=f"{self.url}/served")

    def missing_source(self):
        return FsspecSource(root=f"{self.url}/nothing")

    def put(self, path, data):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def remove(self, path):
        (self.root / path).unlink()

    def secrets(self):
        return ["Bearer a secret"]


def open_root(root, credentials=None, options=OPTIONS, **fields):
    return FsspecSource(root=root, **fields).open(credentials, options)


def paths(store, prefix=""):
    return [info.path for info in found(store, prefix)]


class TestMemoryFolders:
    """What other filesystems list."""

    @pytest.fixture(autouse=True)
    def memory(self, monkeypatch):
        monkeypatch.setattr(MemoryFileSystem, "store", {})
        monkeypatch.setattr(MemoryFileSystem, "pseudo_dirs", [""])
        self.files = MemoryFileSystem(skip_instance_cache=True)
        self.own = {"filesystem": self.files}

    def test_empty_folders_are_directories(self):
        """A folder without anything in it is listed, to be counted."""
        self.files.pipe("/data/cat/1.jpg", b"")
        self.files.makedirs("/data/dog")
        store = open_root("mine://data", self.own)
        infos = [info for page in all_pages(store) for info in page.objects]
        expected = [ObjectInfo("cat/1.jpg", 0, "0"), ObjectInfo("dog/", 0, "", "directory")]
        assert expected == infos

    def test_a_root_that_is_an_object(self):
        """The URL of an object is no folder, and the error says so."""
        self.files.pipe("/data/a.jpg", b"")
        with pytest.raises(ObjectNotFoundError, match=r"an object, not a folder: mine://data/a"):
            paths(open_root("mine://data/a.jpg", self.own))

    def test_names_that_no_folder_lists(self):
        """A prefix with empty or dot segments has no keys: other folders' are never taken."""
        self.files.pipe("/data/a/1.jpg", b"")
        store = open_root("mine://data", self.own)
        for prefix in ["/a/", "a//", "./a/", "b/../a/"]:
            assert [] == paths(store, prefix)

    def test_the_whole_of_a_filesystem(self):
        """A root without a path is everything there is."""
        self.files.pipe("/a/1.jpg", b"data")
        store = open_root("memory://", self.own)
        assert ["a/1.jpg"] == paths(store)
        assert store.get(one(store, "a/1.jpg")) == b"data"

    def test_near(self):
        """Near a missing key are the first names of the deepest folder above it."""
        self.files.pipe("/data/train/cat/1.jpg", b"")
        store = open_root("mine://data", self.own)
        assert store.near("train/dog/*.jpg") == "in train/ there are: train/cat/"
        self.files.ls = None
        assert store.near("train/dog/*.jpg") == ""

    def test_a_wrapped_filesystem(self):
        """A `DirFileSystem` over one that is not made of coroutines works."""
        self.files.pipe("/data/train/a b#.jpg", b"data")
        store = open_root("mine://train", {"filesystem": DirFileSystem("/data", self.files)})
        assert ["a b#.jpg"] == paths(store)
        assert store.get(found(store)[0]) == b"data"

    def test_kinds(self):
        """Links and pipes are listed to be counted; unknown types are `other`."""
        infos = [
            {"name": "data/link", "size": 7, "type": "link"},
            {"name": "data/pipe", "size": 0, "type": "other"},
            {"name": "data", "size": 0, "type": "directory"},
            {"name": "/data/a", "size": 1, "type": "file", "md5": "m"},
        ]
        self.files.ls = lambda path, detail: infos
        store = open_root("mine://data", self.own)
        kinds = [(info.path, info.token, info.kind) for info in store.list_page("").objects]
        expected = [("a", "m", "object"), ("link", "", "symlink"), ("pipe", "", "other")]
        assert expected == kinds

    @pytest.mark.parametrize("name", ["/else/a", "/data/a/b", "/data//", "/dat", "/database"])
    def test_a_listing_of_something_else(self, name):
        """A name that is not directly in the folder is an error, not left out."""
        self.files.ls = lambda path, detail: [{"name": name, "size": 0, "type": "directory"}]
        with pytest.raises(SourceError, match=f"has '{name}'"):
            paths(open_root("mine://data", self.own))

    def test_sizes_that_are_not_listed(self):
        """A size that the listing leaves out is asked for; the others are not."""
        self.files.pipe("/data/a", b"data")
        original = self.files.ls

        def listing(path, detail):
            return [*original(path), {"name": "/data/b", "size": 7, "type": "file"}]

        self.files.ls = lambda path, detail: [
            info | ({"size": None} if info["name"] == "/data/a" else {})
            for info in listing(path, detail)
        ]
        store = open_root("mine://data", self.own)
        assert [ObjectInfo("a", 4, "4"), ObjectInfo("b", 7, "7")] == found(store)


def test_archives(tmp_path):
    """A zip file's members are read through its URL, from many threads."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        for number in range(20):
            file.writestr(f"train/{number % 2}/{number}.jpg", str(number))
    for root, prefix in [("zip", "train/"), ("zip://", "train/"), ("zip://train", "")]:
        store = open_root(f"{root}::file://{tmp_path}/a.zip")
        infos = found(store)
        assert {f"{prefix}{n % 2}/{n}.jpg" for n in range(20)} == {info.path for info in infos}
        with ThreadPoolExecutor(8) as threads:
            data = list(threads.map(store.get, infos))
        assert [info.path.split("/")[-1] for info in infos] == [f"{int(d)}.jpg" for d in data]
