"""Row by row: what is wrong, when it is told, and what the error names."""

from __future__ import annotations

import re

import pytest
import tensorflow as tf
from brightness import fitted, model_of
from places import classes, examples, gray_idx, picture, values

import tfstream
from tfstream import DecodeError, ObjectNotFoundError, RefNotFoundError, ShardError

# Unknown places


def test_an_unknown_repository(lakefs_place):
    """The error has the name that was asked for and those that there are."""
    with pytest.raises(ObjectNotFoundError, match=f"'{lakefs_place.name}x'.*{lakefs_place.name}"):
        tfstream.from_lakefs(
            f"{lakefs_place.name}x",
            "main",
            endpoint=lakefs_place.proxy.endpoint,
            credentials=lakefs_place.credentials,
        )


def test_an_unknown_branch(lakefs_place):
    """The error has the branch that was asked for and those that there are."""
    with pytest.raises(RefNotFoundError, match=r"'mian'.*near it: main"):
        lakefs_place.open(ref="mian")


def test_an_unknown_bucket(s3_place):
    """The error has the bucket that was asked for and those that there are."""
    with pytest.raises(ObjectNotFoundError, match=f"{s3_place.name}x.*near it: .*{s3_place.name}"):
        tfstream.from_s3(
            f"{s3_place.name}x",
            endpoint=s3_place.proxy.endpoint,
            credentials=s3_place.credentials,
        )


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("tran/**", r"in the root there are: notes\.txt, train/"),
        ("train/2/*.png", r"in train/ there are: train/0/, train/1/"),
        ("train/0/*.jpg", r"there are 'train/0/0.png'.*\(extensions: 2 x \.png\)"),
        ("train/0/7.png", r"in train/0/ there are: train/0/0.png"),
        ("notes", r"in the root there are: notes\.txt"),
    ],
)
def test_no_match(place, pattern, near):
    """Where nothing matches, the error has what is near it."""
    place.put({**classes(2, 2), "notes.txt": b"notes"})
    with pytest.raises(ObjectNotFoundError, match=f"nothing matches .*{near}") as error:
        place.open(pattern)
    assert pattern in str(error.value)


def test_an_empty_place(place):
    """A repository or bucket without objects is never an empty dataset."""
    with pytest.raises(ObjectNotFoundError, match="no objects at all"):
        place.open("**/*.png")


def test_a_match_without_data(place):
    """Where all that matches is no data, the error counts it and names extensions."""
    place.put({"docs/README.md": b"# hello", "docs/table.csv": b"a,b", "docs/.DS_Store": b"x"})
    with pytest.raises(ObjectNotFoundError, match=r"2 not data.*(\.md|\.csv)") as error:
        place.open("docs/**")
    assert "1 hidden" in str(error.value)


def test_what_is_no_data_is_left_out_and_told_once(place, caplog):
    """README and hidden files beside the data are counted and named in one log line."""
    more = {"train/README.md": b"#", "train/0/.ipynb_checkpoints/0.png": picture(9)}
    place.put({**classes(2), **more, "train/0/._0.png": b"x"})
    data = place.open("train/**")
    assert {"not data": 1, "hidden": 2} == data.stats().left_out
    assert sorted(classes(2)) == data.file_paths
    (line,) = caplog.messages
    assert re.search(r"left out 2 hidden.*1 not data.*README\.md", line)


# Labels and arguments, in Keras' manner


@pytest.mark.parametrize(
    ("keys", "arguments", "message"),
    [
        (["a.png", "b.png"], {}, "no class folders.*labels=None"),
        (["0/a.png", "0/b.png"], {}, "only one class folder, '0'"),
        (["0/a.png", "1/b.png", "2/"], {}, "class folder '2'.* is empty"),
        (["0/a.png", "1/b.png"], {"class_names": ["0", "7"]}, "class_names.*did not match"),
        (["0/a.png", "1/b.png"], {"labels": [0, 1, 1]}, "3.*2|2.*3"),
        (["0/a.png", "1/b.png", "2/c.png"], {"label_mode": "binary"}, "exactly 2 class_names"),
        (["0/a.png", "1/b.png"], {"image_size": (-1, 4)}, "image_size=.*-1"),
        (["0/a.png", "1/b.png"], {"batch_size": -1}, "batch_size=-1"),
        (
            ["0/a.png", "1/b.png"],
            {"validation_split": 0.5, "subset": "training", "seed": None},
            "must provide a `seed`",
        ),
        (["0/a.png", "1/b.png"], {"validation_split": 0.5}, "`subset`"),
        (
            ["0/a.png", "1/b.png"],
            {"validation_split": 1.5, "subset": "training"},
            "between 0 and 1",
        ),
        (
            ["0/a.png", "1/b.png"],
            {"validation_split": 0.1, "subset": "validation"},
            "leaves nothing to read for validation",
        ),
    ],
)
def test_arguments_that_do_not_fit(lakefs_place, keys, arguments, message):
    """A wish that the data or Keras' rules refuse is a `ValueError` that says which."""
    lakefs_place.put({f"train/{key}": b"" if key.endswith("/") else picture(0) for key in keys})
    with pytest.raises(ValueError, match=message):
        lakefs_place.open("train/**", **arguments)


# Broken data


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"", r"not an image: empty \(0 bytes\)"),
        (picture(1)[:50], "truncated PNG: "),
        (b"not an image at all", "not an image: text"),
    ],
    ids=["empty", "cut", "text"],
)
def test_a_broken_picture(place, broken, reason):
    """One broken picture among good ones is a `DecodeError` with its key."""
    place.put({**classes(2), "train/0/2.png": broken})
    data = place.open("train/**", shuffle=False)
    with pytest.raises(DecodeError, match=f"/train/0/2.png: {reason}") as error:
        examples(data)
    assert ("train/0/2.png", "train/0/2.png") == (error.value.path, error.value.key)
    assert "train/0/2.png" in data.stats().errors[error.value.kind]


@pytest.mark.slow
def test_a_broken_picture_in_fit(place):
    """Inside `model.fit` TensorFlow's error has the text of ours, with the URL."""
    place.put({**classes(3), "train/0/2.png": picture(1)[:50]})
    data = place.open("train/**")
    url = data.spec.source.url("train/0/2.png")
    with pytest.raises(tf.errors.OpError, match=re.escape(f"DecodeError: {url}")):
        fitted(model_of(3), data, epochs=1)


def test_a_broken_shard(place):
    """A cut or mixed-up IDX shard is a `ShardError` with its URL, when it is looked at or read."""
    images, labels = gray_idx([0, 50, 51])
    other = gray_idx([0])[1]
    place.put({"cut-images.gz": images[:-9], "cut-labels.gz": labels})
    place.put({"short-images.gz": images, "short-labels.gz": other})
    for name, key in [("cut", "cut-images.gz"), ("short", "short-labels.gz")]:
        with pytest.raises(ShardError, match=f"{place.name}.*/{key}"):
            examples(place.open(f"{name}-*.gz", image_size=None, reader="idx"))


def test_images_without_their_labels(place):
    """IDX images whose labels the pattern does not match are told, with the way out."""
    images, _ = gray_idx([0, 50])
    place.put({"t-images-idx3-ubyte.gz": images})
    with pytest.raises(ValueError, match=r"no labels file for .*t-images.*labels=None"):
        place.open("t-*.gz", image_size=None)
    assert [0, 50] == sorted(values(place.open("t-*.gz", image_size=None, labels=None)))
