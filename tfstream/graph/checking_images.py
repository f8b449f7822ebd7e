"""
`CheckedImages`: one image, and its mask if it has one, read and decoded as training would.

```
bytes -> header -> route -> TensorFlow -> where it refuses: Pillow
                                          mask: Pillow, and its size against the image's
```
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from threading import Semaphore

import tensorflow as tf

from tfstream.decoders import mask, pillow
from tfstream.decoders.headers import look
from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.decoders.routes import orientation_of
from tfstream.errors import DecodeError, ShardError, SourceError
from tfstream.fetch.archives import read_files
from tfstream.fetch.lifetime import Inside
from tfstream.fetch.reading import Reading
from tfstream.graph.outcome import Outcome, unreadable
from tfstream.readers.base import Reader
from tfstream.sources.base import ObjectInfo


class CheckedImages:
    """A function of a record, for any thread. What it decodes is thrown away."""

    def __init__(
        self, reader: Reader, reading: Reading, decoder: ImageDecoder, mask_type: str
    ) -> None:
        self._reader = reader
        self._reading = reading
        self._decoder = decoder
        self._mask_type = mask_type
        self._cores = Semaphore(os.cpu_count() or 1)  # pixels are not in the byte budget
        self._tensorflow = tf.function(
            decoder.decode_in_graph, autograph=False
        ).get_concrete_function(tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32))

    def __call__(self, record: Sequence[ObjectInfo]) -> list[Outcome]:
        """
        The outcome for the image, and for the mask.

        Errors:
            AuthenticationError: the credentials are not known any more.
        """
        image, *masks = record
        first, data = self._outcome(image, self._decoded_by)
        like = b"" if first.kind else data
        others = [self._outcome(each, partial(self._mask, image=like)) for each in masks]
        return [first, *(outcome for outcome, _ in others)]

    def _outcome(self, info: ObjectInfo, decode: Callable[[bytes], str]) -> tuple[Outcome, bytes]:
        """What becomes of one object, and its bytes. `decode` gives the path that it took."""
        try:
            (data,) = read_files(self._reader, self._reading, [info], self._decoder.field)
        except (SourceError, ShardError) as error:
            return unreadable(info, error), b""
        name = ""
        try:
            name = look(data).format
            with self._cores, Inside():  # no thread is in TensorFlow when the process ends
                return Outcome(info.path, len(data), name, decode(data)), data
        except DecodeError as error:
            return Outcome(info.path, len(data), name, "", error.kind, str(error)), data

    def _decoded_by(self, data: bytes) -> str:
        route = self._decoder.route(data)
        if not self._decoder.by_pillow(route):
            try:
                self._tensorflow(tf.constant(data), tf.constant(route))
                return route_name(route)
            except tf.errors.OpError:  # what it refuses, Pillow may read
                pass
        pillow.decode(data, self._decoder)
        return "pillow"

    def _mask(self, data: bytes, image: bytes) -> str:
        values = mask.decode(data, dtype=self._mask_type, max_pixels=self._decoder.max_pixels)
        if image:
            route = self._decoder.route(image)
            sides = self._decoder.size(image, route)
            mask.check_sides(values, sides, turned=orientation_of(route) > 4)
        return "pillow"
