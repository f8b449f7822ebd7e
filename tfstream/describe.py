"""From checked arguments, and what was found at the source, to the spec of a dataset."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from tfstream import registry
from tfstream.arguments import GIVEN_BY_DATA, Arguments
from tfstream.checks import one_of, whole
from tfstream.decoders.base import Decoder
from tfstream.decoders.image import ImageDecoder, field_of
from tfstream.decoders.raw import RawDecoder
from tfstream.fetch.manifest import form_of
from tfstream.fetch.opening import Pinned, Wanted
from tfstream.labels.base import Labels
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.given import ListLabels, MappingLabels
from tfstream.labels.images import ImageLabels
from tfstream.readers.base import Reader
from tfstream.sources.base import Source
from tfstream.spec import DatasetSpec, LabelForm, Order, Resize, Shard, subset_of

_SIZE = (256, 256)
"""Keras' default."""


def wanted_of(arguments: Arguments, source: Source) -> Wanted:
    """What to look for at the source."""
    names = None if arguments.class_names is None else tuple(arguments.class_names)
    return Wanted(
        source=source,
        reader=_reader(arguments),
        labels=_labels(arguments),
        class_names=names,
        ignore=tuple(arguments.ignore),
        keys=_keys(arguments),
        image_field=field_of(arguments.decoder),
    )


def specs_of(arguments: Arguments, found: Pinned) -> list[DatasetSpec]:
    """One spec, or two for `subset="both"`."""
    names, mode = found.class_names, _form(arguments, found)
    if mode == "binary" and len(names or ()) != 2:
        raise ValueError(
            'When passing `label_mode="binary"`, there must be exactly 2 class_names. '
            f"Received: class_names={list(names or ())}"
        )
    _classes_fit(mode, found)
    decoder, resize = _decoding(arguments, found.raw)
    spec = DatasetSpec(
        source=found.source,
        decoder=decoder,
        manifest=found.manifest.digest,
        records=found.manifest.count,
        ignore=tuple(arguments.ignore),
        keys=_keys(arguments),
        reader=found.reader,
        labels=found.labels,
        label_mode=mode,
        class_names=names,
        resize=resize,
        data_format=arguments.data_format or _keras_data_format(),
        dtype=arguments.dtype,
        batch_size=arguments.batch_size,
        on_error=arguments.on_error,
        max_errors=arguments.max_errors,
        shard=shard_of(arguments.num_shards, arguments.shard_index or 0, arguments.remainder),
        start=arguments.position,
    )
    orders = _orders(arguments)
    _some_each(orders, found.manifest.count)
    return [spec.replace(order=order) for order in orders]


def _form(arguments: Arguments, found: Pinned) -> LabelForm | None:
    """What labels are: as asked for, or what their values make of them."""
    if found.labels is None:
        return None
    form = form_of(found.manifest)
    if form in ("float", "multi_hot"):
        if arguments.label_mode != "int":
            what = "numbers to predict" if form == "float" else "vectors of several classes already"
            raise ValueError(
                f'The labels are {what}: `label_mode` must be "int" or None. '
                f"Received: label_mode={arguments.label_mode!r}"
            )
        return form
    mode: LabelForm = arguments.label_mode
    return mode


def _some_each(orders: list[Order], count: int) -> None:
    """A small split of few records rounds down to nothing."""
    for order in orders:
        if order.subset is not None and subset_of(order, count).size == 0:
            raise ValueError(
                f"`validation_split` leaves nothing to read for {order.subset}: "
                f"{order.validation_split} of {count:,} records is less than one. "
                "Pass a larger one"
            )


def _classes_fit(mode: str | None, found: Pinned) -> None:
    """Vectors have a place for each class: a label beyond them would be no class at all."""
    values, count = found.manifest.labels, len(found.class_names or ())
    if mode in ("categorical", "binary") and values is not None and int(values.max()) >= count:
        raise ValueError(
            f"With `label_mode={mode!r}` the labels of {count} classes must be 0 to {count - 1}. "
            f"Received: {int(values.max())}"
        )


def _orders(arguments: Arguments) -> list[Order]:
    seed = random.SystemRandom().randrange(2**31) if arguments.seed is None else arguments.seed
    order = Order(
        shuffle=arguments.shuffle,
        seed=seed,
        validation_split=arguments.validation_split,
        subset="training" if arguments.subset == "both" else arguments.subset,
        shuffle_split=arguments.shuffle,
    )
    if arguments.subset != "both":
        return [order]
    return [order, replace(order, subset="validation", shuffle=False)]


def _reader(arguments: Arguments) -> Reader | None:
    if arguments.reader == "auto":
        return None
    if isinstance(arguments.reader, Reader):
        return arguments.reader
    one_of("reader", arguments.reader, ("auto", *registry.names("reader")))
    found = registry.lookup("reader", arguments.reader)
    reader: Reader = found()  # type: ignore[misc]
    return reader


def _keys(arguments: Arguments) -> tuple[str, ...] | str | None:
    keys = arguments.keys
    return keys if keys is None or isinstance(keys, str) else tuple(keys)


def _labels(arguments: Arguments) -> Labels | None:
    if arguments.labels is None or arguments.label_mode is None:
        return None
    if isinstance(arguments.labels, ImageLabels) and arguments.label_mode != "int":
        raise ValueError(
            'Masks are integers: `label_mode` must be "int" or None. '
            f"Received: label_mode={arguments.label_mode!r}"
        )
    if isinstance(arguments.labels, Labels):
        return arguments.labels
    if isinstance(arguments.labels, Mapping):
        return MappingLabels(
            values={str(key): int(value) for key, value in arguments.labels.items()}
        )
    if arguments.labels == "inferred":
        return DirectoryLabels()
    return ListLabels(values=tuple(int(value) for value in arguments.labels))


def _decoding(arguments: Arguments, raw: Decoder | None) -> tuple[Decoder, Resize | None]:
    size = arguments.image_size
    if raw is None:
        mode: Any = "rgb" if arguments.color_mode == GIVEN_BY_DATA else arguments.color_mode
        decoder = (
            ImageDecoder(color_mode=mode) if arguments.decoder == "auto" else arguments.decoder
        )
        return decoder, _resize(arguments, _SIZE if size == GIVEN_BY_DATA else size)
    resize = _resize(arguments, None if size == GIVEN_BY_DATA else size)
    decoder = raw if arguments.decoder == "auto" else arguments.decoder
    if not isinstance(decoder, RawDecoder):
        raise ValueError(f"IDX records need a RawDecoder. Received: decoder={decoder!r}")
    if arguments.color_mode == "rgba":
        raise ValueError('IDX records have no alpha: `color_mode` is "rgb" or "grayscale"')
    if arguments.color_mode != GIVEN_BY_DATA:
        decoder = replace(decoder, channels=3 if arguments.color_mode == "rgb" else 1)
    elif resize is not None:
        own = decoder.shape[-1] if len(decoder.shape) == 3 else 1
        decoder = replace(decoder, channels=3 if own == 3 else 1)
    return decoder, resize


def _resize(arguments: Arguments, size: Any) -> Resize | None:
    if size is None:
        return None
    return Resize(
        image_size=size,
        interpolation=str(arguments.interpolation).lower(),  # type: ignore[arg-type]
        crop_to_aspect_ratio=arguments.crop_to_aspect_ratio,
        pad_to_aspect_ratio=arguments.pad_to_aspect_ratio,
    )


def shard_of(num_shards: int, index: int, remainder: Any = "uneven") -> Shard | None:
    """
    A worker's part; None for the only worker, unless it has no remainder either.

    Errors:
        ValueError: no such worker.
    """
    num_shards = whole("num_shards", num_shards, least=1)
    index = whole("shard_index", index, least=0)
    if index >= num_shards:
        raise ValueError(
            f"`shard_index` must be at least 0 and below `num_shards`. Received: "
            f"shard_index={index}, num_shards={num_shards}"
        )
    if num_shards == 1 and remainder == "uneven":
        return None
    return Shard(num_shards=num_shards, index=index, remainder=remainder)


def _keras_data_format() -> Literal["channels_last", "channels_first"]:
    keras = sys.modules.get("keras")
    if keras is not None and keras.config.image_data_format() == "channels_first":
        return "channels_first"
    return "channels_last"
