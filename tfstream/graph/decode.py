"""
From encoded records to a batch, in the graph.

A batch of images is decoded in one go, each image on the route that its header chose. Where
one of them fails, the batch is decoded again image by image, each by TensorFlow and then, if
that fails, by the Python op, which gives pixels or the error that names the key. This is the
graph's `try`: a nested dataset that ignores errors, followed by the alternative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tensorflow as tf

from tfstream.decoders.image import PILLOW, ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.graph import ops, resize
from tfstream.spec import DatasetSpec


def batch_of_images(
    spec: DatasetSpec,
    address: ops.Address,
    data: tf.Tensor,
    routes: tf.Tensor,
    records: tf.Tensor,
) -> tf.Tensor:
    """Decoded and resized images, as many as `data` has strings."""
    count = tf.size(data, tf.int64)

    def all_of(decode: Callable[..., tf.Tensor]) -> tf.data.Dataset:
        each = tf.data.Dataset.from_tensor_slices((data, routes, records))
        return each.map(decode).batch(count, drop_remainder=False)

    def at_once(text: tf.Tensor, route: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        by_python = partial(_by_python, spec, address, record, route=route)
        return _finished(spec, _decoder(spec).decode_in_graph(text, route, pillow=by_python))

    def one_by_one(text: tf.Tensor, route: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        return image(spec, address, text, route, record)

    whole = all_of(at_once).ignore_errors(log_warning=False)
    whole = whole.filter(lambda batch: tf.shape(batch, tf.int64)[0] == count)
    images = whole.concatenate(all_of(one_by_one)).take(1).get_single_element()
    images.set_shape([None, *resize.shape_of(spec)])
    return images


def image(
    spec: DatasetSpec, address: ops.Address, text: tf.Tensor, route: tf.Tensor, record: tf.Tensor
) -> tf.Tensor:
    """One decoded and resized image: by TensorFlow, and where it fails by Pillow."""
    one = tf.data.Dataset.from_tensors((text, route, record))

    def by_tensorflow(text: tf.Tensor, route: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return _decoder(spec).decode_in_graph(text, route)

    def by_python(text: tf.Tensor, route: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        return _by_python(spec, address, record, text, route=route)

    possible = one.filter(lambda _text, route, _record: route != PILLOW)
    first = possible.map(by_tensorflow).ignore_errors(log_warning=False)
    pixels = first.concatenate(one.map(by_python)).take(1).get_single_element()
    return _finished(spec, pixels)


def _by_python(
    spec: DatasetSpec, address: ops.Address, record: tf.Tensor, text: tf.Tensor, *, route: tf.Tensor
) -> tf.Tensor:
    pixels = ops.decode(address, record, text, route)
    pixels.set_shape([None, None, _decoder(spec).channels])
    return pixels


def run_of_numbers(spec: DatasetSpec, data: tf.Tensor) -> tf.Tensor:
    """A run of fixed-length records as one tensor of records."""
    decoder = spec.decoder
    if not isinstance(decoder, RawDecoder):
        raise TypeError(f"shards need a RawDecoder, got {decoder!r}")
    return _finished(spec, decoder.decode_in_graph(data))


def _decoder(spec: DatasetSpec) -> ImageDecoder:
    if not isinstance(spec.decoder, ImageDecoder):
        raise TypeError(f"files need an ImageDecoder, got {spec.decoder!r}")
    return spec.decoder


def _finished(spec: DatasetSpec, pixels: tf.Tensor) -> tf.Tensor:
    pixels = resize.resized(spec, pixels)
    return pixels if spec.dtype is None else tf.cast(pixels, spec.dtype)
