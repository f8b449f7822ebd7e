"""
Names in a graph, and the open streams of this process that they stand for.

A dataset that was made here has a handle: its credentials, its ReadOptions, its open
connections. Its graph carries only the handle's name. A process that does not know the name
opens the spec with its own environment's credentials, once.
"""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable

from tfstream.fetch.manifest import Manifest
from tfstream.fetch.stream import Stream
from tfstream.forks import Lock
from tfstream.sources.base import Source
from tfstream.spec import DatasetSpec

_streams: dict[str, Stream] = {}
_opened: dict[bytes, Stream] = {}
_opening: dict[bytes, threading.Lock] = {}
_lock = Lock()
_manifests: weakref.WeakValueDictionary[tuple[Source, str], Manifest] = (
    weakref.WeakValueDictionary()
)


class Handle:
    """Keeps a stream known by `name` for as long as it lives itself."""

    def __init__(self, stream: Stream) -> None:
        self.name = uuid.uuid4().hex
        self.stream = stream
        _streams[self.name] = stream
        weakref.finalize(self, _streams.pop, self.name, None).atexit = False


def spec_named(name: bytes) -> DatasetSpec | None:
    """The spec of the stream that a name stands for here; None where it is unknown."""
    known = _streams.get(name.decode())
    return known.spec if known is not None else None


def stream_of(spec_json: bytes, name: bytes, open_spec: Callable[[DatasetSpec], Stream]) -> Stream:
    """
    The stream that an op's inputs mean.

    `open_spec` is called where the name is unknown, once for equal specs.
    """
    known = _streams.get(name.decode())
    if known is not None:
        return known
    with _lock:
        turn = _opening.setdefault(spec_json, threading.Lock())
    with turn:
        if spec_json not in _opened:
            _opened[spec_json] = open_spec(DatasetSpec.from_json(spec_json.decode()))
        return _opened[spec_json]


def shared(source: Source, manifest: Manifest) -> Manifest:
    """The one manifest of this process for that listing: several datasets may share it."""
    return _manifests.setdefault((source, manifest.digest), manifest)


def known_manifest(source: Source, digest: str | None) -> Manifest | None:
    """
    What listing the source again would give, if this process has it already.

    Only a commit's listing is always the same; any other source is to be listed and compared.
    """
    if digest is None or getattr(source, "commit", None) is None:
        return None
    return _manifests.get((source, digest))


def _after_fork() -> None:
    """Whoever was opening a spec did not come along."""
    _opening.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
