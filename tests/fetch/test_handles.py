"""Handles: the streams that a graph's names stand for."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tfstream.decoders.image import ImageDecoder
from tfstream.errors import AuthenticationError
from tfstream.fetch import handles
from tfstream.fetch.handles import Handle, stream_of
from tfstream.fetch.opening import Wanted, pinned
from tfstream.fetch.stream import Stream
from tfstream.options import ReadOptions
from tfstream.sources.fsspec import FsspecSource
from tfstream.spec import DatasetSpec
from tfstream.testing.images import encode, noise


@pytest.fixture(autouse=True)
def no_streams(monkeypatch):
    """A process that has opened nothing."""
    monkeypatch.setattr(handles, "_opened", {})
    monkeypatch.setattr(handles, "_opening", {})


def stream_in(files, options=None):
    """A stream of the images in a filesystem's folder /data."""
    options = options or ReadOptions(attempts=1)
    found = pinned(Wanted(FsspecSource(root="mine://data")), files.credentials, options)
    spec = DatasetSpec(
        source=found.source,
        decoder=ImageDecoder(),
        manifest=found.manifest.digest,
        records=found.manifest.count,
    )
    return Stream(spec, found.reading, found.manifest)


def never(spec):
    raise AssertionError("opened what is known")


def first_bytes(handle):
    stream = stream_of(handle.stream.spec.to_json().encode(), handle.name.encode(), never)
    return stream.fetch(np.array([0]))[0][0]


def test_equal_specs_of_other_credentials(files, another):
    """Two datasets with one spec and other credentials read each their own."""
    other = another()
    images = [encode(noise(seed=seed), "BMP") for seed in range(2)]
    for place, image in zip((files, other), images, strict=True):
        place.put_all("1.bmp", data=image)
    one, two = Handle(stream_in(files)), Handle(stream_in(other))
    assert one.stream.spec == two.stream.spec
    assert images == [first_bytes(one), first_bytes(two)]
    assert (["/data/1.bmp"], ["/data/1.bmp"]) == (files.reads, other.reads)


def test_equal_specs_of_other_options(files):
    """Two datasets with one spec and other options have threads and counters of their own."""
    files.put_all("1.bmp", data=encode(noise(), "BMP"))
    one = Handle(stream_in(files, ReadOptions(max_in_flight=1)))
    two = Handle(stream_in(files, ReadOptions(max_in_flight=2)))
    assert one.stream.spec == two.stream.spec
    assert one.stream.reading.workers is not two.stream.reading.workers
    first_bytes(one)
    found = [handle.stream.reading.counts.snapshot().objects for handle in (one, two)]
    assert [1, 0] == found


def test_a_handle_that_is_gone(files):
    """Nobody finds a stream whose handle is gone; the spec is opened instead."""
    files.put_all("1.bmp")
    handle = Handle(stream_in(files))
    spec, name = handle.stream.spec.to_json().encode(), handle.name.encode()
    other = stream_in(files)
    assert handle.stream is stream_of(spec, name, never)
    del handle
    gc.collect()
    assert other is stream_of(spec, name, lambda _: other)


def test_an_unknown_name_is_opened_once(files):
    """In another process, many ops at once open a spec once, and they share it."""
    files.put_all("1.bmp")
    stream, opened = stream_in(files), []
    text = stream.spec.to_json().encode()

    def open_spec(spec):
        assert stream.spec == spec
        opened.append(spec)
        return stream

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: stream_of(text, b"unknown", open_spec), range(32)))
    assert [stream] * 32 == found
    assert len(opened) == 1


def test_opening_that_fails(files):
    """A spec that could not be opened is tried again by the next one who asks."""
    files.put_all("1.bmp")
    stream = stream_in(files)
    text = stream.spec.to_json().encode()

    def refuse(_):
        raise AuthenticationError("no")

    for _ in range(2):
        with pytest.raises(AuthenticationError):
            stream_of(text, b"unknown", refuse)
    assert stream is stream_of(text, b"unknown", lambda _: stream)
