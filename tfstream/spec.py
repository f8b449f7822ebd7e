"""
`DatasetSpec`: what to stream, and nothing about how.

Frozen, comparable and JSON, with a version; pinned to a commit or to the digest of a listing;
no credentials, no threads, no bytes. Two equal specs give equal examples on any machine.

```json
{"tfstream": 1, "source": {"name": "lakefs", "repository": "photos", "commit": "3f2a…", …},
 "manifest": "sha256:…", "records": 713, "reader": {"name": "file"}, …}
```
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from tfstream.decoders.base import Decoder
from tfstream.errors import SpecError
from tfstream.jsonable import from_plain, parsed, to_plain
from tfstream.labels.base import Labels
from tfstream.readers.base import Reader
from tfstream.readers.file import FileReader
from tfstream.sources.base import Source

VERSION = 1
"""Of the JSON. A change of meaning raises it and adds an upgrade function to `_UPGRADES`."""

_UPGRADES: dict[int, Any] = {}

LabelMode = Literal["int", "categorical", "binary"]
Interpolation = Literal[
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
]
Subset = Literal["training", "validation"]
_LOCATION = ("shard", "start")
"""Fields beside the source's own `location` that do not change what the data is."""


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


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """
    What to stream. Made by `tfstream.from_lakefs` and the like: `dataset.spec`.

    ```python
    text = dataset.spec.to_json()
    again = tfstream.load(tfstream.DatasetSpec.from_json(text))     # on any machine
    ```

    Attributes:
        source: Where the objects are, and which.
        manifest: Digest of the pinned listing, `sha256:` and 64 hex digits.
        records: How many the pinned listing has, before any split.
        ignore: Patterns of keys to leave out.
        reader: How objects become records.
        labels: Where labels come from; None for none.
        label_mode: Their form, as in Keras; None for none.
        class_names: In label order.
        decoder: How bytes become tensors.
        resize: None keeps every record's own size.
        data_format: `channels_last` or `channels_first`.
        dtype: To cast examples to; None leaves what decoding and resizing give.
        batch_size: Of what the dataset yields; None for single examples.
        order: Split, shuffle and seed.
        shard: This worker's part, or None.
        start: Where to enter, or None.
    """

    source: Source
    decoder: Decoder
    manifest: str | None = None
    records: int | None = None
    ignore: tuple[str, ...] = ()
    reader: Reader = field(default_factory=FileReader)
    labels: Labels | None = None
    label_mode: LabelMode | None = None
    class_names: tuple[str, ...] | None = None
    resize: Resize | None = None
    data_format: Literal["channels_last", "channels_first"] = "channels_last"
    dtype: str | None = None
    batch_size: int | None = 32
    order: Order = field(default_factory=Order)
    shard: Shard | None = None
    start: Position | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise SpecError(f"must be positive, got {self.batch_size}", where="$.batch_size")
        if (self.labels is None) != (self.label_mode is None):
            raise SpecError("labels and label_mode go together", where="$.label_mode")

    def to_json(self) -> str:
        """One line of JSON with sorted keys: equal specs give equal texts."""
        return _canonical({"tfstream": VERSION, **to_plain(self)})

    @classmethod
    def from_json(cls, text: str) -> DatasetSpec:
        """
        The spec that `to_json` wrote, here or on another machine.

        Errors:
            SpecError: not JSON, a newer version, an unknown field or a wrong type; `where`
                says which, such as `$.order.seed`.
        """
        plain = parsed(text)
        spec: DatasetSpec = from_plain(cls, _upgraded(plain), "$")
        return spec

    @property
    def digest(self) -> str:
        """
        `sha256:…` of what the data is: not of endpoint, region, ref, shard or start.

        Two specs with the same digest give the same examples.
        """
        plain = to_plain(self)
        for name in _LOCATION:
            del plain[name]
        for name in self.source.location:
            del plain["source"][name]
        text = _canonical({"tfstream": VERSION, **plain})
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def replace(self, **changes: Any) -> DatasetSpec:
        """
        The same spec with other fields.

        Errors:
            SpecError: no such field, or a value that cannot be.
        """
        unknown = sorted(changes.keys() - {each.name for each in fields(self)})
        if unknown:
            raise SpecError(f"unknown field {unknown[0]!r}", where="$")
        return replace(self, **changes)


def _canonical(plain: dict[str, Any]) -> str:
    return json.dumps(plain, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    plain = dict(plain)
    version = plain.pop("tfstream", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SpecError(
            f"expected the version, 1 to {VERSION}, got {version!r}", where="$.tfstream"
        )
    if version > VERSION:
        raise SpecError(
            f"version {version} was written by a newer tfstream; this one reads up to {VERSION}",
            where="$.tfstream",
        )
    for older in range(version, VERSION):
        plain = _UPGRADES[older](plain)
    return plain
