"""Arguments: every one that cannot be is a ValueError in Keras' manner, before anything is read."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import tfstream
from tfstream.arguments import Arguments

BAD = {
    "label_mode": ["floats", 3],
    "color_mode": ["RGB", "cmyk", None],
    "interpolation": ["cubic", None, 3],
    "data_format": ["NHWC"],
    "subset": ["test", True],
    "remainder": ["keep"],
    "batch_size": [0, -1, 2.0, True, "32", 2**31],
    "seed": [1.5, "7", True, 10**640],
    "num_shards": [0, -2, None, 1.0, 2, 2**31],
    "shard_index": [-1, 1.0],
    "shuffle": [1, None, "yes"],
    "follow_links": [1],
    "verbose": ["auto"],
    "crop_to_aspect_ratio": [1, None],
    "pad_to_aspect_ratio": ["yes"],
    "image_size": [0, -5, (224,), (224, 224, 3), (0, 5), (-1, 5), (2.0, 5), "224", {}, 32_769],
    "dtype": ["float31", "string", "resource", "qint8", 5.5],
    "position": ["12", (0, 10.5), (1,), (0, -1), 7, {0, 1}],
    "validation_split": [0, 1, -0.1, 1.5, float("nan"), "0.2", [0.2]],
    "labels": ["classes", 5, ["cat"], [1.5], [True], {"a.png": "cat"}, np.array([1, 2]), b"ab"],
    "class_names": ["cat", [1, 2], 5, ["a", "b", "a"]],
    "ignore": ["*.txt", [b"x"], None, 5],
    "keys": [[], "", ["a", ""], ["a", b"b"], {"a", "b"}, 7, ["a", "b", "a"]],
    "decoder": ["jpeg", None, tfstream.ImageDecoder],
    "on_error": ["ignore", None, True],
    "max_errors": [0, -1, 0.0, 1.0, 1.5, True, "3", float("nan"), [1]],
    "options": [{"max_in_flight": 3}, tfstream.ReadOptions],
    "credentials": ["secret", [("key", "secret")]],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_value_that_cannot_be_is_named(name, value):
    """The message has the argument's name and, but for credentials, what was received."""
    more = {"on_error": "skip"} if name == "max_errors" else {}
    with pytest.raises(ValueError, match=f"`{name}`") as caught:
        Arguments(**{name: value}, **more)
    if name == "credentials":
        assert "secret" not in str(caught.value)
    else:
        assert "eceived" in str(caught.value)


def test_more_keys_than_a_spec_should_have():
    """The message says where to put them instead."""
    keys = [f"{number}.jpg" for number in range(10_001)]
    assert Arguments(keys=keys[1:]).keys == keys[1:]
    with pytest.raises(ValueError, match=r"`keys` has 10,001 entries.*put them into an object"):
        Arguments(keys=keys)


def test_keys_that_come_twice_are_named():
    """The first few, each once."""
    with pytest.raises(ValueError, match=r"Received twice: 'a', 'c', 'd', …"):
        Arguments(keys=[*"abacacdd", *"ee"])


def test_more_digits_than_python_writes():
    """A number that Python refuses to print is refused in our words."""
    for name in ("seed", "batch_size", "num_shards"):
        with pytest.raises(ValueError, match=f"`{name}` must .*an integer of very many digits"):
            Arguments(**{name: 10**5000})


def test_one_pattern_is_not_a_list_of_patterns():
    """`ignore` is a list: one pattern as a string would be taken letter by letter."""
    with pytest.raises(ValueError, match="list of strings"):
        Arguments(ignore="**/*.txt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"validation_split": 0.2}, "If `subset` is set, `validation_split` must be set"),
        ({"subset": "training"}, "If `subset` is set, `validation_split` must be set"),
        (
            {"validation_split": 0.2, "subset": "both", "seed": None},
            "you must provide a `seed` argument",
        ),
        (
            {"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True},
            "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio`",
        ),
        ({"labels": None, "class_names": ["a"]}, "You can only pass `class_names`"),
        ({"labels": [0, 1], "class_names": ["a"]}, "You can only pass `class_names`"),
        ({"labels": {"a.png": 1}, "class_names": ["a"]}, "You can only pass `class_names`"),
        ({"max_errors": 5}, 'If `max_errors` is set, `on_error` must be "skip" or "substitute"'),
        (
            {"decoder": tfstream.ImageDecoder(), "color_mode": "rgb"},
            "Pass `color_mode` or `decoder`",
        ),
    ],
)
def test_arguments_that_do_not_go_together(arguments, words):
    """The message says which ones."""
    with pytest.raises(ValueError, match=words):
        Arguments(**arguments)


def test_values_that_can_be():
    """NumPy integers as labels, any integer as seed, one number for a square, any case."""
    found = Arguments(labels=[np.int64(1), 2], seed=-(2**70), image_size=5)
    assert ([1, 2], -(2**70), (5, 5)) == (list(found.labels), found.seed, found.image_size)
    Arguments(interpolation="BILINEAR")
    Arguments(validation_split=0.5, subset="both", shuffle=False, seed=None)
    Arguments(batch_size=None, image_size=None, label_mode=None)
    Arguments(on_error="skip", max_errors=1)
    Arguments(seed=10**640 - 1, image_size=(32_768, 1), dtype="bool")
    Arguments(on_error="substitute", max_errors=0.01)


def test_ignore_has_no_empty_pattern():
    """It would leave out everything: the last line of a file of keys, split by line breaks."""
    with pytest.raises(ValueError, match="`ignore` must not have an empty pattern"):
        Arguments(ignore=["a.jpg", ""])


def test_integers_of_numpy():
    """Any integer is one, and becomes a plain one, as the spec's JSON needs it."""
    numbers = {"batch_size": 4, "seed": 5, "num_shards": 3, "shard_index": 2, "max_errors": 9}
    given = {name: np.int64(number) for name, number in numbers.items()}
    sizes = {"image_size": np.array([6, 7]).tolist(), "position": (np.int32(1), np.int64(8))}
    checked = Arguments(**given, **sizes, on_error="skip")
    assert numbers == {name: getattr(checked, name) for name in numbers}
    assert {int} == {type(getattr(checked, name)) for name in numbers}
    assert (6, 7) == checked.image_size
    assert (1, 8) == (checked.position.epoch, checked.position.record)


def test_every_argument_is_documented():
    """docs/arguments.md has a row for each argument, in their order, with its default."""
    page = Path(__file__).parent.parent.joinpath("docs", "arguments.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", page, re.MULTILINE)
    expected = [(field.name, repr(field.default)) for field in fields(Arguments)]
    assert expected == [(name, default.replace('"', "'")) for name, default in rows]


def test_credentials_are_not_shown():
    """The repr of arguments has no secret."""
    assert "hush" not in repr(Arguments(credentials={"secret_access_key": "hush"}))


def test_long_labels_do_not_fill_the_screen():
    """A message shows a hundred letters of a long list."""
    with pytest.raises(ValueError, match="class_names") as caught:
        Arguments(labels=[0] * 100_000, class_names=["a"])
    assert len(str(caught.value)) < 400


def test_an_unknown_keyword_is_named(tmp_path):
    """A misspelt keyword is a TypeError that names it, as for any function."""
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'image_sise'"):
        tfstream.from_url(tmp_path, image_sise=(5, 5))


def test_nothing_is_read_for_bad_arguments():
    """Arguments are checked before the source is opened."""
    with pytest.raises(ValueError, match="batch_size"):
        tfstream.from_url("/no/such/folder", batch_size=0)


@pytest.mark.parametrize("worker", [{"shard_index": 2}, {"num_shards": 2, "shard_index": 2}])
def test_a_worker_that_is_not_there(digits, worker):
    """An index that is not below the number of workers is an error that has both."""
    with pytest.raises(ValueError, match=r"shard_index=2, num_shards="):
        tfstream.from_url(digits, verbose=False, **worker)


def test_too_many_labels(digits):
    """More than 10,000 labels do not belong into a spec, and the message has the way out."""
    with pytest.raises(ValueError, match="put the images into class folders"):
        tfstream.from_url(digits, labels=[0] * 10_001, verbose=False)
