"""
`ImageDecoder`: the bytes of an image -> uint8 pixels, in the graph.

Each image takes one of six routes, chosen from its header (`route`) before any decoder has
it. TensorFlow gets only what it decodes as Pillow does, bit for bit (JPEG: with the accurate
DCT; gray from a colour PNG: within one level). All else goes through `pillow.decode`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from tfstream.decoders.base import Decoder
from tfstream.decoders.headers import ImageHeader, check_size, look

JPEG, PNG, GIF, BMP, WEBP, PILLOW = range(6)
ROUTE_NAMES = ("jpeg", "png", "gif", "bmp", "webp", "pillow")
"""What `stats().decode_paths` calls them."""

ColorMode = Literal["rgb", "rgba", "grayscale"]
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}

_TENSORFLOW = {
    "JPEG": (JPEG, (3, 1)),
    "PNG": (PNG, (3, 4, 1)),
    "GIF": (GIF, (3,)),
    "BMP": (BMP, (3,)),
    "WebP": (WEBP, (3, 4)),
}
"""Format -> route, and the numbers of channels that TensorFlow can give. The only such table."""


@dataclass(frozen=True, kw_only=True)
class ImageDecoder(Decoder):
    """
    Any image that TensorFlow or Pillow reads -> uint8 [height, width, channels].

    The first frame; alpha dropped unless `rgba`; EXIF orientation not applied, as in Keras.
    Two rare differences from Keras, both for the better: the accurate DCT for JPEG, and a
    GIF's pixels outside or beneath its first frame as Pillow has them.

    Attributes:
        max_pixels: The most width x height. A file may be a thousand times smaller than its
            pixels, so this bounds the memory. The default is the size from which Pillow
            warns, about 268 MB as RGB.
    """

    name: ClassVar[str] = "image"

    color_mode: ColorMode = "rgb"
    max_pixels: int = 89_478_485

    def __post_init__(self) -> None:
        if self.color_mode not in get_args(ColorMode):
            raise ValueError(
                '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. '
                f"Received: color_mode={self.color_mode!r}"
            )
        whole = isinstance(self.max_pixels, int) and not isinstance(self.max_pixels, bool)
        if not whole or self.max_pixels < 1:
            raise ValueError(
                f"`max_pixels` must be a positive integer. Received: max_pixels={self.max_pixels!r}"
            )

    @property
    def channels(self) -> int:
        return _CHANNELS[self.color_mode]

    def route(self, data: bytes) -> int:
        """
        Which of the six decoders is to have this image. The same in every process.

        Raises DecodeError where it is no image, or one of more than `max_pixels`.
        """
        header = look(data)
        if header.width and header.height:
            check_size(header.format, header.width, header.height, self.max_pixels)
        route, channels = _TENSORFLOW.get(header.format, (PILLOW, ()))
        if header.odd or self.channels not in channels or not self._channels_fit(header):
            return PILLOW
        return route

    def _channels_fit(self, header: ImageHeader) -> bool:
        if header.format == "WebP":  # TensorFlow adds and drops no alpha here
            return header.channels == self.channels
        if header.format == "PNG" and self.channels == 4:  # to 1, 2 or 4 bits it adds 1, 3 or 15
            return header.transparent or (header.bits or 0) >= 8
        return True

    def decode_in_graph(
        self, data: Any, route: Any, *, pillow: Callable[[Any], Any] | None = None
    ) -> Any:
        """
        Pixels of one scalar string, as graph ops; the op fails where TensorFlow does.

        `pillow` makes the op for the route PILLOW out of `data`; without it that route
        fails as well. So does WebP before TensorFlow 2.20, which has no op for it.
        """
        import tensorflow as tf

        def fail() -> Any:  # decodes nothing; not a constant, so that nobody folds it and complains
            return tf.io.decode_png(tf.strings.substr(data, 0, 0), channels=self.channels)

        branches = [partial(pillow, data) if pillow else fail] * (PILLOW + 1)
        ops = _ops()
        for number, channels in _TENSORFLOW.values():
            if number in ops and self.channels in channels:
                branches[number] = partial(ops[number], data, channels=self.channels)
        pixels = tf.switch_case(tf.cast(route, tf.int32), branches)
        return tf.ensure_shape(pixels, [None, None, self.channels])


def _ops() -> dict[int, Callable[..., Any]]:
    """Route -> op, as far as this TensorFlow has them."""
    import tensorflow as tf

    def first_of_gif(data: Any, channels: int) -> Any:
        return tf.io.decode_gif(data)[0]

    def first_of_webp(data: Any, channels: int) -> Any:
        return tf.io.decode_webp(data, channels=channels)[0]

    ops: dict[int, Callable[..., Any]] = {
        JPEG: partial(tf.io.decode_jpeg, dct_method="INTEGER_ACCURATE"),
        PNG: tf.io.decode_png,
        GIF: first_of_gif,
        BMP: tf.io.decode_bmp,
    }
    return {**ops, WEBP: first_of_webp} if hasattr(tf.io, "decode_webp") else ops
