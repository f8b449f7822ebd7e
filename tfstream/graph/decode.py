"""
From encoded records to a batch, in the graph.

A batch of images is decoded in one go, each image on the route that its header chose. Where
one of them fails, the batch is decoded again image by image, each by TensorFlow and then, if
that fails, by the Python op, which has the last word: pixels, or the error that names the key,
or nothing where `on_error` says so. This is the graph's `try`: a nested dataset that ignores
errors, followed by the alternative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.fetch.stream import BAD
from tfstream.graph import ops, resize
from tfstream.spec import DatasetSpec


def images_of(
    spec: DatasetSpec, address: ops.Address, encoded: ops.Encoded
) -> tuple[tf.Tensor, tf.Tensor]:
    """
    Decoded and resized images, and the place of each among the records.

    All of them, unless `on_error` says to go on without those that are bad.
    """
    each = tf.data.Dataset.from_tensor_slices(encoded)
    count = tf.size(encoded.routes, tf.int64)
    whole = _at_once(spec, address, each, count)
    if spec.on_error != "raise":
        whole = whole.take(tf.cast(tf.reduce_all(encoded.routes != BAD), tf.int64))
    at_once, _ = first_of(whole)

    def one_by_one() -> tuple[tf.Tensor, tf.Tensor]:
        def one(place: tf.Tensor, record: ops.Encoded) -> tf.data.Dataset:
            return attempts(spec, address, record).map(lambda image: (image, place))

        images, places = first_of(each.enumerate().flat_map(one).batch(count))
        return images, places

    done = tf.shape(at_once, tf.int64)[0] == count
    images, places = tf.cond(done, lambda: (at_once, tf.range(count)), one_by_one)
    images.set_shape([None, *resize.shape_of(spec)])
    return images, places


def image_of(spec: DatasetSpec, address: ops.Address, one: ops.Encoded) -> tf.Tensor:
    """One decoded and resized image, or the error that names it."""
    return attempts(spec, address, one).get_single_element()


def attempts(spec: DatasetSpec, address: ops.Address, one: ops.Encoded) -> tf.data.Dataset:
    """`image_of` as a dataset of one image; of none, where `on_error` says to go on."""
    decoder, record = _decoder(spec), tf.data.Dataset.from_tensors(one)
    readable = record.filter(lambda one: one.routes != BAD)
    possible = readable.filter(lambda one: ~decoder.by_pillow(one.routes))
    first = possible.map(partial(_by_tensorflow, spec))
    second = readable.map(partial(_by_python, spec, address, last=True))
    pixels = first.ignore_errors(log_warning=False).concatenate(
        second.filter(lambda pixels: tf.size(pixels) > 0)
    )
    return pixels.take(1).map(lambda pixels: _finished(spec, pixels, one.routes))


def _at_once(
    spec: DatasetSpec, address: ops.Address, each: tf.data.Dataset, count: tf.Tensor
) -> tf.data.Dataset:
    """All images as one batch, and `True` for each; nothing, if one of them fails."""

    def decoded(one: ops.Encoded) -> tuple[tf.Tensor, tf.Tensor]:
        def by_python(_: tf.Tensor) -> tf.Tensor:
            return _by_python(spec, address, one, last=False)

        pixels = _by_tensorflow(spec, one, by_python)
        good = tf.size(pixels) > 0
        pixels = tf.cond(good, lambda: pixels, lambda: tf.zeros([1, 1, channels], pixels.dtype))
        return _finished(spec, pixels, one.routes), good

    channels = _decoder(spec).channels
    whole = each.map(decoded).batch(count).ignore_errors(log_warning=False)
    # after an error the batch goes on with the next image, and would be a short one
    return whole.filter(lambda _, good: (tf.size(good, tf.int64) == count) & tf.reduce_all(good))


def first_of(batches: tf.data.Dataset) -> Any:
    """The first batch; one of no elements where there is none."""

    def nothing(of: tf.TensorSpec) -> tf.Tensor:
        return tf.zeros([side or 0 for side in of.shape], of.dtype)

    none = tf.data.Dataset.from_tensors(tf.nest.map_structure(nothing, batches.element_spec))
    return batches.concatenate(none).take(1).get_single_element()


def run_of_numbers(spec: DatasetSpec, data: tf.Tensor) -> tf.Tensor:
    """A run of fixed-length records as one tensor of records."""
    decoder = spec.decoder
    if not isinstance(decoder, RawDecoder):
        raise TypeError(f"shards need a RawDecoder, got {decoder!r}")
    return _cast(spec, resize.resized(spec, decoder.decode_in_graph(data)))


def _by_tensorflow(
    spec: DatasetSpec, one: ops.Encoded, pillow: Callable[[tf.Tensor], tf.Tensor] | None = None
) -> tf.Tensor:
    window = resize.window_to_decode(spec, one.routes)
    return _decoder(spec).decode_in_graph(one.data, one.routes, pillow=pillow, window=window)


def _by_python(
    spec: DatasetSpec, address: ops.Address, one: ops.Encoded, *, last: bool
) -> tf.Tensor:
    decoder = _decoder(spec)
    pixels = ops.decode(address, one, dtype=decoder.dtype, last=last)
    pixels.set_shape([None, None, decoder.channels])
    return pixels


def _decoder(spec: DatasetSpec) -> ImageDecoder:
    if not isinstance(spec.decoder, ImageDecoder):
        raise TypeError(f"files need an ImageDecoder, got {spec.decoder!r}")
    return spec.decoder


def _finished(spec: DatasetSpec, pixels: tf.Tensor, route: tf.Tensor) -> tf.Tensor:
    return _cast(spec, resize.resized(spec, _decoder(spec).oriented(pixels, route)))


def _cast(spec: DatasetSpec, pixels: tf.Tensor) -> tf.Tensor:
    return pixels if spec.dtype is None else tf.cast(pixels, spec.dtype)
