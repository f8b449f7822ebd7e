"""Labels that are images: from packed masks to tensors."""

from __future__ import annotations

import tensorflow as tf

from tfstream.decoders import mask
from tfstream.graph.resize import mask_shape_of, resized_mask
from tfstream.labels.images import ImageLabels
from tfstream.spec import DatasetSpec


def masks_of(spec: DatasetSpec, labels: ImageLabels, packed: tf.Tensor) -> tf.Tensor:
    """One mask, or a batch of them where `packed` has several."""

    def unpacked(text: tf.Tensor) -> tf.Tensor:
        return resized_mask(spec, mask.in_graph(text, labels.dtype))

    if packed.shape.rank == 0:
        return unpacked(packed)
    one = tf.TensorSpec(mask_shape_of(spec), labels.dtype)
    return tf.map_fn(unpacked, packed, fn_output_signature=one)
