"""A filesystem in memory that notes what is read, and may fail or wait."""

from __future__ import annotations

import threading

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tfstream.fetch.budget import Budget
from tfstream.fetch.reading import Reading
from tfstream.fetch.stats import Counts
from tfstream.options import ReadOptions
from tfstream.sources.fsspec import FsspecSource

OPTIONS = ReadOptions(attempts=2, backoff=0)


class Filesystem(MemoryFileSystem):
    """
    Files of its own.

    Attributes:
        reads: The path of each read, in order.
        lists: The path of each listing.
        meets: Called with a path before it is read or listed; may raise or wait.
    """

    cachable = False

    def __init__(self):
        super().__init__(skip_instance_cache=True)
        self.store, self.pseudo_dirs = {}, [""]
        self.reads, self.lists = [], []
        self.meets = lambda path: None

    def cat_file(self, path, start=None, end=None, **options):
        self.reads.append(path)
        self.meets(path)
        return super().cat_file(path, start, end)

    def ls(self, path, detail=True, **options):
        self.lists.append(path)
        self.meets(path)
        return super().ls(path, detail)

    def put_all(self, *keys, data=b"data"):
        """Files below /data; a key that ends in a slash is an empty folder."""
        for key in keys:
            if key.endswith("/"):
                self.makedirs(f"/data/{key}")
            else:
                self.pipe(f"/data/{key}", data)

    @property
    def credentials(self):
        """As a user passes it."""
        return {"filesystem": self}

    def reading(self, pattern="**", options=OPTIONS):
        """An open store of the folder /data."""
        source = FsspecSource(root="mine://data", pattern=pattern)
        return Reading(source, source.open(self.credentials, options), options, Counts())


@pytest.fixture
def files():
    """An empty filesystem."""
    return Filesystem()


@pytest.fixture
def another():
    """Makes more filesystems."""
    return Filesystem


@pytest.fixture
def budget(monkeypatch):
    """A process's budget for this test alone, of one byte until someone asks for more."""
    budget = Budget(1)
    monkeypatch.setattr("tfstream.fetch.budget._budget", budget)
    return budget


@pytest.fixture
def closing(monkeypatch):
    """The event that says that the interpreter shuts down, this test's own."""
    event = threading.Event()
    monkeypatch.setattr("tfstream.fetch.lifetime._closing", event)
    return event
