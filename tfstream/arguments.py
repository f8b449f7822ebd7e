"""
The keyword arguments that all `from_…` functions share, checked in Keras' manner.

Names, defaults and meanings are those of `keras.utils.image_dataset_from_directory` wherever
it has them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, get_args

from tfstream import registry
from tfstream.decoders.base import Decoder
from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.fetch.opening import Pinned, Wanted
from tfstream.labels.base import Labels
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.given import ListLabels, MappingLabels
from tfstream.options import ReadOptions
from tfstream.readers.base import Reader
from tfstream.sources.base import Credentials, Source
from tfstream.spec import DatasetSpec, Interpolation, LabelMode, Order, Position, Resize, Shard

_GIVEN_BY_DATA: Any = "auto"
"""What an argument is that the data decides about: 256 x 256 for images, its own for IDX."""
_SIZE = (256, 256)
"""Keras' default."""


class Common(TypedDict, total=False):
    """The shared keyword arguments; `Arguments` says what they mean."""

    labels: Literal["inferred"] | Sequence[int] | Mapping[str, int] | Labels | None
    label_mode: LabelMode | None
    class_names: Sequence[str] | None
    color_mode: Literal["rgb", "rgba", "grayscale"]
    batch_size: int | None
    image_size: int | tuple[int, int] | None
    interpolation: Interpolation
    data_format: Literal["channels_last", "channels_first"] | None
    crop_to_aspect_ratio: bool
    pad_to_aspect_ratio: bool
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: Literal["training", "validation", "both"] | None
    follow_links: bool
    verbose: bool
    dtype: str | None
    ignore: Sequence[str]
    reader: Literal["auto", "file", "idx"] | Reader
    decoder: Literal["auto"] | Decoder
    credentials: Credentials | None
    options: ReadOptions | None
    num_shards: int
    shard_index: int
    remainder: Literal["uneven", "drop", "pad"]
    position: tuple[int, int] | Position | None


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """
    Checked arguments.

    Attributes:
        labels: `inferred` from class folders (or IDX label files), None, one integer a
            record in key order, a mapping from keys, or a description of labels.
        label_mode: `int`, `categorical`, `binary` or None.
        class_names: Order, or subset, of the class folders.
        color_mode: `rgb`, `rgba` or `grayscale`.
        batch_size: None for single examples.
        image_size: (height, width), one number for a square, or None for no resize.
            256 x 256 unless records are IDX, which keep their size.
        interpolation: As in Keras.
        data_format: `channels_last` or `channels_first`; None for Keras' setting.
        crop_to_aspect_ratio: As in Keras.
        pad_to_aspect_ratio: As in Keras.
        shuffle: Another order each epoch.
        seed: Any integer. Keras draws one where none is given; here it is 0, so that equal
            calls are equal datasets. None draws one and writes it into the spec.
        validation_split: Fraction for validation.
        subset: `training`, `validation`, or `both` for a pair.
        follow_links: For folders: visit linked folders too.
        verbose: Print how many files were found.
        dtype: Cast examples to it.
        ignore: Patterns of keys to leave out.
        reader: `auto` to recognise it, `file`, `idx`, or a description.
        decoder: `auto`, or a description.
        credentials: A mapping; what it may hold depends on the source. Never written down.
        options: How to read.
        num_shards: How many workers share the records.
        shard_index: Which of them this is.
        remainder: What becomes of a last run that is not full.
        position: (epoch, record) to enter at.
    """

    labels: Any = "inferred"
    label_mode: Any = "int"
    class_names: Sequence[str] | None = None
    color_mode: Any = _GIVEN_BY_DATA
    batch_size: int | None = 32
    image_size: Any = _GIVEN_BY_DATA
    interpolation: Any = "bilinear"
    data_format: Any = None
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False
    shuffle: bool = True
    seed: int | None = 0
    validation_split: float | None = None
    subset: Any = None
    follow_links: bool = False
    verbose: bool = True
    dtype: Any = None
    ignore: Sequence[str] = ()
    reader: Any = "auto"
    decoder: Any = "auto"
    credentials: Credentials | None = field(default=None, repr=False)
    options: ReadOptions | None = None
    num_shards: int = 1
    shard_index: int = 0
    remainder: Any = "uneven"
    position: Any = None

    def __post_init__(self) -> None:
        _one_of("label_mode", self.label_mode, (*get_args(LabelMode), None))
        _one_of("color_mode", self.color_mode, ("rgb", "rgba", "grayscale", _GIVEN_BY_DATA))
        _one_of("interpolation", str(self.interpolation).lower(), get_args(Interpolation))
        _one_of("data_format", self.data_format, ("channels_last", "channels_first", None))
        _one_of("subset", self.subset, ("training", "validation", "both", None))
        _one_of("remainder", self.remainder, ("uneven", "drop", "pad"))
        _whole("batch_size", self.batch_size, least=1, none=True)
        _whole("seed", self.seed, least=None, none=True)
        _whole("num_shards", self.num_shards, least=1)
        _whole("shard_index", self.shard_index, least=0)
        for name in ("shuffle", "follow_links", "verbose"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"`{name}` must be True or False. Received: {name}={getattr(self, name)!r}"
                )
        self._check_split()
        self._check_labels()

    def _check_split(self) -> None:
        split, subset = self.validation_split, self.subset
        if split is not None and not 0 < split < 1:
            raise ValueError(f"`validation_split` must be between 0 and 1, received: {split}")
        if (split is None) != (subset is None):
            raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
        if split is not None and self.shuffle and self.seed is None:
            raise ValueError(
                "If using `validation_split` and shuffling the data, you must provide a `seed` "
                "argument, to make sure that there is no overlap between the training and "
                "validation subset."
            )

    def _check_labels(self) -> None:
        labels = self.labels
        listed = isinstance(labels, Sequence) and not isinstance(labels, str)
        if not (labels in (None, "inferred") if not listed else True) and not isinstance(
            labels, (Mapping, Labels)
        ):
            raise ValueError(
                "`labels` argument should be a list/tuple of integer labels, a mapping from keys "
                'to integer labels, "inferred", or None. '
                f"Received: labels={labels!r}"
            )
        if self.class_names is not None and (
            listed or labels is None or isinstance(labels, Mapping)
        ):
            raise ValueError(
                'You can only pass `class_names` if `labels="inferred"`. '
                f"Received: labels={labels!r}, and class_names={self.class_names!r}"
            )

    def wanted(self, source: Source) -> Wanted:
        """What to look for at the source."""
        names = None if self.class_names is None else tuple(self.class_names)
        return Wanted(source, self._reader(), self._labels(), names, tuple(self.ignore))

    def specs(self, found: Pinned) -> list[DatasetSpec]:
        """One spec, or two for `subset="both"`."""
        names, mode = found.class_names, self.label_mode if found.labels else None
        if mode == "binary" and len(names or ()) != 2:
            raise ValueError(
                'When passing `label_mode="binary"`, there must be exactly 2 class_names. '
                f"Received: class_names={list(names or ())}"
            )
        decoder, resize = self._decoding(found.raw)
        spec = DatasetSpec(
            source=found.source,
            decoder=decoder,
            manifest=found.manifest.digest,
            records=found.manifest.count,
            ignore=tuple(self.ignore),
            reader=found.reader,
            labels=found.labels,
            label_mode=mode,
            class_names=names,
            resize=resize,
            data_format=self.data_format or _keras_data_format(),
            dtype=self._dtype(),
            batch_size=self.batch_size,
            shard=self._shard(),
            start=position_of(self.position),
        )
        return [spec.replace(order=order) for order in self._orders()]

    def _orders(self) -> list[Order]:
        seed = random.SystemRandom().randrange(2**31) if self.seed is None else self.seed
        order = Order(
            shuffle=self.shuffle,
            seed=seed,
            validation_split=self.validation_split,
            subset="training" if self.subset == "both" else self.subset,
            shuffle_split=self.shuffle,
        )
        if self.subset != "both":
            return [order]
        return [order, replace(order, subset="validation", shuffle=False)]

    def _reader(self) -> Reader | None:
        if self.reader == "auto":
            return None
        if isinstance(self.reader, Reader):
            return self.reader
        found = registry.lookup("reader", self.reader) if isinstance(self.reader, str) else None
        if found is None:
            _one_of("reader", self.reader, ("auto", *registry.names("reader")))
        reader: Reader = found()  # type: ignore[misc]
        return reader

    def _labels(self) -> Labels | None:
        if self.labels is None or self.label_mode is None:
            return None
        if isinstance(self.labels, Labels):
            return self.labels
        if isinstance(self.labels, Mapping):
            return MappingLabels(
                values={str(key): int(value) for key, value in self.labels.items()}
            )
        if self.labels == "inferred":
            return DirectoryLabels()
        return ListLabels(values=tuple(int(value) for value in self.labels))

    def _decoding(self, raw: Decoder | None) -> tuple[Decoder, Resize | None]:
        size = self.image_size
        if raw is None:
            mode: Any = "rgb" if self.color_mode == _GIVEN_BY_DATA else self.color_mode
            decoder = ImageDecoder(color_mode=mode) if self.decoder == "auto" else self.decoder
            return decoder, self._resize(_SIZE if size == _GIVEN_BY_DATA else size)
        resize = self._resize(None if size == _GIVEN_BY_DATA else size)
        decoder = raw if self.decoder == "auto" else self.decoder
        if not isinstance(decoder, RawDecoder):
            raise ValueError(f"IDX records need a RawDecoder. Received: decoder={decoder!r}")
        if self.color_mode == "rgba":
            raise ValueError('IDX records have no alpha: `color_mode` is "rgb" or "grayscale"')
        if self.color_mode != _GIVEN_BY_DATA:
            decoder = replace(decoder, channels=3 if self.color_mode == "rgb" else 1)
        elif resize is not None:
            own = decoder.shape[-1] if len(decoder.shape) == 3 else 1
            decoder = replace(decoder, channels=3 if own == 3 else 1)
        return decoder, resize

    def _resize(self, size: Any) -> Resize | None:
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise ValueError(
                "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`."
            )
        if size is None:
            return None
        sides = (size, size) if isinstance(size, int) else size
        whole = isinstance(sides, (list, tuple)) and all(type(side) is int for side in sides)
        if not whole or len(sides) != 2 or min(sides) < 1:
            raise ValueError(
                "Invalid `image_size` value. Expected a tuple of 2 positive integers. "
                f"Received: image_size={size!r}"
            )
        return Resize(
            image_size=(sides[0], sides[1]),
            interpolation=str(self.interpolation).lower(),  # type: ignore[arg-type]
            crop_to_aspect_ratio=self.crop_to_aspect_ratio,
            pad_to_aspect_ratio=self.pad_to_aspect_ratio,
        )

    def _shard(self) -> Shard | None:
        return shard_of(self.num_shards, self.shard_index, self.remainder)

    def _dtype(self) -> str | None:
        if self.dtype is None:
            return None
        import tensorflow as tf

        name: str = tf.as_dtype(self.dtype).name
        return name


def shard_of(num_shards: int, index: int, remainder: Any = "uneven") -> Shard | None:
    """
    A worker's part; None for the only worker.

    Errors:
        ValueError: no such worker.
    """
    if not 0 <= index < num_shards:
        raise ValueError(
            f"`shard_index` must be at least 0 and below `num_shards`. Received: "
            f"shard_index={index}, num_shards={num_shards}"
        )
    return (
        None if num_shards == 1 else Shard(num_shards=num_shards, index=index, remainder=remainder)
    )


def position_of(value: Any) -> Position | None:
    """A position from a pair (epoch, record)."""
    if value is None or isinstance(value, Position):
        return value
    epoch, record = value
    return Position(epoch=int(epoch), record=int(record))


def _keras_data_format() -> Literal["channels_last", "channels_first"]:
    keras = sys.modules.get("keras")
    if keras is not None and keras.config.image_data_format() == "channels_first":
        return "channels_first"
    return "channels_last"


def _one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    if not any(value is choice or value == choice for choice in choices):
        shown = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` argument must be one of {shown}. Received: {name}={value!r}")


def _whole(name: str, value: Any, *, least: int | None, none: bool = False) -> None:
    if value is None and none:
        return
    if type(value) is not int or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise ValueError(f"`{name}` must be an integer{bound}. Received: {name}={value!r}")
