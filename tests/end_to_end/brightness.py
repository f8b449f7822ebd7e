"""A Keras model that knows the class of every picture of `places.classes` by its brightness."""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def model_of(classes):
    """Linear: the largest output is that of the class whose middle value is the nearest."""
    middles = 50.0 * np.arange(classes) + 2
    weights = [2 * middles[None, :], -(middles**2)]
    mean = tf.keras.layers.GlobalAveragePooling2D()
    model = tf.keras.Sequential([mean, tf.keras.layers.Dense(classes)])
    model.build((None, None, None, 1))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.0), loss, metrics=["accuracy"])
    model.layers[-1].set_weights([np.float32(weight) for weight in weights])
    return model


def fitted(model, data, *, epochs):
    """What `fit` reports; it learns nothing, so an accuracy of 1 says that all labels are right."""
    first = data.map(lambda image, label: (tf.cast(image[..., :1], tf.float32), label))
    return model.fit(first, epochs=epochs, verbose=0, shuffle=False)
