"""
From encoded records to a batch, in the graph.

A batch of images is decoded in one go, each image on the route that its header chose. Where
one of them fails, the batch is decoded again image by image, each by TensorFlow and then, if
that fails, by the Python op, which gives pixels or the error that names the key. This is the
graph's `try`: a nested dataset that ignores errors, followed by the alternative.
"""

from __future__ import annotations

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
    each = tf.data.Dataset.from_tensor_slices((data, routes, records))
    count = tf.size(data, tf.int64)

    def at_once(text: tf.Tensor, route: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        by_python = partial(_by_python, spec, address, record, route=route)
        return _finished(spec, _decoder(spec).decode_in_graph(text, route, pillow=by_python))

    whole = each.map(at_once).batch(count).ignore_errors(log_warning=False)
    # after an error the batch goes on with the next image, and would be a short one
    whole = whole.filter(lambda batch: tf.shape(batch, tf.int64)[0] == count)
    one_by_one = each.flat_map(partial(_attempts, spec, address)).batch(count)
    images = whole.concatenate(one_by_one).take(1).get_single_element()
    images.set_shape([None, *resize.shape_of(spec)])
    return images


def image(
    spec: DatasetSpec, address: ops.Address, text: tf.Tensor, route: tf.Tensor, record: tf.Tensor
) -> tf.Tensor:
    """One decoded and resized image: by TensorFlow, and where it fails by Pillow."""
    return _attempts(spec, address, text, route, record).get_single_element()


def _attempts(
    spec: DatasetSpec, address: ops.Address, text: tf.Tensor, route: tf.Tensor, record: tf.Tensor
) -> tf.data.Dataset:
    """`image` as a dataset of one element."""
    one = tf.data.Dataset.from_tensors((text, route, record))

    def by_tensorflow(text: tf.Tensor, route: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return _decoder(spec).decode_in_graph(text, route)

    def by_python(text: tf.Tensor, route: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        return _by_python(spec, address, record, text, route=route)

    possible = one.filter(lambda _text, route, _record: route != PILLOW)
    first = possible.map(by_tensorflow).ignore_errors(log_warning=False)
    return first.concatenate(one.map(by_python)).take(1).map(partial(_finished, spec))


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
