"""The graph that every TensorFlow contender ends in: decode, resize, batch. Needs TensorFlow."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.job import BATCH, SIZE

AUTOTUNE = tf.data.AUTOTUNE


def decoded(data: tf.Tensor) -> tf.Tensor:
    """JPEG bytes to a float image, with the accurate DCT that Pillow has too."""
    image = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE")
    return tf.image.resize(image, (SIZE, SIZE))


def batched(images: tf.data.Dataset) -> tf.data.Dataset:
    """Single images to batches, one or more ahead."""
    return images.batch(BATCH).prefetch(AUTOTUNE)


def with_threads(dataset: tf.data.Dataset, count: int) -> tf.data.Dataset:
    """Let `count` calls wait at the same time; 0 leaves TensorFlow's default."""
    options = tf.data.Options()
    if count:
        options.threading.private_threadpool_size = count
    return dataset.with_options(options)
