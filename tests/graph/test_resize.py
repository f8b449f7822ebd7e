"""Resizing: shapes, dtypes and where pixels go; test_keras_parity compares it with Keras."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from small_specs import spec_of

from tfstream import ImageDecoder, RawDecoder
from tfstream.graph.resize import resized, shape_of
from tfstream.spec import Resize
from tfstream.testing.images import noise


@pytest.mark.parametrize(
    ("decoder", "size", "data_format", "shape"),
    [
        (ImageDecoder(), None, "channels_last", (None, None, 3)),
        (ImageDecoder(), None, "channels_first", (3, None, None)),
        (ImageDecoder(color_mode="grayscale"), (5, 7), "channels_last", (5, 7, 1)),
        (ImageDecoder(color_mode="rgba"), (5, 7), "channels_first", (4, 5, 7)),
        (RawDecoder(dtype="uint8", shape=(28, 28)), None, "channels_last", (28, 28)),
        (RawDecoder(dtype="uint8", shape=(28, 28)), None, "channels_first", (28, 28)),
        (RawDecoder(dtype="uint8", shape=(28, 28), channels=3), (8, 9), "channels_last", (8, 9, 3)),
        (RawDecoder(dtype="float32", shape=(2, 3, 1)), None, "channels_first", (1, 2, 3)),
        (RawDecoder(dtype="float32", shape=()), None, "channels_last", ()),
        (RawDecoder(dtype="float32", shape=(2, 3, 4, 5)), None, "channels_first", (2, 3, 4, 5)),
    ],
)
def test_the_static_shape_of_an_example(decoder, size, data_format, shape):
    """As far as it can be known before decoding; data formats are for images alone."""
    resize = None if size is None else Resize(image_size=size)
    spec = spec_of(resize=resize, data_format=data_format).replace(decoder=decoder)
    assert shape_of(spec) == shape


@pytest.mark.parametrize("how", [{}, {"crop_to_aspect_ratio": True}, {"pad_to_aspect_ratio": True}])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "area"])
def test_one_and_several_are_resized_alike(how, method):
    """A run of raw records is resized at once, and gives what each alone gives."""
    spec = spec_of(resize=Resize(image_size=(6, 9), interpolation=method, **how))
    pixels = np.stack([noise(seed=1), noise(seed=2)])
    together = resized(spec, tf.constant(pixels)).numpy()
    for index in range(2):
        np.testing.assert_allclose(resized(spec, tf.constant(pixels[index])), together[index])


def test_nearest_keeps_the_dtype_and_others_give_float():
    """As TensorFlow and Keras have it; nothing is rounded or scaled."""
    pixels = tf.constant(noise())
    nearest = spec_of(resize=Resize(image_size=(3, 3), interpolation="nearest"))
    assert resized(nearest, pixels).dtype == tf.uint8
    assert resized(spec_of(resize=Resize(image_size=(3, 3))), pixels).dtype == tf.float32
    assert resized(spec_of(), pixels).dtype == tf.uint8


def test_padding_is_black_at_both_sides():
    """A white square in twice its width has a quarter of black at each side."""
    spec = spec_of(resize=Resize(image_size=(4, 8), pad_to_aspect_ratio=True))
    found = resized(spec, tf.fill([4, 4, 3], tf.constant(255, tf.uint8))).numpy()
    assert found[:, :2].max() == 0
    assert found[:, 2:6].min() == 255
    assert found[:, 6:].max() == 0


def test_cropping_takes_the_middle():
    """A picture of three columns, cropped to the shape of one, keeps the middle one."""
    spec = spec_of(
        resize=Resize(image_size=(3, 1), crop_to_aspect_ratio=True, interpolation="nearest")
    )
    spec = spec.replace(decoder=ImageDecoder(color_mode="grayscale"))
    columns = np.broadcast_to(np.array([1, 2, 3], np.uint8)[:, np.newaxis], (3, 3, 1))
    assert resized(spec, tf.constant(columns)).numpy().ravel().tolist() == [2, 2, 2]


def test_channels_first_is_a_transpose():
    """After resizing, so that the pixels are the same."""
    last = spec_of(resize=Resize(image_size=(3, 4)))
    first = last.replace(data_format="channels_first")
    pixels = tf.constant(noise())
    np.testing.assert_array_equal(
        np.transpose(resized(last, pixels), (2, 0, 1)), resized(first, pixels)
    )
