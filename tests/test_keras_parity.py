"""
`from_url(folder, …)` and `keras.utils.image_dataset_from_directory(folder, …)`, side by side.

Every argument that Keras has, but `format`, means the same and gives the same elements. Where
the design differs on purpose, and the tests here say so:

* `seed` is 0 where none is given, so that equal calls are equal datasets; Keras draws one.
* One class folder alone is an error; Keras trains on it.
* An empty class folder is an error; Keras has a class without a picture.
* Inside a class the order is bytewise by the whole key; Keras lists a folder's own files
  before those of the folders in it.
* A split that leaves nothing for validation keeps all for training; Keras' training part is
  then empty.
* JPEG is decoded with the accurate DCT: some pixels differ by a few levels of 255.
* `labels=` may be a mapping, and must be integers; `image_size=None` means no resize.
"""

from __future__ import annotations

import gc
import os
import re
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import tfstream
from tfstream.testing.images import noise, smooth

MODES = ("L", "RGB", "RGBA")
CLASSES = ("ant", "bee", "cow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """13 PNG of different sizes and modes in three class folders, one in a folder of its own."""
    root = tmp_path_factory.mktemp("pictures")
    for number in range(13):
        channels = (1, 3, 4)[number % 3]
        pixels = noise(9 + number, 30 - 2 * number, channels, seed=number)
        name = f"zone/{number}.png" if number == 4 else f"{number}.png"
        place = root / CLASSES[number % 3] / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.squeeze()).save(place)
    (root / "readme.txt").write_text("not a picture")
    (root / ".hidden").mkdir()
    return root


def both(folder, **arguments):
    """What Keras makes of the arguments, and what tfstream does."""
    arguments = {"shuffle": False, "image_size": (16, 12), "batch_size": 5, **arguments}
    arguments = {"verbose": False, **arguments}
    return (
        keras.utils.image_dataset_from_directory(str(folder), **arguments),
        tfstream.from_url(folder, **arguments),
    )


def assert_same(theirs: tf.data.Dataset, ours: tf.data.Dataset, *, within: float = 0) -> None:
    """Shapes, dtypes, length and every element, in order."""
    assert tf.nest.map_structure(described, theirs.element_spec) == tf.nest.map_structure(
        described, ours.element_spec
    )
    assert int(theirs.cardinality()) == int(ours.cardinality())
    assert theirs.class_names == ours.class_names
    assert [str(path) for path in theirs.file_paths] == ours.file_paths
    expected, found = list(theirs.as_numpy_iterator()), list(ours.as_numpy_iterator())
    assert len(expected) == len(found)
    for one, other in zip(expected, found, strict=True):
        for left, right in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
            np.testing.assert_allclose(right, left, rtol=0, atol=within)


def described(spec: tf.TensorSpec) -> tuple:
    """Shape and dtype, without the name."""
    return tuple(spec.shape), spec.dtype


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"label_mode": "int"},
        {"label_mode": "categorical"},
        {"label_mode": None},
        {"labels": None},
        {"labels": None, "label_mode": None},
        {"label_mode": "binary", "class_names": ["ant", "cow"]},
        {"class_names": ["cow", "ant", "bee"]},
        {"class_names": ["cow", "bee"], "label_mode": "categorical"},
        {"labels": list(range(13))},
        {"labels": [0, 1] * 6 + [0], "label_mode": "binary"},
        {"labels": [0, 2, 1] * 4 + [1], "label_mode": "categorical"},
        {"color_mode": "rgb"},
        {"color_mode": "rgba"},
        {"color_mode": "grayscale"},
        {"batch_size": 1},
        {"batch_size": 13},
        {"batch_size": 64},
        {"batch_size": None},
        {"batch_size": None, "label_mode": "categorical"},
        {"image_size": 20},
        {"image_size": [7, 31]},
        {"image_size": (1, 1)},
        {"data_format": "channels_first"},
        {"data_format": "channels_last", "color_mode": "grayscale"},
        {"data_format": "channels_first", "batch_size": None},
        {"crop_to_aspect_ratio": True},
        {"crop_to_aspect_ratio": True, "image_size": (5, 40), "interpolation": "nearest"},
        {"validation_split": 0.2, "subset": "training"},
        {"validation_split": 0.2, "subset": "validation"},
        {"follow_links": True},
        {"seed": 5},
    ],
    ids=str,
)
def test_same_elements(folder, arguments):
    """Without shuffling, both give equal elements in the same order."""
    assert_same(*both(folder, **arguments))


@pytest.mark.parametrize(
    "method",
    ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"],
)
def test_same_interpolation(folder, method):
    """Every method gives the same pixels and dtype."""
    assert_same(*both(folder, interpolation=method))


@pytest.mark.parametrize("method", ["nearest", "bicubic", "area", "lanczos3", "lanczos5"])
def test_same_crop(folder, method):
    """Cropped too; Keras has no crop with the other two methods."""
    assert_same(*both(folder, interpolation=method, crop_to_aspect_ratio=True))


@pytest.mark.parametrize("size", [(16, 12), (8, 40), (40, 8)])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
def test_same_padding(folder, method, size):
    """`pad_to_aspect_ratio` gives the same pixels, of the same dtype, and black at the sides."""
    theirs, ours = both(folder, pad_to_aspect_ratio=True, interpolation=method, image_size=size)
    assert_same(theirs, ours, within=1e-3)


@pytest.mark.parametrize("part", [0.08, 0.1, 0.2, 1 / 3, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("shuffle", [False, True])
def test_same_split_sizes(folder, part, shuffle):
    """`subset="both"` is a list of two with Keras' sizes; together they are all files."""
    theirs, ours = both(
        folder, validation_split=part, subset="both", shuffle=shuffle, seed=3, batch_size=None
    )
    assert isinstance(ours, list)
    assert [len(each.file_paths) for each in theirs] == [len(each.file_paths) for each in ours]
    assert [int(each.cardinality()) for each in theirs] == [
        int(each.cardinality()) for each in ours
    ]
    assert sorted(ours[0].file_paths + ours[1].file_paths) == sorted(
        theirs[0].file_paths + theirs[1].file_paths
    )
    if not shuffle:
        assert_same(theirs[0], ours[0])
        assert_same(theirs[1], ours[1])


def test_the_defaults_are_keras(folder):
    """Without arguments: 256 x 256 RGB float32, int32 labels, batches of 32, all classes."""
    theirs = keras.utils.image_dataset_from_directory(str(folder), verbose=False)
    ours = tfstream.from_url(folder, verbose=False)
    expected, found = next(iter(theirs)), next(iter(ours))
    assert [(each.shape, each.dtype) for each in expected] == [
        (each.shape, each.dtype) for each in found
    ]
    assert sorted(expected[1].numpy()) == sorted(found[1].numpy())
    assert np.isclose(np.sort(expected[0].numpy(), axis=None).sum(), found[0].numpy().sum())


def test_jpeg_differs_by_the_dct_only(tmp_path):
    """A photograph's pixels are within a few levels of Keras'; shapes and dtypes are equal."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        Image.fromarray(smooth(60, 80)).save(tmp_path / name / "1.jpg", quality=80)
    theirs, ours = both(tmp_path, image_size=(60, 80))
    assert_same(theirs, ours, within=8)
    apart = np.abs(next(iter(theirs))[0].numpy() - next(iter(ours))[0].numpy())
    assert apart.mean() < 1.5


@pytest.mark.parametrize("follow", [False, True])
def test_links_are_followed_alike(folder, tmp_path, follow):
    """A class folder may be a link; a folder in it only with `follow_links`."""
    os.symlink(folder / "ant", tmp_path / "ant")
    (tmp_path / "bee").mkdir()
    os.symlink(folder / "bee" / "1.png", tmp_path / "bee" / "1.png")
    os.symlink(folder / "cow", tmp_path / "bee" / "zoo")
    assert_same(*both(tmp_path, follow_links=follow))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"labels": None},
        {"class_names": ["bee", "cow"]},
        {"validation_split": 0.2, "subset": "training"},
        {"validation_split": 0.2, "subset": "validation"},
        {"validation_split": 0.2, "subset": "both"},
    ],
    ids=str,
)
def test_verbose_prints_the_same(folder, capsys, arguments):
    """`Found 13 files belonging to 3 classes.`, word for word."""
    arguments = {"verbose": True, "shuffle": False, **arguments}
    keras.utils.image_dataset_from_directory(str(folder), **arguments)
    expected = capsys.readouterr().out
    tfstream.from_url(folder, **arguments)
    assert expected == capsys.readouterr().out
    assert expected


def test_not_verbose_prints_nothing(folder, capsys):
    """Where Keras does not print, tfstream does not."""
    both(folder)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        ({"label_mode": "float"}, "`label_mode` argument must be one of"),
        ({"labels": "guess"}, "`labels` argument should be a list/tuple of integer labels"),
        ({"labels": [1, 2]}, "Expected the lengths of `labels` to match the number of files"),
        ({"labels": None, "class_names": ["ant"]}, "`class_names`"),
        ({"class_names": ["ant", "yak"]}, "The `class_names` passed did not match the"),
        ({"label_mode": "binary"}, "there must be exactly 2 class_names"),
        ({"color_mode": "cmyk"}, "`color_mode`"),
        ({"image_size": (5,)}, "Invalid `image_size` value. Expected a tuple of 2"),
        ({"interpolation": "cubic"}, "`interpolation`"),
        ({"data_format": "NHWC"}, "`data_format`"),
        (
            {"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True},
            "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`",
        ),
        ({"validation_split": 1.5, "subset": "training"}, "must be between 0 and 1"),
        ({"validation_split": 0.5}, "If `subset` is set, `validation_split` must be set"),
        ({"subset": "training"}, "If `subset` is set, `validation_split` must be set"),
        ({"validation_split": 0.5, "subset": "test"}, "`subset`"),
        (
            {"validation_split": 0.5, "subset": "both", "shuffle": True, "seed": None},
            "you must provide a `seed` argument",
        ),
    ],
    ids=str,
)
def test_same_errors(folder, arguments, phrase):
    """What is a ValueError in Keras is one here, in the same words where it matters."""
    arguments = {"shuffle": False, "verbose": False, **arguments}
    assert phrase.lower().strip("`") in keras_error(folder, arguments).lower()
    with pytest.raises(ValueError, match=re.escape(phrase)):
        tfstream.from_url(folder, **arguments)


def keras_error(folder, arguments) -> str:
    """Keras' message. It drops a running pool of threads, which Python warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            keras.utils.image_dataset_from_directory(str(folder), **arguments)
        except ValueError as error:
            text = " ".join(str(error).split())
        gc.collect()
    return text


def test_the_seed_has_a_default(folder):
    """Equal calls are equal datasets, and a split needs no seed."""
    one, other = (
        tfstream.from_url(folder, validation_split=0.2, subset="training", verbose=False)
        for _ in range(2)
    )
    assert one.spec == other.spec
    assert one.spec.order.seed == 0


def test_one_class_alone_is_an_error(folder, tmp_path):
    """There is nothing to tell apart; naming it says that it is meant."""
    os.symlink(folder / "ant", tmp_path / "ant")
    with pytest.raises(ValueError, match="only one class folder, 'ant'"):
        tfstream.from_url(tmp_path, verbose=False)
    assert_same(*both(tmp_path, class_names=["ant"]))


def test_an_empty_class_is_an_error(folder, tmp_path):
    """A class that the model can never see is a mistake somewhere."""
    os.symlink(folder / "ant", tmp_path / "ant")
    os.symlink(folder / "bee", tmp_path / "bee")
    (tmp_path / "yak").mkdir()
    with pytest.raises(ValueError, match=r"the class folder 'yak' is empty"):
        tfstream.from_url(tmp_path, verbose=False)
    assert_same(*both(tmp_path, class_names=["ant", "bee"]))


def test_the_order_inside_a_class_is_bytewise(tmp_path):
    """`a/5.png` comes before `b.png`; in Keras after it."""
    for key in ("x/b.png", "x/a/5.png", "y/1.png"):
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise()).save(tmp_path / key)
    theirs, ours = both(tmp_path)
    keys = [os.path.relpath(path, tmp_path) for path in ours.file_paths]
    assert keys == ["x/a/5.png", "x/b.png", "y/1.png"]
    assert sorted(theirs.file_paths) == sorted(ours.file_paths)


def test_a_tiny_split_keeps_all_for_training(folder):
    """`int(0.05 * 13)` is 0: all 13 are for training, and the validation part is an error."""
    split = {"validation_split": 0.05, "verbose": False}
    training = tfstream.from_url(folder, subset="training", **split)
    assert len(training.file_paths) == 13
    with pytest.raises(ValueError, match=r"leaves nothing to read for validation: 0\.05 of 13"):
        tfstream.from_url(folder, subset="validation", **split)
