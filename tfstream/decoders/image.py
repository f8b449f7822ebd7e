"""
`ImageDecoder`: the bytes of an image -> pixels, in the graph.

Each image takes a route that is chosen from its header (`route`) before any decoder has it:
one of TensorFlow's ops, or `pillow.decode`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from tfstream.decoders import in_graph, routes
from tfstream.decoders.alpha import color
from tfstream.decoders.base import Decoder
from tfstream.decoders.headers import check_size, look
from tfstream.decoders.orientation import orientation, turned
from tfstream.decoders.routes import route_name

__all__ = ["ImageDecoder", "route_name"]

ColorMode = Literal["rgb", "rgba", "grayscale"]
Orientation = Literal["ignore", "apply"]
PixelType = Literal["uint8", "uint16"]
Scaled = Literal["auto", "off"]

_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_CHOICES = {
    "color_mode": get_args(ColorMode),
    "orientation": get_args(Orientation),
    "dtype": get_args(PixelType),
    "scaled": get_args(Scaled),
}


@dataclass(frozen=True, kw_only=True)
class ImageDecoder(Decoder):
    """
    Any image that TensorFlow or Pillow reads -> pixels [height, width, channels].

    The first frame. Two rare differences from Keras, both for the better: the accurate DCT for
    JPEG, and a GIF's pixels outside or beneath its first frame as Pillow has them.

    ```python
    ImageDecoder(orientation="apply", alpha="white", dtype="uint16")
    ```

    Attributes:
        color_mode: As in Keras.
        orientation: Whether to turn photographs upright as their EXIF block says. Keras does
            not. HEIC and JPEG XL always come upright.
        alpha: What becomes of transparency without `rgba`: `drop` leaves each pixel the colour
            that is stored for it, as Keras does; a ground (`white`, `black`, `#rrggbb`) is
            mixed with it.
        dtype: `uint16` keeps 16-bit PNG and gray TIFF, JPEG 2000 and PNM exactly, and gives
            8-bit images times 257. `uint8` is the upper byte of 16 bits.
        scaled: `auto` lets JPEG be decoded at a half, a quarter or an eighth of its size where
            that is still at least as large as what it will be resized to: twice as fast for 12
            megapixels. With `crop_to_aspect_ratio` only what is kept is decoded. Off by default,
            because the pixels are then other ones than Keras', which skips what lies between
            those it takes: 1 to 6 levels of 255 on average.
        max_pixels: The most width x height. A file may be a thousand times smaller than its
            pixels, so this bounds the memory. The default is the size from which Pillow
            warns, about 268 MB as 8-bit RGB.
        field: Of a record that has several, such as `jpg` in a tar or `image/encoded` in a
            TFRecord; None for the only image.
    """

    name: ClassVar[str] = "image"
    later: ClassVar[frozenset[str]] = frozenset({"field"})

    color_mode: ColorMode = "rgb"
    orientation: Orientation = "ignore"
    alpha: str = "drop"
    dtype: PixelType = "uint8"
    scaled: Scaled = "off"
    max_pixels: int = 89_478_485
    field: str | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                self._refuse(name, "one of {" + ", ".join(f'"{it}"' for it in choices) + "}")
        ground = color(self.alpha) if isinstance(self.alpha, str) else ""
        if not ground and self.alpha != "drop":
            self._refuse("alpha", '"drop" or a colour: "white", "black" or "#rrggbb"')
        if ground and self.color_mode == "rgba":
            self._refuse("alpha", '"drop" where `color_mode` is "rgba", which keeps alpha')
        whole = isinstance(self.max_pixels, int) and not isinstance(self.max_pixels, bool)
        if not whole or self.max_pixels < 1:
            self._refuse("max_pixels", "a positive integer")
        object.__setattr__(self, "alpha", ground or "drop")  # equal decoders compare equal

    def _refuse(self, field: str, expected: str) -> None:
        value = getattr(self, field)
        raise ValueError(f"`{field}` must be {expected}. Received: {field}={value!r}")

    @property
    def channels(self) -> int:
        """Of the pixels."""
        return _CHANNELS[self.color_mode]

    def route(self, data: bytes, least: tuple[int, int] | None = None) -> int:
        """
        How to decode this image: for `decode_in_graph`, `oriented` and `route_name`.

        A function of the file's bytes alone, the same in every process. `least` is the
        (height, width) that the picture will be resized to.

        Errors:
            DecodeError: it is no image, or one of more than `max_pixels`.
        """
        header = look(data)
        if header.width and header.height:
            check_size(header.format, header.width, header.height, self.max_pixels)
        turn = orientation(header.format, data) if self.orientation == "apply" else 1
        decoder = routes.choose(
            header, channels=self.channels, dtype=self.dtype, mixed=self.alpha != "drop"
        )
        if decoder == routes.JPEG and self.scaled == "auto" and least is not None:
            decoder = routes.scaled(header, least if turn < 5 else least[::-1])
        return routes.packed(decoder, turn)

    def size(self, data: bytes, route: int) -> tuple[int, int] | None:
        """(height, width) of what will be decoded; None where the header leaves it open."""
        header = look(data)
        if header.height is None or header.width is None:
            return None
        sides = (header.height, header.width)
        return sides[::-1] if routes.orientation_of(route) > 4 else sides

    def by_pillow(self, route: Any) -> Any:
        """Whether `pillow.decode` must have it: a bool, or a tensor where `route` is one."""
        return routes.decoder_of(route) == routes.PILLOW

    def decode_in_graph(
        self,
        data: Any,
        route: Any,
        *,
        pillow: Callable[[Any], Any] | None = None,
        window: in_graph.Window | None = None,
    ) -> Any:
        """
        Pixels of one scalar string, as graph ops, as they are stored; for `oriented`.

        The op fails where TensorFlow does. `pillow` makes the op for what Pillow must have out
        of `data`; without it that fails as well. So do WebP before TensorFlow 2.20 and JPEG XL
        before 2.21, which have no ops for them. With `window` only that part of a JPEG comes.
        """
        import tensorflow as tf

        ops = in_graph.ops(self, window)
        branches = [*ops.values(), pillow or partial(in_graph.fail, self)]
        places = [[*ops].index(n) if n in ops else len(ops) for n in range(routes.DECODERS)]
        place = tf.gather(places, routes.decoder_of(tf.cast(route, tf.int32)))
        pixels = tf.switch_case(place, [partial(branch, data) for branch in branches])
        return tf.ensure_shape(pixels, [None, None, self.channels])

    def oriented(self, pixels: Any, route: Any) -> Any:
        """Pixels the right way up, as graph ops; none where `orientation` is `ignore`."""
        if self.orientation == "ignore":
            return pixels
        return turned(pixels, routes.orientation_of(route))


def field_of(decoder: Decoder) -> str | None:
    """The field of a record that a decoder wants."""
    return decoder.field if isinstance(decoder, ImageDecoder) else None
