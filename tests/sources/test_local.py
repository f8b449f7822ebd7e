"""Folders: the contract, and what is checked when a file is read."""

from __future__ import annotations

import os

import pytest

from tfstream.errors import ObjectChangedError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.local import LocalSource
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.sources import SourceTests, one


def fits_a_folder(key):
    """Whether a folder can hold it beside the other odd keys."""
    segments = key.split("/")
    return not {"", ".", ".."} & set(segments) and key != "e"


class TestLocalSource(SourceTests):
    """A folder keeps the contract of every source."""

    odd_keys = tuple(filter(fits_a_folder, ODD_KEYS))
    pages_are_bounded = True

    @pytest.fixture(autouse=True)
    def location(self, tmp_path):
        self.root = tmp_path / "root"
        self.root.mkdir()

    def source(self):
        return LocalSource(root=str(self.root))

    def missing_source(self):
        return LocalSource(root=str(self.root / "no such folder"))

    def put(self, path, data):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, ns=(0, next(clock)))

    def remove(self, path):
        (self.root / path).unlink()


clock = iter(range(10**9, 10**12, 10**6))
"""The time of each change, so that no test depends on how fine the file system's clock is."""


def open_folder(root, **fields):
    return LocalSource(root=str(root), **fields).open(None, ReadOptions())


def test_a_file_that_became_something_else(tmp_path):
    """A pipe or a folder in a file's place is a change, at once."""
    for name in ["pipe", "folder"]:
        (tmp_path / name).touch()
    store = open_folder(tmp_path)
    pipe, folder = one(store, "pipe"), one(store, "folder")
    for name in ["pipe", "folder"]:
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ObjectChangedError, match="no regular file"):
        store.get(pipe)
    with pytest.raises(ObjectChangedError, match="a folder now"):
        store.get(folder)


def test_a_change_while_reading(tmp_path, monkeypatch):
    """A file that is cut while it is read is a change, not short data."""
    (tmp_path / "a").write_bytes(b"data")
    store = open_folder(tmp_path)
    info = one(store, "a")
    status = os.stat(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"da")
    monkeypatch.setattr(os, "fstat", lambda _: status)
    with pytest.raises(ObjectChangedError, match="while it was read"):
        store.get(info)


def test_a_store_that_has_not_listed_checks_the_size(tmp_path):
    """Where another process listed, only the size is known."""
    (tmp_path / "a").write_bytes(b"data")
    store = open_folder(tmp_path)
    assert store.get(ObjectInfo("a", 4, "4")) == b"data"
    with pytest.raises(ObjectChangedError, match="had 5 bytes and has 4 now"):
        store.get(ObjectInfo("a", 5, "5"))
