"""The two Python ops: `tfstream.fetch`, and `tfstream.decode` for what TensorFlow cannot."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import tensorflow as tf

from tfstream.decoders import pillow
from tfstream.decoders.image import PILLOW, ROUTE_NAMES, ImageDecoder
from tfstream.errors import DecodeError
from tfstream.fetch.handles import stream_of
from tfstream.fetch.opening import opened
from tfstream.fetch.stream import Stream, named
from tfstream.graph import op
from tfstream.graph.windows import Windows
from tfstream.options import ReadOptions
from tfstream.spec import DatasetSpec

FETCH, DECODE = "tfstream.fetch", "tfstream.decode"
_windows: weakref.WeakKeyDictionary[Stream, Windows] = weakref.WeakKeyDictionary()


class Address:
    """What an op needs to find its stream: two constants of the graph."""

    def __init__(self, spec: DatasetSpec, handle: str) -> None:
        self.inputs = (tf.constant(spec.to_json()), tf.constant(handle))


def fetch(
    address: Address, epoch: tf.Tensor, numbers: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """
    Data, labels, routes and record numbers, as `fetch.stream.Fetched` has them.

    `numbers` are records, or positions of the epoch where the reader has shards.
    """
    outputs = op.call(
        FETCH, [*address.inputs, epoch, numbers], [tf.string, tf.int32, tf.int32, tf.int64]
    )
    for output in outputs[1:]:
        output.set_shape([None])
    return outputs[0], outputs[1], outputs[2], outputs[3]


def decode(address: Address, record: tf.Tensor, data: tf.Tensor, route: tf.Tensor) -> tf.Tensor:
    """One image's uint8 pixels through Pillow, or the error that names it."""
    return op.call(DECODE, [*address.inputs, record, data, route], [tf.uint8])[0]


def _stream(spec: bytes, handle: bytes) -> Stream:
    return stream_of(spec, handle, lambda read: opened(read, None, ReadOptions()))


def _fetch(spec: bytes, handle: bytes, epoch: Any, numbers: Any) -> list[Any]:
    stream = _stream(spec, handle)
    records = numbers
    if stream.manifest.records is not None:
        records = _windows_of(stream).records(int(epoch), numbers)
    fetched = stream.fetch(records)
    return [fetched.data, fetched.labels, fetched.routes, records]


def _decode(spec: bytes, handle: bytes, record: Any, data: bytes, route: Any) -> Any:
    stream = _stream(spec, handle)
    decoder = stream.spec.decoder
    assert isinstance(decoder, ImageDecoder)
    try:
        pixels = pillow.decode(data, color_mode=decoder.color_mode, max_pixels=decoder.max_pixels)
    except DecodeError as error:
        stream.reading.counts.error("DecodeError")
        path = stream.manifest.objects.paths[int(record)]
        raise named(error, stream.url(int(record)), path) from error
    if route != PILLOW:  # TensorFlow refused what its header promised
        stream.reading.counts.decoded({ROUTE_NAMES[int(route)]: -1, "pillow": 1})
    return np.ascontiguousarray(pixels)


def _windows_of(stream: Stream) -> Windows:
    windows = _windows.get(stream)
    if windows is None:
        records = stream.manifest.records
        assert records is not None
        windows = Windows(stream.spec.order, records, stream.record_bytes)
        _windows[stream] = windows
    return windows


op.register(FETCH, _fetch)
op.register(DECODE, _decode)
