"""Datasets whose labels are made of values: elements, other processes, training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import tfstream
from tfstream.spec import DatasetSpec

COUNT = 12
ELSEWHERE = """
import json, sys
import tfstream
data = tfstream.load(json.load(sys.stdin))
print(json.dumps([str(data.element_spec[1]), [labels.numpy().tolist() for _, labels in data]]))
"""


@pytest.fixture
def folder(tmp_path):
    """Gray pictures whose level is ten times their number, and a table beside them."""
    rows = []
    for number in range(COUNT):
        key = f"img/{'a' if number % 2 else 'b'}/{number:02}.png"
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), 10 * number).save(tmp_path / key)
        tags = [name for name, each in (("two", 2), ("three", 3)) if number % each == 0]
        rows.append({"file": key, "name": ["even", "odd"][number % 2], "n": number % 3})
        rows[-1] |= {"level": number / 2, "tags": tags}
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "labels.jsonl").write_text(text)
    return tmp_path


def column(name, **choices):
    return tfstream.TableLabels("labels.jsonl", key="file", label=name, **choices)


def streamed(folder, labels, pattern="img", **arguments):
    defaults = {"color_mode": "grayscale", "image_size": None, "batch_size": 4, "verbose": False}
    return tfstream.from_url(f"{folder}/{pattern}", labels=labels, **{**defaults, **arguments})


def pairs(data):
    """Number and label of each example, in order."""
    batches = [(images.numpy()[:, 0, 0, 0] // 10, labels.numpy()) for images, labels in data]
    numbers, labels = (np.concatenate(column) for column in zip(*batches, strict=True))
    return list(zip(numbers.tolist(), labels.tolist(), strict=True))


def level(number):
    return number / 2


def tags(number):
    return [float(number % 3 == 0), float(number % 2 == 0)]


@pytest.fixture
def chdir(folder, monkeypatch):
    """The folder is the working directory, so that a table's path begins there."""
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "expected", "shape", "dtype", "form", "classes"),
    [
        ("name", lambda number: number % 2, [None], tf.int32, "int", ["even", "odd"]),
        ("n", lambda number: number % 3, [None], tf.int32, "int", ["0", "1", "2"]),
        ("level", level, [None], tf.float32, "float", None),
        ("tags", tags, [None, 2], tf.float32, "multi_hot", ["three", "two"]),
    ],
)
def test_elements(chdir, name, expected, shape, dtype, form, classes):
    """Each image has its own label, and `element_spec` says of what dtype and shape."""
    data = streamed(chdir, column(name))
    assert {(number, repr(expected(number))) for number in range(COUNT)} == {
        (number, repr(label)) for number, label in pairs(data)
    }
    assert tf.TensorSpec(shape, dtype) == data.element_spec[1]
    assert (form, classes) == (data.spec.label_mode, data.class_names)
    assert (classes and len(classes)) == data.num_classes
    assert DatasetSpec.from_json(data.spec.to_json()) == data.spec
    single = streamed(chdir, column(name), batch_size=None)
    assert tf.TensorSpec(shape[1:], dtype) == single.element_spec[1]


def test_forms_of_classes(chdir):
    """Names and whole numbers become vectors as class folders do."""
    vectors = streamed(chdir, column("n"), label_mode="categorical")
    expected = np.eye(3)[[number % 3 for number in range(COUNT)]].tolist()
    assert list(enumerate(expected)) == sorted(pairs(vectors))
    binary = streamed(chdir, column("name"), label_mode="binary")
    assert [(number, [number % 2]) for number in range(COUNT)] == sorted(pairs(binary))
    assert tf.TensorSpec([None, 1], tf.float32) == binary.element_spec[1]


@pytest.mark.parametrize("mode", ["categorical", "binary"])
def test_forms_that_cannot_be(chdir, mode):
    """Numbers are no classes, and vectors are vectors already."""
    for name, what in (("level", "numbers to predict"), ("tags", "vectors of several classes")):
        with pytest.raises(ValueError, match=f'{what}.*"int" or None. Received: label_mode='):
            streamed(chdir, column(name), label_mode=mode)


def test_no_labels(chdir):
    """`label_mode=None` reads no table."""
    missing = tfstream.TableLabels("missing.csv", key="file", label="x")
    data = streamed(chdir, missing, label_mode=None)
    assert (None, None) == (data.spec.labels, data.class_names)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["level", "tags"])
def test_another_process(chdir, name):
    """It makes the same labels of the spec's JSON alone."""
    data = streamed(chdir, column(name), seed=3)
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=json.dumps(data.spec.to_json()),
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    element, labels = json.loads(done.stdout)
    assert str(data.element_spec[1]) == element
    assert [batch.numpy().tolist() for _, batch in data] == labels


@pytest.mark.parametrize("name", ["level", "tags"])
class TestPositions:
    """Labels stay with their images, wherever a dataset begins."""

    def expected(self, name):
        made = {"level": level, "tags": tags}[name]
        return [(number, made(number)) for number in range(COUNT)]

    def test_a_split(self, chdir, name):
        """Both parts together are all."""
        both = streamed(chdir, column(name), validation_split=0.25, subset="both")
        assert [9, 3] == [len(pairs(part)) for part in both]
        assert self.expected(name) == sorted(pair for part in both for pair in pairs(part))

    def test_workers(self, chdir, name):
        """Each has its own."""
        parts = [
            streamed(chdir, column(name), num_shards=2, shard_index=index) for index in range(2)
        ]
        assert self.expected(name) == sorted(pair for part in parts for pair in pairs(part))

    def test_a_resume(self, chdir, name):
        """From a step on it is the rest of the whole."""
        whole = streamed(chdir, column(name))
        assert pairs(whole)[4:] == pairs(whole.at(step=1))

    @pytest.mark.slow
    def test_without_bad_images(self, chdir, name):
        """A bad image goes with its label, or another one stands in with its own."""
        (chdir / "img" / "a" / "03.png").write_text("no image")
        for on_error, count in (("skip", COUNT - 1), ("substitute", COUNT)):
            found = pairs(streamed(chdir, column(name), on_error=on_error))
            assert count == len(found)
            assert {repr(pair) for pair in self.expected(name)} >= set(map(repr, found))
            assert 3 not in [number for number, _ in found]

    def test_a_graph(self, chdir, name):
        """A dataset as bytes has the same labels."""
        data = streamed(chdir, column(name))
        again = tfstream.from_graph(tfstream.to_graph(data), allow_local=True)
        assert data.element_spec == again.element_spec
        assert self.expected(name) == sorted(pairs(again))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "units", "activation", "loss"),
    [("level", 1, None, "mse"), ("tags", 2, "sigmoid", "binary_crossentropy")],
)
def test_training(chdir, name, units, activation, loss):
    """`model.fit` takes numbers for a regression, and vectors for several labels."""
    import keras

    data = streamed(chdir, column(name), seed=1, image_size=(4, 4))
    flat = [keras.layers.Rescaling(1 / 120), keras.layers.Flatten()]
    model = keras.Sequential([*flat, keras.layers.Dense(units, activation)])
    model.compile(keras.optimizers.Adam(0.1), loss)
    losses = model.fit(data, epochs=5, shuffle=False, verbose=0).history["loss"]
    assert losses[0] > losses[-1]
    assert (4, units) == model.predict(data.take(1), verbose=0).shape


class TestFolders:
    """Where the table of a folder is."""

    def test_below_the_folder(self, folder):
        """A path below the folder of the dataset comes first."""
        data = streamed(folder, column("n"), pattern=".")
        assert COUNT == len(pairs(data))
        assert "labels.jsonl" == data.spec.labels.path

    def test_a_path_of_its_own(self, folder):
        """An absolute path, or one from here: keys begin where both have their folder."""
        labels = tfstream.TableLabels(str(folder / "labels.jsonl"), key="file", label="n")
        data = streamed(folder, labels, pattern="img/**/*.png")
        assert COUNT == len(pairs(data))
        assert ("labels.jsonl", "img/**/*.png") == (
            data.spec.labels.path,
            data.spec.source.pattern,
        )
        assert str(folder) == data.spec.source.root

    def test_nowhere(self, chdir):
        """A table that is not there is an error with its path."""
        missing = tfstream.TableLabels("missing.csv", key="file", label="n")
        with pytest.raises(tfstream.ObjectNotFoundError, match=f"no table {chdir}/missing.csv"):
            streamed(chdir, missing)


def test_keys_of_metadata_and_patterns(chdir):
    """Regular expressions work from the call; metadata says at once that a folder has none."""
    data = streamed(chdir, tfstream.RegexLabels(r"^(?P<label>[ab])/"))
    assert [(number, int(number % 2 == 0)) for number in range(COUNT)] == sorted(pairs(data))
    with pytest.raises(ValueError, match="MetadataLabels is for lakeFS"):
        streamed(chdir, tfstream.MetadataLabels("class"))


def test_a_changed_table(chdir):
    """Another label in the table: a spec of before does not load."""
    spec = streamed(chdir, column("level")).spec
    table = Path("labels.jsonl")
    table.write_text(table.read_text().replace('"level": 2.5', '"level": 2.25'))
    with pytest.raises(tfstream.ObjectChangedError, match="not those that were pinned"):
        tfstream.load(spec)


def test_check(chdir):
    """`tfstream check` reads the images of such a spec, and no table as an image."""
    from tfstream.cli.main import main

    Path("spec.json").write_text(streamed(chdir, column("tags")).spec.to_json())
    assert 0 == main(["check", "spec.json"])


@pytest.mark.slow
def test_lakefs(lakefs_server, lakefs_repository):
    """Metadata and a table of the same commit, from the call to the examples."""
    for number in range(4):
        picture = tf.io.encode_png(np.full((2, 2, 1), 10 * number, np.uint8)).numpy()
        metadata = {"class": ["even", "odd"][number % 2]}
        lakefs_server.upload(lakefs_repository, "main", f"img/{number}.png", picture, metadata)
    rows = "".join(f"{number}.png,{number / 4}\n" for number in range(4))
    table = f"file,share\n{rows}".encode()
    lakefs_server.upload(lakefs_repository, "main", "labels.csv", table)
    lakefs_server.commit(lakefs_repository, "main", "all")
    shares = tfstream.TableLabels("labels.csv", key="file", label="share")
    for labels, expected in (
        (tfstream.MetadataLabels("class"), [0, 1, 0, 1]),
        (shares, [0, 0.25, 0.5, 0.75]),
    ):
        data = tfstream.from_lakefs(
            lakefs_repository,
            "main",
            "img/**",
            endpoint=lakefs_server.endpoint,
            credentials=lakefs_server.credentials,
            labels=labels,
            color_mode="grayscale",
            image_size=None,
            verbose=False,
        )
        assert list(enumerate(expected)) == sorted(pairs(data))
        again = tfstream.load(data.spec.to_json(), credentials=lakefs_server.credentials)
        assert pairs(data.at()) == pairs(again.at())
