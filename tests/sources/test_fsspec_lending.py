"""fsspec: filesystems that are for one thread at a time."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tfstream.errors import (
    ObjectNotFoundError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.fsspec import FsspecSource

OPTIONS = ReadOptions(attempts=1)


def open_root(root, credentials=None, options=OPTIONS, **fields):
    return FsspecSource(root=root, **fields).open(credentials, options)


class Lent(MemoryFileSystem):
    """A filesystem that does not bear two threads at once; counts what it is asked to do."""

    protocol = "lent"
    cachable = False
    made = 0
    active = 0
    most = 0
    errors: tuple[Exception, ...] = ()
    together = threading.Barrier(1)
    lock = threading.Lock()

    def __init__(self, **options):
        super().__init__(**options)
        with self.lock:
            type(self).made += 1

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("lent://"))

    def cat_file(self, path, start=None, end=None, **options):
        with self.lock:
            type(self).active += 1
            type(self).most = max(self.most, self.active)
        try:
            if self.errors:
                raise self.errors[0]
            self.together.wait(10)
            return super().cat_file(path, start, end)
        finally:
            with self.lock:
                type(self).active -= 1


class Gate:
    """Holds who comes until it is opened, and says that one is there."""

    def __init__(self, reached, opened):
        self.reached, self.opened = reached, opened

    def wait(self, timeout):
        self.reached.set()
        assert self.opened.wait(timeout)


class TestLending:
    """Filesystems that are for one thread at a time."""

    @pytest.fixture(autouse=True)
    def lent(self, monkeypatch):
        monkeypatch.setattr("tfstream.sources.fsspec_connection._SHAREABLE", frozenset())
        fsspec.register_implementation("lent", Lent, clobber=True)
        for name, value in {"made": 0, "most": 0, "errors": (), "active": 0}.items():
            monkeypatch.setattr(Lent, name, value)
        monkeypatch.setattr(Lent, "together", threading.Barrier(1))
        monkeypatch.setattr(MemoryFileSystem, "store", {})
        MemoryFileSystem().pipe("/data/a", b"data")
        self.info = ObjectInfo("a", 4, "4")

    def read(self, store, times):
        with ThreadPoolExecutor(times) as threads:
            return list(threads.map(store.get, [self.info] * times))

    def test_four_at_once(self, monkeypatch):
        """Up to four filesystems are made for a URL, and used by as many threads."""
        monkeypatch.setattr(Lent, "together", threading.Barrier(4))
        assert [b"data"] * 16 == self.read(open_root("lent://data"), 16)
        assert (4, 4) == (Lent.made, Lent.most)

    def test_one_of_the_users_own(self):
        """A user's filesystem object is never used by two threads at once."""
        own = {"filesystem": Lent(skip_instance_cache=True)}
        assert [b"data"] * 16 == self.read(open_root("mine://data", own), 16)
        assert (1, 1) == (Lent.made, Lent.most)

    @pytest.mark.parametrize("own", [False, True])
    def test_a_lost_connection(self, monkeypatch, own):
        """A filesystem that failed is made again; a user's own cannot be."""
        credentials = {"filesystem": Lent(skip_instance_cache=True)} if own else None
        store = open_root("lent://data", credentials)
        monkeypatch.setattr(Lent, "errors", (ConnectionResetError(),))
        with pytest.raises(TransientError):
            store.get(self.info)
        monkeypatch.setattr(Lent, "errors", ())
        assert store.get(self.info) == b"data"
        assert (1 if own else 2) == Lent.made

    def test_a_final_error_keeps_the_connection(self, monkeypatch):
        """An object that is not there says nothing about the filesystem."""
        store = open_root("lent://data")
        with pytest.raises(ObjectNotFoundError):
            store.get(ObjectInfo("b", 4, "4"))
        assert store.get(self.info) == b"data"
        assert Lent.made == 1

    def test_waiting_for_one_ends(self, monkeypatch):
        """A call that hangs ends, and so does waiting for its filesystem, lent again after it."""
        reading, leave = threading.Event(), threading.Event()
        monkeypatch.setattr(Lent, "together", Gate(reading, leave))
        own = {"filesystem": Lent(skip_instance_cache=True)}
        store = open_root("mine://data", own, ReadOptions(read_timeout=0.5))
        with ThreadPoolExecutor(1) as threads:
            first = threads.submit(store.get, self.info)
            assert reading.wait(10)
            for call in (first.result, lambda: store.get(self.info)):
                with pytest.raises(TransientError) as error:
                    call()
                assert error.value.kind == "timeout"
            leave.set()
            freed = store._connection._free.get(timeout=10)
            store._connection._free.put(freed)
        assert freed is own["filesystem"]
        assert store.get(self.info) == b"data"

    def test_connecting_that_takes_long(self):
        """A thread does not wait longer than the timeout for another one's connecting."""
        store = open_root("lent://data", None, ReadOptions(read_timeout=0.05))
        with store._connection._lock, pytest.raises(TransientError, match="timeout"):
            store.get(self.info)

    def test_after_a_fork(self, monkeypatch):
        """Another process makes its own."""
        store = open_root("lent://data")
        assert store.get(self.info) == b"data"
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert store.get(self.info) == b"data"
        assert Lent.made == 2

    def test_after_closing(self):
        """A closed store makes new ones."""
        store = open_root("lent://data")
        store.get(self.info)
        store.close()
        assert store.get(self.info) == b"data"
        assert Lent.made == 2
