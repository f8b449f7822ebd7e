"""
The keyword arguments that all `from_…` functions share, checked in Keras' manner.

Names, defaults and meanings are those of `keras.utils.image_dataset_from_directory` wherever
it has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, get_args

from tfstream.decoders.base import Decoder
from tfstream.labels.base import Labels
from tfstream.options import ReadOptions
from tfstream.readers.base import Reader
from tfstream.sources.base import Credentials
from tfstream.spec import Interpolation, LabelMode, Position

GIVEN_BY_DATA: Any = "auto"
"""What an argument is that the data decides about: 256 x 256 for images, its own for IDX."""


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
    color_mode: Any = GIVEN_BY_DATA
    batch_size: int | None = 32
    image_size: Any = GIVEN_BY_DATA
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
        one_of("label_mode", self.label_mode, (*get_args(LabelMode), None))
        one_of("color_mode", self.color_mode, ("rgb", "rgba", "grayscale", GIVEN_BY_DATA))
        one_of("interpolation", str(self.interpolation).lower(), get_args(Interpolation))
        one_of("data_format", self.data_format, ("channels_last", "channels_first", None))
        one_of("subset", self.subset, ("training", "validation", "both", None))
        one_of("remainder", self.remainder, ("uneven", "drop", "pad"))
        whole("batch_size", self.batch_size, least=1, none=True)
        whole("seed", self.seed, least=None, none=True)
        whole("num_shards", self.num_shards, least=1)
        whole("shard_index", self.shard_index, least=0)
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"`{name}` must be True or False. Received: {name}={getattr(self, name)!r}"
                )
        self._check_size()
        self._check_split()
        self._check_labels()
        self._check_parts()

    def _check_size(self) -> None:
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise ValueError(
                "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`."
            )
        size = self.image_size
        if size is None or size == GIVEN_BY_DATA:
            return
        sides = (size, size) if isinstance(size, int) else size
        numbers = isinstance(sides, (list, tuple)) and all(type(side) is int for side in sides)
        if not numbers or len(sides) != 2 or min(sides) < 1:
            raise ValueError(
                "Invalid `image_size` value. Expected a tuple of 2 positive integers. "
                f"Received: image_size={size!r}"
            )

    def _check_split(self) -> None:
        split, subset = self.validation_split, self.subset
        number = isinstance(split, (int, float))
        if split is not None and not (number and 0 < split < 1):
            raise ValueError(f"`validation_split` must be between 0 and 1, received: {split!r}")
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
        listed = isinstance(labels, Sequence) and not isinstance(labels, (str, bytes))
        given = listed or isinstance(labels, Mapping)
        values = labels.values() if isinstance(labels, Mapping) else labels if listed else ()
        named = labels is None or isinstance(labels, Labels) or _is(labels, "inferred")
        if not (given or named) or not all(_is_integer(value) for value in values):
            raise ValueError(
                "`labels` argument should be a list/tuple of integer labels, a mapping from keys "
                'to integer labels, "inferred", or None. '
                f"Received: labels={_short(labels)}"
            )
        if self.class_names is not None and (given or labels is None):
            raise ValueError(
                'You can only pass `class_names` if `labels="inferred"`. '
                f"Received: labels={_short(labels)}, and class_names={self.class_names!r}"
            )

    def _check_parts(self) -> None:
        """What would else fail far from here, or be taken letter by letter."""
        for name in ("class_names", "ignore"):
            value = getattr(self, name)
            listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
            strings = listed and all(isinstance(each, str) for each in value)
            if not strings and not (value is None and name == "class_names"):
                raise ValueError(f"`{name}` must be a list of strings. Received: {name}={value!r}")
        if not _is(self.decoder, "auto") and not isinstance(self.decoder, Decoder):
            raise ValueError(
                f'`decoder` must be "auto" or a decoder. Received: decoder={self.decoder!r}'
            )
        if isinstance(self.decoder, Decoder) and self.color_mode != GIVEN_BY_DATA:
            raise ValueError("Pass `color_mode` or `decoder`, which has one, but not both.")
        if self.options is not None and not isinstance(self.options, ReadOptions):
            raise ValueError(f"`options` must be ReadOptions. Received: options={self.options!r}")
        if self.credentials is not None and not isinstance(self.credentials, Mapping):
            raise ValueError("`credentials` must be a mapping. Received one that is none")


_SWITCHES = (
    *("shuffle", "follow_links", "verbose"),
    *("crop_to_aspect_ratio", "pad_to_aspect_ratio"),
)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _is_integer(value: Any) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


def one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Errors: ValueError, in Keras' words, unless `value` is one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        shown = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` argument must be one of {shown}. Received: {name}={value!r}")


def whole(name: str, value: Any, *, least: int | None, none: bool = False) -> None:
    """Errors: ValueError unless `value` is an integer of at least `least`."""
    if value is None and none:
        return
    if type(value) is not int or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise ValueError(f"`{name}` must be an integer{bound}. Received: {name}={value!r}")
