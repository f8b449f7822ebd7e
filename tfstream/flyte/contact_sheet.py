"""
The first pictures of a dataset, small, for a Deck: `<figure>`s with JPEGs as data URIs.

```
elements -> the first tensor that is pictures -> one by one -> 0..255 -> 96 pixels -> JPEG, base64
```

A page with it stands on its own: it asks no server for anything.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tfstream.spec import DatasetSpec

if TYPE_CHECKING:
    import tensorflow as tf

_SIDE = 96
"""Pixels of the longer side. A JPEG of that size has at most 15 KB, mostly 3."""
_CHANNELS = (1, 3, 4)


class Picture(NamedTuple):
    """uint8, with one channel or three; and what it is called."""

    pixels: tf.Tensor
    name: str


def contact_sheet(value: Any, names: Sequence[str] | None, count: int) -> str:
    """
    The first pictures of a dataset or a `DatasetSpec`, which are read; `names` are its classes.

    What goes wrong is shown in their place: a task does not fail for its Deck.
    """
    try:
        shown = "".join(_figure(each) for each in islice(_pictures(_opened(value), names), count))
    except Exception as error:
        text = html.escape(f"{type(error).__name__}: {error}")
        return f"<p>the pictures could not be read: {text}</p>"
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{shown}</div>' if shown else ""


def _opened(value: Any) -> tf.data.Dataset:
    """As one epoch of its own: the task's first iteration stays the first."""
    from tfstream.api import load
    from tfstream.dataset import StreamDataset

    dataset = load(value) if isinstance(value, DatasetSpec) else value
    return dataset.epochs(1) if isinstance(dataset, StreamDataset) else dataset


def _pictures(dataset: tf.data.Dataset, names: Sequence[str] | None) -> Iterator[Picture]:
    import tensorflow as tf

    for element in dataset:
        parts = [part for part in tf.nest.flatten(element) if isinstance(part, tf.Tensor)]
        images = next((each for each in map(_as_batch, parts) if each is not None), None)
        if images is None:
            return
        labels = next((part for part in parts if part.dtype in (tf.int32, tf.int64)), None)
        for number, image in enumerate(images):
            yield Picture(_small(image), _name(labels, number, names))


def _as_batch(part: tf.Tensor) -> tf.Tensor | None:
    """
    `(batch, height, width, channels)`; None if it is no picture.

    Of three dimensions it is one picture, or a batch without channels, such as MNIST's.
    """
    import tensorflow as tf

    shape = part.shape
    if not (part.dtype.is_floating or part.dtype.is_integer) or shape.rank not in (3, 4):
        return None
    if shape.rank == 3:
        return part[None] if shape[-1] in _CHANNELS else part[..., None]
    if shape[-1] in _CHANNELS:
        return part
    return tf.transpose(part, [0, 2, 3, 1]) if shape[1] in _CHANNELS else None


def _small(image: tf.Tensor) -> tf.Tensor:
    """Values of 0..255 stay; others, such as 0..1 and -1..1, are stretched to that."""
    import tensorflow as tf

    pixels = tf.cast(image[..., :3], tf.float32)  # JPEG has no alpha
    least, most = tf.reduce_min(pixels), tf.reduce_max(pixels)
    if image.dtype.is_floating and (least < 0 or most <= 1 or most > 255):
        least, most = tf.minimum(least, 0.0), tf.maximum(most, 1.0)
        pixels = (pixels - least) / (most - least) * 255
    if max(pixels.shape[:2]) > _SIDE:
        pixels = tf.image.resize(pixels, [_SIDE, _SIDE], method="area", preserve_aspect_ratio=True)
    return tf.saturate_cast(tf.round(pixels), tf.uint8)


def _name(labels: tf.Tensor | None, number: int, names: Sequence[str] | None) -> str:
    """Of its class, where labels are numbers of classes."""
    if labels is None or names is None:
        return ""
    label = int(labels[number]) if labels.shape.rank == 1 else None
    return names[label] if label is not None and 0 <= label < len(names) else ""


def _figure(picture: Picture) -> str:
    import tensorflow as tf

    data = base64.b64encode(tf.io.encode_jpeg(picture.pixels, quality=85).numpy()).decode()
    name = html.escape(picture.name)
    return (
        f'<figure style="margin:0"><img alt="{name}" src="data:image/jpeg;base64,{data}">'
        f"<figcaption>{name}</figcaption></figure>"
    )
