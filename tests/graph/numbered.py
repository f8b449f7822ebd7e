"""
Folders of numbered pictures, some of which cannot be decoded; and what should come of them.

Record n is a picture all of whose pixels are n, with the label n. `batches_of` says which records
a batch has before any is looked at; `skipped` and `substituted` say in plain Python what the
policies make of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from small_specs import order_of

import tfstream
from tfstream.testing.images import encode

Batches = list[list[int]]
COUNT = 24
SIZE = (8, 8)


@cache
def picture(number: int) -> bytes:
    """A PNG all of whose pixels are `number`."""
    return encode(np.full((*SIZE, 3), number, np.uint8), "PNG")


def _pixels(number: int) -> bytes:
    data = bytearray(picture(number))
    middle = data.index(b"IDAT") + 6
    data[middle : middle + 4] = bytes(4)
    return bytes(data)


KINDS = {
    "not an image (empty)": lambda number: b"",
    "not an image (HTML)": lambda number: b"<html>404</html>",
    "broken PNG": _pixels,
    "truncated PNG": lambda number: picture(number)[:20],
}
"""Ways to be bad: two of them are seen in the header, and one only by decoders."""


def kind_of(number: int) -> str:
    """How record `number` is bad, if it is."""
    return list(KINDS)[number % len(KINDS)]


def key_of(number: int) -> str:
    """Its file's name."""
    return f"{number:03}.png"


def folder_of(folder: Path, bad: Collection[int] = (), *, count: int = COUNT) -> Path:
    """So many pictures, those in `bad` being bad in turn in each way."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        data = KINDS[kind_of(number)](number) if number in bad else picture(number)
        (folder / key_of(number)).write_bytes(data)
    return folder


def streamed(folder: Path, *, count: int = COUNT, **arguments: Any) -> tfstream.StreamDataset:
    """Batches of four, in order."""
    given = {"image_size": SIZE, "batch_size": 4, "shuffle": False, "verbose": False, **arguments}
    return tfstream.from_url(folder, labels=list(range(count)), **given)


def numbers(data: Iterable[Any]) -> Batches:
    """The records of each batch, or each single record in a list."""
    batches = []
    for images, labels in data:
        found = np.asarray(labels).reshape(-1).tolist()
        assert found == np.asarray(images)[..., 0, 0, 0].reshape(-1).astype(int).tolist()
        batches.append(found)
    return batches


def batches_of(data: tfstream.StreamDataset, *, epochs: int = 1) -> list[list[list[int]]]:
    """The records of each batch of each epoch, good and bad."""
    size = data.spec.batch_size or 1
    return [
        [order[at : at + size] for at in range(0, len(order), size)]
        for order in order_of(data.spec, data.spec.records, epochs=epochs)
    ]


def skipped(data: tfstream.StreamDataset, bad: Collection[int], *, epochs: int = 1) -> Batches:
    """What `skip` gives: batches with the good ones alone, or single good ones."""
    batches = [batch for epoch in batches_of(data, epochs=epochs) for batch in epoch]
    found = [[each for each in batch if each not in bad] for batch in batches]
    return found if data.spec.batch_size else [batch for batch in found if batch]


def substituted(data: tfstream.StreamDataset, bad: Collection[int], *, epochs: int = 1) -> Batches:
    """What `substitute` gives."""
    orders = order_of(data.spec.replace(shard=None), data.spec.records, epochs=epochs)
    return [
        _filled(batch, bad, order)
        for order, batches in zip(orders, batches_of(data, epochs=epochs), strict=True)
        for batch in batches
    ]


def _filled(batch: Sequence[int], bad: Collection[int], order: Sequence[int]) -> list[int]:
    if any(each not in bad for each in batch):
        return [_next(islice(cycle(batch), at, None), bad) for at in range(len(batch))]
    last = order.index(batch[-1])
    return [_next([*order[last + 1 :], *order[: last + 1]], bad)] * len(batch)


def _next(numbers: Iterable[int], bad: Collection[int]) -> int:
    return next(number for number in numbers if number not in bad)
