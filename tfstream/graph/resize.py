"""Resizing with the meanings of `keras.utils.image_dataset_from_directory`."""

from __future__ import annotations

from dataclasses import replace

import tensorflow as tf

from tfstream.decoders import routes
from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.in_graph import Window
from tfstream.decoders.raw import RawDecoder
from tfstream.spec import DatasetSpec, Resize


def resized(spec: DatasetSpec, pixels: tf.Tensor) -> tf.Tensor:
    """
    One image (h, w, c) or several (n, h, w, c), resized and in the spec's data format.

    float32, but for `nearest` and where nothing is resized: those keep the dtype.
    """
    return _in_form(spec, pixels, spec.resize, shape_of(spec))


def resized_mask(spec: DatasetSpec, values: tf.Tensor) -> tf.Tensor:
    """A mask (h, w, 1) as its image is resized, but without mixing values: by nearest neighbour."""
    how = spec.resize and replace(spec.resize, interpolation="nearest")
    return _in_form(spec, values, how, mask_shape_of(spec))


def _in_form(
    spec: DatasetSpec, pixels: tf.Tensor, how: Resize | None, shape: tuple[int | None, ...]
) -> tf.Tensor:
    if how is not None:
        pixels = _to_size(how, pixels)
    if spec.data_format == "channels_first" and len(shape) == 3:
        leading = pixels.shape.rank - 3
        pixels = tf.transpose(pixels, [*range(leading), leading + 2, leading, leading + 1])
    pixels.set_shape([*[None] * (pixels.shape.rank - len(shape)), *shape])
    return pixels


def mask_shape_of(spec: DatasetSpec) -> tuple[int | None, ...]:
    """The static shape of one mask."""
    height, width = spec.resize.image_size if spec.resize else (None, None)
    return (1, height, width) if spec.data_format == "channels_first" else (height, width, 1)


def shape_of(spec: DatasetSpec) -> tuple[int | None, ...]:
    """The static shape of one example."""
    if isinstance(spec.decoder, RawDecoder):
        shape: tuple[int | None, ...] = spec.decoder.decoded_shape
    else:
        assert isinstance(spec.decoder, ImageDecoder)
        shape = (None, None, spec.decoder.channels)
    if spec.resize is not None:
        shape = (*spec.resize.image_size, shape[-1])
    if spec.data_format == "channels_first" and len(shape) == 3:
        return (shape[2], shape[0], shape[1])
    return shape


def _to_size(how: Resize, pixels: tf.Tensor) -> tf.Tensor:
    if how.pad_to_aspect_ratio:
        height, width = how.image_size
        return tf.image.resize_with_pad(pixels, height, width, method=how.interpolation)
    if how.crop_to_aspect_ratio:
        pixels = _centred_window(pixels, *how.image_size)
    return tf.image.resize(pixels, how.image_size, method=how.interpolation)


def _centred_window(pixels: tf.Tensor, target_height: int, target_width: int) -> tf.Tensor:
    """The largest centred part of the target's shape, as Keras' `smart_resize` computes it."""
    shape = tf.shape(pixels)
    top, left, rows, columns = _window(shape[-3], shape[-2], (target_height, target_width))
    return pixels[..., top : top + rows, left : left + columns, :]


def window_to_decode(spec: DatasetSpec, route: tf.Tensor) -> Window | None:
    """
    Which part to decode of an image that is to be cropped; None where all of it is needed.

    One row or column more than the crop: so of what was decoded the very same window is taken,
    which would else be smaller by what was rounded off before. A photograph that is to be turned
    is decoded whole: the row would then be at the wrong side.
    """
    how, decoder = spec.resize, spec.decoder
    assert isinstance(decoder, ImageDecoder)
    if how is None or not how.crop_to_aspect_ratio or decoder.scaled == "off":
        return None
    upright = routes.orientation_of(route) == 1

    def window(height: tf.Tensor, width: tf.Tensor) -> tf.Tensor:
        top, left, rows, columns = _window(height, width, how.image_size)
        more = [tf.minimum(rows + 1, height - top), tf.minimum(columns + 1, width - left)]
        return tf.where(upright, tf.stack([top, left, *more]), tf.stack([0, 0, height, width]))

    return window


def _window(height: tf.Tensor, width: tf.Tensor, target: tuple[int, int]) -> list[tf.Tensor]:
    """Top, left, rows and columns."""

    def side(limit: tf.Tensor, other: tf.Tensor, wanted: int, other_wanted: int) -> tf.Tensor:
        fitting = tf.cast(other * wanted, tf.float32) / other_wanted
        return tf.clip_by_value(tf.cast(fitting, tf.int32), 1, limit)

    rows = side(height, width, target[0], target[1])
    columns = side(width, height, target[1], target[0])
    top = tf.cast(tf.cast(height - rows, tf.float32) / 2, tf.int32)
    left = tf.cast(tf.cast(width - columns, tf.float32) / 2, tf.int32)
    return [top, left, rows, columns]
