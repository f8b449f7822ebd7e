"""
What a `DatasetSpec` is made of, beside sources, readers, labels and decoders.

```
Order       which records, in which order: subset_of gives its part of a split
Resize      to one size
Shard       this worker's part
Position    where to enter
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from tfstream.errors import SpecError

LabelMode = Literal["int", "categorical", "binary"]
"""What may be asked for: Keras' words."""
LabelForm = Literal["int", "categorical", "binary", "float", "multi_hot"]
"""What a dataset has: where labels are numbers to predict, or sets of classes, that is the form."""
Interpolation = Literal[
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
]
Subset = Literal["training", "validation"]
OnError = Literal["raise", "skip", "substitute"]


@dataclass(frozen=True, kw_only=True)
class Order:
    """
    Which records, and in which order: arithmetic, so it needs no state.

    Attributes:
        shuffle: Another order each epoch; otherwise the manifest's order.
        seed: Any integer.
        validation_split: Fraction of the records that `subset="validation"` has.
        subset: Which part; None for all.
        shuffle_split: Whether the parts are drawn at random by `seed`, or the validation part
            is the end of the manifest.
        window_bytes: For shards that cannot be entered at random: shards are permuted, and
            the records of as many as fit in these unpacked bytes are mixed.
    """

    shuffle: bool = True
    seed: int = 0
    validation_split: float | None = None
    subset: Subset | None = None
    shuffle_split: bool = True
    window_bytes: int = 128 * 1024 * 1024

    def __post_init__(self) -> None:
        if (self.validation_split is None) != (self.subset is None):
            raise SpecError("validation_split and subset go together", where="$.order")
        if self.validation_split is not None and not 0 < self.validation_split < 1:
            raise SpecError(
                f"must be between 0 and 1, received: {self.validation_split}",
                where="$.order.validation_split",
            )
        if self.window_bytes < 1:
            raise SpecError(
                f"must be positive, got {self.window_bytes}", where="$.order.window_bytes"
            )


class SubsetRange(NamedTuple):
    """Which part of a split: it begins at place `first` of the split's order and has `size`."""

    first: int
    size: int


def subset_of(order: Order, records: int) -> SubsetRange:
    """The part that `order` names: the validation part is the end, as in Keras."""
    if order.validation_split is None:
        return SubsetRange(0, records)
    validation = int(order.validation_split * records)
    if order.subset == "validation":
        return SubsetRange(records - validation, validation)
    return SubsetRange(0, records - validation)


@dataclass(frozen=True, kw_only=True)
class Resize:
    """
    To one size, with `keras.utils.image_dataset_from_directory`'s meanings.

    Attributes:
        image_size: (height, width) in pixels.
        interpolation: `nearest` keeps the dtype, all others give float32.
        crop_to_aspect_ratio: Cut the largest centred window of the target's shape first.
        pad_to_aspect_ratio: Put black at the sides instead of stretching.
    """

    image_size: tuple[int, int]
    interpolation: Interpolation = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False

    def __post_init__(self) -> None:
        if min(self.image_size) < 1:
            raise SpecError(
                f"Expected a tuple of 2 positive integers. Received: {self.image_size}",
                where="$.resize.image_size",
            )
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise SpecError(
                "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`.",
                where="$.resize",
            )


@dataclass(frozen=True, kw_only=True)
class Shard:
    """
    This worker's part of every global run of `batch_size * num_shards` records.

    Attributes:
        num_shards: How many workers share the records.
        index: Which of them this is, from 0.
        remainder: What becomes of the last run, when it is not full: shared out as it is,
            dropped, or filled up with records from the epoch's beginning.
    """

    num_shards: int
    index: int
    remainder: Literal["uneven", "drop", "pad"] = "uneven"

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.num_shards:
            raise SpecError(
                f"the index is at least 0 and below num_shards = {self.num_shards}, "
                f"got {self.index}",
                where="$.shard",
            )


@dataclass(frozen=True, kw_only=True)
class Position:
    """
    Where to go on: what all workers together have consumed.

    Attributes:
        epoch: From 0.
        record: Of the epoch's global order.
    """

    epoch: int = 0
    record: int = 0

    def __post_init__(self) -> None:
        if self.epoch < 0 or self.record < 0 or self.epoch >= 2**31:
            raise SpecError(
                f"epoch and record are at least 0, got {self.epoch} and {self.record}",
                where="$.start",
            )


LIMIT = "must be an integer of at least 1 or a fraction between 0 and 1"
"""What `max_errors` is."""


def is_limit(value: object) -> bool:
    """Whether `value` can be `max_errors`."""
    if isinstance(value, float):
        return 0 < value < 1
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
