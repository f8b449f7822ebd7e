"""
The Python ops. Where all is well only the first of them runs.

```
tfstream.fetch     record numbers -> bytes, labels, routes
tfstream.decode    one image that TensorFlow cannot decode -> pixels
tfstream.report    the bad records of a batch -> named in the stats; or too many, an error
tfstream.differs   two identities that are not the same -> the error that says in what
```
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.errors import DecodeError
from tfstream.fetch import failures
from tfstream.fetch.handles import stream_of
from tfstream.fetch.opening import opened
from tfstream.fetch.stream import Stream
from tfstream.graph import op
from tfstream.graph.version import checked, signed
from tfstream.graph.windows import Windows
from tfstream.labels.images import ImageLabels
from tfstream.options import ReadOptions
from tfstream.spec import DatasetSpec
from tfstream.spec.identity import told_apart

FETCH, DECODE, REPORT = "tfstream.fetch", "tfstream.decode", "tfstream.report"
DIFFERS = "tfstream.differs"
_windows: weakref.WeakKeyDictionary[Stream, Windows] = weakref.WeakKeyDictionary()


class Address:
    """
    What an op needs to find its stream: two constants of the graph; and what its labels are.

    Attributes:
        labels: Their dtype.
        label_shape: The shape of so many; None stands for how many.
    """

    def __init__(self, spec: DatasetSpec, handle: str) -> None:
        self._texts = (spec.to_json(), signed(handle))
        floats = spec.label_mode in ("float", "multi_hot")
        self.labels = tf.float32 if floats else tf.int32
        if isinstance(spec.labels, ImageLabels):
            self.labels = tf.string
        vectors = spec.label_mode == "multi_hot"
        self.label_shape = [None, len(spec.class_names or ())] if vectors else [None]

    @property
    def inputs(self) -> list[tf.Tensor]:
        """
        Constants of the function that has the op, none that it captures: so `from_graph` sees
        what the op will get without following it through calls.
        """
        return [tf.constant(text) for text in self._texts]


class Encoded(NamedTuple):
    """
    What decoding needs of one record, or of several.

    Fields:
        data: The bytes; for shards, one run of all records.
        routes: int32, how to decode it.
        records: int64, rows of the manifest, to name it.
    """

    data: tf.Tensor
    routes: tf.Tensor
    records: tf.Tensor


class Chunk(NamedTuple):
    """
    Records as they were fetched.

    Fields:
        encoded: Their bytes.
        labels: One a record: int32, zeros where there are none; float32, or vectors of it; or
            packed masks.
        epochs, positions: int64, one a record: where in the order they stand.
    """

    encoded: Encoded
    labels: tf.Tensor
    epochs: tf.Tensor
    positions: tf.Tensor

    @property
    def places(self) -> tf.Tensor:
        """(epoch, position) of each record, as one tensor."""
        return tf.stack([self.epochs, self.positions], axis=-1)


def fetch(address: Address, epoch: tf.Tensor, positions: tf.Tensor, numbers: tf.Tensor) -> Chunk:
    """`numbers` are records, or the same positions again where the reader has shards."""
    dtypes = [tf.string, address.labels, tf.int32, tf.int64]
    outputs = op.call(FETCH, [*address.inputs, epoch, numbers], dtypes)
    data, labels, routes, records = outputs
    labels.set_shape(address.label_shape)
    for output in (routes, records):
        output.set_shape([None])
    epochs = tf.fill(tf.shape(positions), epoch)
    return Chunk(Encoded(data, routes, records), labels, epochs, positions)


def decode(address: Address, one: Encoded, *, dtype: str, last: bool) -> tf.Tensor:
    """
    One image's pixels through Pillow; none, [0, 0, channels], where it cannot be decoded.

    With `last` nothing else will be tried: then that is the error that names the image, unless
    `on_error` says to go on. Else it is none, since TensorFlow logs each with its traceback.
    """
    inputs = [*address.inputs, one.records, one.data, one.routes, tf.constant(last)]
    return op.call(DECODE, inputs, [tf.as_dtype(dtype)])[0]


def report(
    address: Address, records: tf.Tensor, data: tf.Tensor, tally: tf.Tensor, told: tf.Tensor
) -> tf.Tensor:
    """`fetch.failures.report`; `tally` is its `Tally` as int64."""
    names = op.call(REPORT, [*address.inputs, records, data, tally, told], [tf.string])[0]
    names.set_shape([None])
    return names


def differs(old: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """Always the error that tells two identities apart; shaped like one."""
    never = op.call(DIFFERS, [old, new], [tf.string])[0]
    never.set_shape([])
    return never


def _stream(spec: bytes, handle: bytes) -> Stream:
    return stream_of(spec, checked(handle), lambda read: opened(read, None, ReadOptions()))


def _fetch(spec: bytes, handle: bytes, epoch: Any, numbers: Any) -> list[Any]:
    stream = _stream(spec, handle)
    records = numbers
    if stream.manifest.records is not None:
        records = _windows_of(stream).records(int(epoch), numbers)
    fetched = stream.fetch(records)
    return [fetched.data, fetched.labels, fetched.routes, records]


def _decode(spec: bytes, handle: bytes, record: Any, data: bytes, route: Any, last: Any) -> Any:
    stream = _stream(spec, handle)
    decoder = stream.spec.decoder
    assert isinstance(decoder, ImageDecoder)
    try:
        pixels = pillow.decode(data, decoder)
    except DecodeError as error:
        if last and stream.spec.on_error == "raise":
            raise stream.failed(stream.manifest.objects.paths[int(record)], error) from error
        return np.empty((0, 0, decoder.channels), decoder.dtype)
    if not decoder.by_pillow(route):  # TensorFlow refused what its header promised
        stream.reading.counts.decoded({route_name(route): -1, "pillow": 1})
    return np.ascontiguousarray(pixels)


def _report(spec: bytes, handle: bytes, records: Any, data: Any, tally: Any, told: Any) -> Any:
    epoch, delivered, failed, nothing, whole = tally.tolist()
    names = failures.report(
        _stream(spec, handle),
        records.tolist(),
        data.tolist(),
        failures.Tally(epoch, delivered, failed, bool(nothing), bool(whole)),
        [name.decode("utf-8", "surrogateescape") for name in told],
    )
    return [np.array([name.encode("utf-8", "surrogateescape") for name in names], object)]


def _differs(old: bytes, new: bytes) -> Any:
    raise told_apart(old.decode(), new.decode())


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
op.register(REPORT, _report)
op.register(DIFFERS, _differs)
