"""Checkpoints of iterators: small, exact in another process, refused by another dataset."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from numbered import folder_of, numbers, streamed

import tfstream

ROOT = Path(__file__).parents[2]
COUNT = 26
"""So that an epoch has seven batches of four, the last of which is short."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures, all of them good."""
    return folder_of(tmp_path_factory.mktemp("checkpoints") / "numbers", count=COUNT)


def shuffled(folder: Path, **arguments) -> tfstream.StreamDataset:
    """Batches of four, in another order each epoch."""
    return streamed(folder, count=COUNT, **{"shuffle": True, **arguments})


def saved(iterator, tmp_path: Path) -> str:
    """The path of its checkpoint, alone in a folder."""
    return tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "saved" / "checkpoint"))


def restore(iterator, path: str) -> None:
    """All of it."""
    tf.train.Checkpoint(iterator=iterator).read(path).assert_consumed()


def derived(data: tfstream.StreamDataset) -> tf.data.Dataset:
    """A dataset like any other, whose checkpoints have all buffers."""
    return data.map(lambda image, label: (image, label))


FORMS = {
    "iterated": lambda data: data,
    "derived": derived,
    "numbered": lambda data: data.epochs(3),
    "numbered and derived": lambda data: derived(data.epochs(3)),
}

GO_ON = """
import sys
import tensorflow as tf
import tfstream
spec, form, path = sys.argv[1:]
data = tfstream.load(open(spec).read())
if "numbered" in form:
    data = data.epochs(3)
if "derived" in form:
    data = data.map(lambda image, label: (image, label))
iterator = iter(data)
tf.train.Checkpoint(iterator=iterator).read(path).assert_consumed()
print([label.numpy().tolist() for _, label in iterator])
print([label.numpy().tolist() for _, label in data])
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_another_process_goes_on(folder, tmp_path, form):
    """With the very next element, and where epochs are not numbered, with the next epoch."""
    data = FORMS[form](shuffled(folder))
    if "numbered" not in form:
        numbers(data)
    iterator = iter(data)
    numbers(next(iterator) for _ in range(3))
    path = saved(iterator, tmp_path)
    spec = shuffled(folder).spec
    (tmp_path / "spec.json").write_text(spec.to_json())
    result = subprocess.run(
        [sys.executable, "-c", GO_ON, str(tmp_path / "spec.json"), form, path],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{numbers(iterator)}\n{numbers(data)}\n"


@pytest.mark.parametrize("form", ["iterated", "numbered", "numbered and derived"])
def test_it_is_small(folder, tmp_path, form):
    """It has positions and no images: 64 KB are less than one of these batches."""
    data = FORMS[form](shuffled(folder, image_size=(200, 200)))
    iterator = iter(data)
    assert next(iterator)[0].numpy().nbytes > 64 * 1024
    path = saved(iterator, tmp_path)
    assert sum(each.stat().st_size for each in Path(path).parent.iterdir()) < 64 * 1024


@pytest.mark.parametrize("steps", [0, 1, 6, 7])
def test_any_place_is_exact(folder, tmp_path, steps):
    """The first batch, the last one, and the end before anyone has seen it."""
    data = shuffled(folder)
    numbers(data)
    iterator = iter(data)
    for _ in range(steps):
        next(iterator)
    path = saved(iterator, tmp_path)
    again = shuffled(folder)
    restored = iter(again)
    restore(restored, path)
    assert numbers(restored) == numbers(iterator)
    if steps:  # before the first element TensorFlow saves nothing, the epoch's number neither
        assert numbers(again) == numbers(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, r"\$\.order\.seed: 0 there, 1 here"),
        ({"validation_split": 0.5, "subset": "validation"}, r"\$\.order\.subset"),
        ({"num_shards": 2, "shard_index": 1}, r"\$\.shard: None there"),
        ({"interpolation": "nearest"}, "'bilinear' there, 'nearest' here"),
        ({"batch_size": 5}, r"\$\.batch_size: 4 there, 5 here"),
    ],
)
def test_another_dataset_refuses_it(folder, tmp_path, change, said):
    """Saying what differs, also where its position is past the end of the other one."""
    iterator = iter(shuffled(folder))
    for _ in range(6):
        next(iterator)
    path = saved(iterator, tmp_path)
    with pytest.raises(tfstream.SpecError, match=said):
        restored(shuffled(folder, **change), path)


@pytest.mark.parametrize("change", [{"on_error": "skip"}, {"batch_size": 20}])
def test_another_form_refuses_it(folder, tmp_path, change):
    """Where TensorFlow finds no place for its parts, the error says what may be the cause."""
    iterator = iter(shuffled(folder))
    next(iterator)
    path = saved(iterator, tmp_path)
    with pytest.raises(tfstream.SpecError, match=r"another form|another dataset"):
        restored(shuffled(folder, **change), path)


def restored(data: tfstream.StreamDataset, path: str) -> list[list[int]]:
    """What it gives after the restore."""
    iterator = iter(data)
    tf.train.Checkpoint(iterator=iterator).read(path)
    return numbers(iterator)


def test_another_commit_refuses_it(tmp_path):
    """New data has another digest, which the error shows."""
    one, other = (
        streamed(folder_of(tmp_path / f"{count}", count=count), count=count)
        for count in (COUNT, COUNT - 1)
    )
    iterator = iter(one)
    next(iterator)
    path = saved(iterator, tmp_path)
    words = r"\$\.manifest: 'sha256:.* \$\.records: 26 there, 25 here"
    with pytest.raises(tfstream.SpecError, match=words):
        restored(other, path)


def test_reading_otherwise_is_the_same_dataset(folder, tmp_path):
    """ReadOptions and the limit of bad records are free to change."""
    iterator = iter(shuffled(folder, on_error="skip", max_errors=1))
    next(iterator)
    path = saved(iterator, tmp_path)
    options = tfstream.ReadOptions(max_in_flight=3)
    other = shuffled(folder, on_error="skip", max_errors=5, options=options)
    assert restored(other, path) == numbers(iterator)
