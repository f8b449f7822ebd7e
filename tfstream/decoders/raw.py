"""`RawDecoder`: records that are numbers already, of one dtype and shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tfstream.decoders.base import Decoder

if TYPE_CHECKING:
    import tensorflow as tf

DType = Literal["uint8", "int8", "int16", "int32", "float32", "float64"]
_BYTES = {"uint8": 1, "int8": 1, "int16": 2, "int32": 4, "float32": 4, "float64": 8}


@dataclass(frozen=True, kw_only=True)
class RawDecoder(Decoder):
    """
    Fixed-length records, a whole run of them in one buffer.

    Attributes:
        dtype: Of the stored numbers.
        shape: Of one record, without the count.
        little_endian: Their byte order; IDX has the other one.
        channels: None leaves records as they are. Else they are images, and get one channel
            or, repeated, three.
    """

    name: ClassVar[str] = "raw"
    dtype: DType
    shape: tuple[int, ...]
    little_endian: bool = True
    channels: Literal[1, 3] | None = None

    def __post_init__(self) -> None:
        if any(side < 0 for side in self.shape):
            raise ValueError(f"a shape has no negative sides, got {self.shape}")
        last = self.shape[2] if len(self.shape) == 3 else None
        if self.channels is not None and last != self.channels and len(self.shape) != 2:
            raise ValueError(
                f"records of shape {self.shape} are no images that could have {self.channels} "
                "channels: leave out image_size and color_mode to have them as they are"
            )

    @property
    def record_bytes(self) -> int:
        """Of one stored record."""
        return math.prod(self.shape) * _BYTES[self.dtype]

    @property
    def decoded_shape(self) -> tuple[int, ...]:
        """Of one record as the graph has it."""
        return self.shape if self.channels is None else (*self.shape[:2], self.channels)

    def decode_in_graph(self, buffer: Any) -> tf.Tensor:
        """One scalar string to a tensor of shape `(records, *decoded_shape)`."""
        import tensorflow as tf

        records = tf.io.decode_raw(buffer, self.dtype, little_endian=self.little_endian)
        records = tf.reshape(records, (-1, *self.shape))
        if self.channels is not None and len(self.shape) == 2:
            records = tf.repeat(records[..., tf.newaxis], self.channels, axis=-1)
        return records
