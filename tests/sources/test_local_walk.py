"""Folders: what is listed, links, and that nothing is left out."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from tfstream.errors import AccessDeniedError, ObjectNotFoundError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.local import LocalSource
from tfstream.sources.local_times import Times
from tfstream.testing.sources import all_pages, found, one


def open_folder(root, **fields):
    return LocalSource(root=str(root), **fields).open(None, ReadOptions())


def kinds(store, prefix=""):
    """What kind each listed path is of."""
    infos = [info for page in all_pages(store, prefix) for info in page.objects]
    return {info.path: info.kind for info in infos}


def test_the_order_is_that_of_the_keys(tmp_path):
    """Keys come in the order of their bytes, across folders."""
    for key in ["a/x", "a.b", "a0", "B", "é", "z/1", "z/10", "z/1.x"]:
        (tmp_path / key).parent.mkdir(exist_ok=True)
        (tmp_path / key).touch()
    paths = [info.path for info in found(open_folder(tmp_path))]
    assert sorted(paths, key=os.fsencode) == paths
    assert len(paths) == 8


def test_names_that_are_not_utf8(tmp_path):
    """A name of any bytes is listed and read."""
    name = b"caf\xe9.jpg"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"data")
    store = open_folder(tmp_path)
    (info,) = found(store)
    assert name == info.path.encode("utf-8", "surrogateescape")
    assert store.get(info) == b"data"


def test_empty_folders_are_directories(tmp_path):
    """A folder without anything in it is listed as a directory: Keras counts it as a class."""
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat/1.jpg").touch()
    (tmp_path / "dog").mkdir()
    (tmp_path / "hat/red").mkdir(parents=True)
    store = open_folder(tmp_path)
    expected = {"cat/1.jpg": "object", "dog/": "directory", "hat/red/": "directory"}
    assert expected == kinds(store)
    assert {"dog/": "directory"} == kinds(store, "do")
    assert kinds(open_folder(tmp_path / "dog")) == {}


def test_links_to_files_are_files(tmp_path):
    """A link to a file is an object of the file's size; one to nothing is a symlink."""
    (tmp_path / "file").write_bytes(b"data")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "broken").symlink_to("nothing")
    (tmp_path / "itself").symlink_to("itself")
    store = open_folder(tmp_path)
    expected = {"broken": "symlink", "file": "object", "itself": "symlink", "link": "object"}
    assert expected == kinds(store)
    info = one(store, "link")
    assert (4, "4", b"data") == (info.size, info.token, store.get(info))


@pytest.fixture
def linked(tmp_path):
    """A folder with links to another: as a class folder, and within one."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/1.jpg").touch()
    (tmp_path / "root/cat").mkdir(parents=True)
    (tmp_path / "root/dog").symlink_to(tmp_path / "other")
    (tmp_path / "root/cat/more").symlink_to(tmp_path / "other")
    return tmp_path / "root"


def test_links_to_folders_are_not_followed(linked):
    """Only a class folder may be a link, as in Keras; others are counted as symlinks."""
    store = open_folder(linked)
    assert {"cat/more": "symlink", "dog/1.jpg": "object"} == kinds(store)
    assert kinds(store, "cat/more/") == {}


def test_links_to_folders_are_followed(linked):
    """With `follow_links` every link to a folder is entered."""
    store = open_folder(linked, follow_links=True)
    assert {"cat/more/1.jpg": "object", "dog/1.jpg": "object"} == kinds(store)
    assert {"cat/more/1.jpg": "object"} == kinds(store, "cat/mo")


def test_a_link_back_is_cut(tmp_path):
    """A link to a folder above it ends there, as a symlink, and the walk ends."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/up").symlink_to(tmp_path / "a")
    (tmp_path / "a/b/root").symlink_to(tmp_path)
    (tmp_path / "here").symlink_to(".")
    (tmp_path / "a/1").touch()
    store = open_folder(tmp_path, follow_links=True)
    expected = {"a/1": "object", "a/b/root": "symlink", "a/b/up": "symlink", "here": "symlink"}
    assert expected == kinds(store)


def test_what_is_no_file_is_never_opened(tmp_path):
    """Pipes and sockets are listed as `other`."""
    os.mkfifo(tmp_path / "pipe.jpg")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.jpg"))
        assert {"pipe.jpg": "other", "s.jpg": "other"} == kinds(open_folder(tmp_path))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EACCES, AccessDeniedError),
        (errno.EPERM, AccessDeniedError),
        (errno.EIO, TransientError),
        (errno.EMFILE, TransientError),
        (errno.ESTALE, TransientError),
        (errno.ETIMEDOUT, TransientError),
        (errno.ENAMETOOLONG, SourceError),
        (errno.ENOTCONN, SourceError),
    ],
)
@pytest.mark.parametrize("function", ["scandir", "stat"])
def test_no_folder_is_left_out(tmp_path, monkeypatch, number, expected, function):
    """A folder or file that cannot be looked at ends the listing with an error that names it."""
    (tmp_path / "a/secret").mkdir(parents=True)
    (tmp_path / "a/secret/1.jpg").touch()
    original = getattr(os, function)

    def fail(path):
        if "secret" in str(path):
            raise OSError(number, "a library's own text")
        return original(path)

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(expected, match="a/secret") as error:
        kinds(open_folder(tmp_path))
    assert "own text" not in str(error.value)


def test_a_file_that_cannot_be_looked_at(tmp_path, monkeypatch):
    """A file whose size cannot be had ends the listing too."""
    (tmp_path / "a.jpg").touch()
    original = os.stat

    def fail(path):
        if str(path).endswith("a.jpg"):
            raise OSError(errno.EACCES, "no")
        return original(path)

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(AccessDeniedError, match=r"a\.jpg"):
        kinds(open_folder(tmp_path))


def test_what_is_removed_while_listing_is_not_there(tmp_path):
    """Files and folders that go between two pages are left out; the rest is listed."""
    for number in range(1003):
        (tmp_path / f"{number:04}").touch()
    (tmp_path / "later").mkdir()
    (tmp_path / "later/x").touch()
    store = open_folder(tmp_path)
    page = store.list_page("")
    assert len(page.objects) == 1000
    (tmp_path / "1001").unlink()
    (tmp_path / "later/x").unlink()
    (tmp_path / "later").rmdir()
    rest = store.list_page("", page.after)
    assert ["1000", "1002"] == [info.path for info in rest.objects]
    assert rest == store.list_page("", page.after)


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    """No permission to read is its own error, with what is needed; other errors keep theirs."""
    (tmp_path / "a").touch()
    store = open_folder(tmp_path)
    info = one(store, "a")
    for number, expected in [(errno.EACCES, AccessDeniedError), (errno.EIO, TransientError)]:

        def fail(*_, number=number):
            raise OSError(number, "no")

        monkeypatch.setattr(os, "open", fail)
        with pytest.raises(expected, match=str(tmp_path / "a")):
            store.get(info)


def test_a_missing_folder_says_what_is_near(tmp_path):
    """The error names what the nearest folder that exists has."""
    (tmp_path / "train").mkdir()
    (tmp_path / "test").mkdir()
    with pytest.raises(ObjectNotFoundError, match="no such folder") as error:
        kinds(open_folder(tmp_path / "trian/cat"))
    assert f"in {str(tmp_path)!r} there are: 'test', 'train'" in str(error.value)


def test_a_file_is_no_folder(tmp_path):
    """A root that is a file says so."""
    (tmp_path / "a").touch()
    with pytest.raises(ObjectNotFoundError, match="not a folder"):
        kinds(open_folder(tmp_path / "a"))


def test_near(tmp_path):
    """Near a missing key are the first names of the deepest folder above it."""
    (tmp_path / "train/cat").mkdir(parents=True)
    store = open_folder(tmp_path)
    assert f"in {str(tmp_path / 'train')!r} there are: 'cat'" == store.near("train/dog/*.jpg")
    assert f"{str(tmp_path / 'train/cat')!r} is empty" == store.near("train/cat/1.jpg")
    for number in range(10):
        (tmp_path / f"train/cat/{number}").touch()
    assert store.near("train/cat/x").endswith("'6', '7' and 2 more")


def test_near_what_cannot_be_listed(tmp_path, monkeypatch):
    """Where nothing can be said, nothing is."""

    def fail(_):
        raise PermissionError

    monkeypatch.setattr(os, "listdir", fail)
    assert open_folder(tmp_path).near("a") == ""


def test_times():
    """A million times take 16 bytes each; the newest of a path counts; unknown ones agree."""
    times = Times()
    info = ObjectInfo("a", 1, "1")
    assert times.agree("a", 5)
    times.remember([(info, 1), (info, 2), (info._replace(path="b"), 3)])
    assert [False, True, False] == [times.agree("a", time) for time in (1, 2, 3)]
    times.remember([(info, 4)])
    assert [False, True] == [times.agree("a", time) for time in (2, 4)]
    assert [True, False] == [times.agree("b", time) for time in (3, 4)]
    assert times.agree("c", 1)
