"""Pictures in Decks: only on request, small, escaped, and never a reason to fail."""

from __future__ import annotations

import base64
import re
from typing import Annotated

import numpy as np
import pytest
import tensorflow as tf

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TFDataset
from tfstream.flyte.contact_sheet import contact_sheet
from tfstream.flyte.deck import dataset_html

EVIL = "<script>alert(1)</script>"


def pictures(shown):
    """The sizes and mean values of what a page shows."""
    found = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', shown)
    decoded = [tf.io.decode_jpeg(base64.b64decode(data)).numpy() for data in found]
    return [(each.shape, round(float(each.mean()))) for each in decoded]


@pytest.mark.parametrize("of", [lambda data: data, lambda data: data.spec], ids=["data", "spec"])
def test_flytekit_shows_them_on_request(engine, data, of):
    """As many as the annotation says, over several batches, with the names of their classes."""
    value = of(data)
    kind = tf.data.Dataset if value is data else DatasetSpec
    shown = engine.to_html(None, value, Annotated[kind, TFDataset(preview=6)])
    assert 6 == len(pictures(shown))
    assert set(re.findall("<figcaption>(.*?)</figcaption>", shown)) <= {"0", "1", "2"}
    assert data.spec.digest in shown
    assert "a graph" not in shown


def test_none_without_a_request(engine, data):
    """The default, an annotation for something else, and a report read nothing."""
    for kind in (tf.data.Dataset, Annotated[tf.data.Dataset, TFDataset(mode="save")]):
        assert [] == pictures(engine.to_html(None, data, kind))
    assert 0 == data.stats().objects


def test_the_first_epoch_is_still_the_first(data):
    """The pictures are of an iteration of their own."""
    expected = [labels.numpy().tolist() for _, labels in tfstream.load(data.spec)]
    dataset_html(data, 4)
    assert expected == [labels.numpy().tolist() for _, labels in data]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.full([2, 200, 100, 3], 100, np.float32), [((96, 48, 3), 100)] * 2),
        (np.full([1, 8, 8, 1], 0.5, np.float32), [((8, 8, 1), 128)]),
        (np.zeros([1, 8, 8, 3], np.float32) - [1, 0, -1], [((8, 8, 3), 128)]),
        (np.full([5, 28, 28], 7, np.uint8), [((28, 28, 1), 7)] * 4),
        (np.full([3, 28, 28], 7, np.uint8), [((28, 28, 1), 7)] * 3),
        (np.full([9, 9, 4], 50, np.uint8), [((9, 9, 3), 50)]),
        (np.full([2, 3, 16, 16], 50, np.float32), [((16, 16, 3), 50)] * 2),
        (np.zeros([4, 10], np.float32), []),
        (np.array([["a"]]), []),
    ],
    ids=["large", "0..1", "-1..1", "mnist", "three", "alpha", "channels first", "rows", "text"],
)
def test_they_are_small_and_of_bytes(array, expected):
    """At most 96 pixels, whatever the dtype, range and layout; what is no picture is not shown."""
    shown = contact_sheet(tf.data.Dataset.from_tensors({"x": array}), None, 4)
    found = pictures(shown)
    assert [size for size, _ in expected] == [size for size, _ in found]
    for (_, value), (_, mean) in zip(expected, found, strict=True):
        assert abs(value - mean) <= 2


def test_a_sheet_has_a_bound():
    """Noise, which is what JPEG likes least, stays below a megabyte."""
    noise = tf.random.stateless_uniform([64, 96, 96, 3], [1, 2], 0, 255)
    assert 100_000 < len(contact_sheet(tf.data.Dataset.from_tensors(noise), None, 64)) < 1_000_000
    with pytest.raises(ValueError, match="`preview` must be"):
        TFDataset(preview=65)


def test_names_are_escaped(data):
    """They are other people's."""
    shown = contact_sheet(data, (EVIL, "1", "2"), 12)
    assert "<script" not in shown
    assert "<figcaption>&lt;script&gt;" in shown


def test_a_task_does_not_fail_for_its_deck():
    """What could not be read is said in place of the pictures."""
    broken = tf.data.Dataset.from_tensors(tf.zeros([1, 4, 4, 3])).map(
        lambda images: tf.debugging.check_numerics(images / 0, EVIL)
    )
    shown = contact_sheet(broken, None, 4)
    assert "the pictures could not be read: InvalidArgumentError" in shown
    assert "<script" not in shown
