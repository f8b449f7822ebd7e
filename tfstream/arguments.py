"""
The keyword arguments that all `from_…` functions share, checked in Keras' manner.

Names, defaults and meanings are those of `keras.utils.image_dataset_from_directory` wherever
it has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, get_args

from tfstream.checks import check_keys, integer, one_of, shown, sides, whole, words
from tfstream.decoders.base import Decoder
from tfstream.labels.base import Labels
from tfstream.options import ReadOptions
from tfstream.readers.base import Reader
from tfstream.sources.base import Credentials
from tfstream.spec import LIMIT, Interpolation, LabelMode, OnError, Position, is_limit
from tfstream.tf_config import resolved

GIVEN_BY_DATA: Any = "auto"
"""What an argument is that the data decides about: 256 x 256 for images, its own for IDX."""
_MOST_DIGITS = 640
"""Of a seed: the most that Python reads and writes as text under any setting of its limit."""


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
    keys: Sequence[str] | str | None
    reader: Literal["auto", "file", "idx", "tar", "tfrecord", "zip"] | Reader
    decoder: Literal["auto"] | Decoder
    on_error: OnError
    max_errors: int | float | None
    credentials: Credentials | None
    options: ReadOptions | None
    num_shards: int | Literal["auto"]
    shard_index: int
    remainder: Literal["uneven", "drop", "pad"]
    position: tuple[int, int] | Position | None


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """
    Checked arguments.

    Attributes:
        labels: `inferred` from class folders (or IDX label files), None, one integer a
            record in the order of `keys`, else of their names, a mapping from keys, or a
            description of labels.
        label_mode: `int`, `categorical`, `binary` or None.
        class_names: Order, or subset, of the classes.
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
        keys: Exactly which of what the pattern matches, and in which order: a list of at most
            10,000 whole keys, or the key of an object that has them, one a line, or in a column
            of a `.csv`. With `shuffle=False` examples come in this order.
        reader: `auto` to recognise it, `file`, `idx`, `tar`, `tfrecord`, `zip`, or a description.
        decoder: `auto`, or a description.
        on_error: What becomes of an image that cannot be decoded. `raise`: a `DecodeError`.
            `skip`: it is left out, and its batch is shorter; a batch of nothing else is an
            error. `substitute`: the next good record takes its place, of the same batch where
            there is one. `stats().errors` names them. What cannot be read at all, and a broken
            shard, is always an error.
        max_errors: For `skip` and `substitute`: the most images of an epoch that may be so, as
            a number, or as a fraction of those that came, once there are 100 of them or a
            whole epoch ends: the rest of one that was entered in its middle tells too little.
            Counted by each iteration for itself. More are a `DecodeError`; None for no limit.
        credentials: A mapping; what it may hold depends on the source. Never written down.
        options: How to read.
        num_shards: How many workers share the records. "auto": as many as `TF_CONFIG` has, which
            also says which of them this is; one where it is not set.
        shard_index: Which of them this is; needed where there are several.
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
    keys: Any = None
    reader: Any = "auto"
    decoder: Any = "auto"
    on_error: Any = "raise"
    max_errors: Any = None
    credentials: Credentials | None = field(default=None, repr=False)
    options: ReadOptions | None = None
    num_shards: Any = 1
    shard_index: int | None = None
    remainder: Any = "uneven"
    position: Any = None

    def __post_init__(self) -> None:
        one_of("label_mode", self.label_mode, (*get_args(LabelMode), None))
        one_of("color_mode", self.color_mode, ("rgb", "rgba", "grayscale", GIVEN_BY_DATA))
        one_of("interpolation", str(self.interpolation).lower(), get_args(Interpolation))
        one_of("data_format", self.data_format, ("channels_last", "channels_first", None))
        one_of("subset", self.subset, ("training", "validation", "both", None))
        one_of("remainder", self.remainder, ("uneven", "drop", "pad"))
        self._check_numbers()
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"`{name}` must be True or False. Received: {name}={getattr(self, name)!r}"
                )
        self._check_size()
        self._check_split()
        self._check_labels()
        self._check_parts()
        self._check_errors()
        self._check_dtype()

    def _check_numbers(self) -> None:
        """Integers become plain ones, whoever made them: they go into the spec's JSON."""
        self._set("batch_size", whole("batch_size", self.batch_size, least=1, none=True))
        self._set("seed", whole("seed", self.seed, least=None, most=None, none=True))
        if self.seed is not None and abs(self.seed) >= 10**_MOST_DIGITS:
            raise ValueError(
                f"`seed` must have at most {_MOST_DIGITS} digits. Received: seed={shown(self.seed)}"
            )
        num_shards, shard_index = resolved(self.num_shards, self.shard_index)
        self._set("num_shards", whole("num_shards", num_shards, least=1))
        if self.num_shards > 1 and shard_index is None:
            raise ValueError(
                "`num_shards` and `shard_index` go together. "
                f"Received: num_shards={self.num_shards}, and shard_index=None"
            )
        self._set("shard_index", whole("shard_index", shard_index, least=0, none=True))
        self._set("position", position_of(self.position))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_size(self) -> None:
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise ValueError(
                "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`."
            )
        if self.image_size is not None and not _is(self.image_size, GIVEN_BY_DATA):
            self._set("image_size", sides("image_size", self.image_size))

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
        if not (given or named) or not all(integer(value) is not None for value in values):
            raise ValueError(
                "`labels` argument should be a list/tuple of integer labels, a mapping from keys "
                'to integer labels, "inferred", or None. '
                f"Received: labels={shown(labels)}"
            )
        if self.class_names is not None and (given or labels is None):
            raise ValueError(
                'You can only pass `class_names` if `labels="inferred"`. '
                f"Received: labels={shown(labels)}, and class_names={self.class_names!r}"
            )

    def _check_parts(self) -> None:
        """What would else fail far from here, or be taken letter by letter."""
        if self.class_names is not None:
            words("class_names", self.class_names)
        words("ignore", self.ignore)
        if "" in self.ignore:  # as an empty pattern it would mean everything
            raise ValueError("`ignore` must not have an empty pattern. Received: ''")
        check_keys(self.keys)
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

    def _check_errors(self) -> None:
        one_of("on_error", self.on_error, get_args(OnError))
        if integer(self.max_errors) is not None:
            self._set("max_errors", integer(self.max_errors))
        if self.max_errors is not None and not is_limit(self.max_errors):
            raise ValueError(f"`max_errors` {LIMIT}. Received: max_errors={self.max_errors!r}")
        if self.max_errors is not None and self.on_error == "raise":
            raise ValueError(
                'If `max_errors` is set, `on_error` must be "skip" or "substitute". '
                f"Received: on_error={self.on_error!r}, and max_errors={self.max_errors!r}"
            )

    def _check_dtype(self) -> None:
        if self.dtype is None:
            return
        import tensorflow as tf

        try:
            dtype = tf.as_dtype(self.dtype)
        except TypeError:
            dtype = tf.string  # no number either
        if not (dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_bool):
            raise ValueError(
                "`dtype` must be a dtype of numbers, or bool, such as 'float16'. "
                f"Received: dtype={shown(self.dtype)}"
            )
        self._set("dtype", dtype.name)


_SWITCHES = (
    *("shuffle", "follow_links", "verbose"),
    *("crop_to_aspect_ratio", "pad_to_aspect_ratio"),
)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def position_of(value: Any) -> Position | None:
    """
    A position from a pair (epoch, record).

    Errors:
        ValueError: it is no pair of integers of at least 0.
    """
    if value is None or isinstance(value, Position):
        return value
    pair = value if isinstance(value, (list, tuple)) else ()
    numbers = [number for number in map(integer, pair) if number is not None and number >= 0]
    if len(pair) != 2 or len(numbers) != 2:
        raise ValueError(
            "`position` must be a pair (epoch, record) of integers of at least 0. "
            f"Received: position={shown(value)}"
        )
    return Position(epoch=numbers[0], record=numbers[1])
