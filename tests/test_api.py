"""The functions that users call: what they say to arguments that cannot be."""

from __future__ import annotations

import pytest
from PIL import Image

import tfstream
from tfstream.spec import Shard


@pytest.fixture
def folder(tmp_path):
    """Three classes of one picture."""
    for name in "abc":
        (tmp_path / name).mkdir()
        Image.new("RGB", (2, 2)).save(tmp_path / name / "1.png")
    return tmp_path


def opened(folder, **arguments):
    return tfstream.from_url(folder, verbose=False, **arguments)


def test_a_misspelt_argument(folder):
    """An argument that is none is told with the nearest that is."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'shufle'; did you mean 'shuf"):
        opened(folder, shufle=False)
    with pytest.raises(TypeError, match=r"'xyz': tfstream\.Arguments has them all"):
        opened(folder, xyz=1)
    with pytest.raises(TypeError, match=r"'format': the result is always a tf\.data\.Dataset"):
        opened(folder, format="tf")


def test_an_empty_url():
    """An empty URL is not the current folder."""
    with pytest.raises(ValueError, match="`url` is empty"):
        tfstream.from_url("")


def test_a_worker_says_which_it_is(folder):
    """`num_shards` without `shard_index` would make every worker the first."""
    with pytest.raises(ValueError, match="`num_shards` and `shard_index` go together"):
        opened(folder, num_shards=2)
    both = opened(folder, num_shards=2, shard_index=1, batch_size=1)
    assert 2 == both.spec.shard.num_shards
    assert opened(folder, num_shards=1).spec.shard is None
    alone = opened(folder, num_shards=1, remainder="drop", batch_size=1).spec.shard
    assert Shard(num_shards=1, index=0, remainder="drop") == alone


@pytest.mark.parametrize("position", ["12", (0, 10.5), (1,), 7])
def test_positions_are_pairs(folder, position):
    """Nothing is taken for a position that is no pair of integers."""
    with pytest.raises(ValueError, match="`position` must be"):
        opened(folder, position=position)


def test_a_class_that_comes_twice(folder):
    """Class names are different: else labels would shift."""
    with pytest.raises(ValueError, match="`class_names` must name each once"):
        opened(folder, class_names=["a", "b", "b"])


@pytest.mark.parametrize(
    ("mode", "labels"),
    [("categorical", [0, 5, 0]), ("binary", [0, 7, 0]), ("categorical", {"a/1.png": 9})],
)
def test_labels_beyond_the_classes(folder, mode, labels):
    """Given labels that are no places in a vector of the classes are refused, not lost."""
    if isinstance(labels, dict):
        labels = {f"{name}/1.png": 9 for name in "abc"}
    with pytest.raises(ValueError, match="must be 0 to "):
        opened(folder, label_mode=mode, labels=labels)


def test_credentials_are_not_for_folders(folder):
    """What a folder cannot use is refused, and not shown."""
    with pytest.raises(ValueError, match="`credentials` is not for local sources") as caught:
        opened(folder, credentials={"token": "hush"})
    assert "hush" not in str(caught.value)


def test_class_folders_one_level_further_down(folder):
    """A folder around the class folders is told as what it is, with the pattern to take."""
    (folder / "train").mkdir()
    for name in "abc":
        (folder / name).rename(folder / "train" / name)
    with pytest.raises(ValueError, match=r"'train': did you mean the pattern 'train/\*\*'"):
        opened(folder)
    assert ["a", "b", "c"] == opened(folder / "train/**").class_names


def test_no_classes_are_told_with_their_place(folder):
    """The message names the folder that was asked for."""
    with pytest.raises(ValueError, match=f"^{folder}/a/.*: no class folders"):
        opened(folder / "a")
    with pytest.raises(ValueError, match=f"^{folder}/.*: .*len.labels. is 1 .* 3 files$"):
        opened(folder, labels=[0])


def test_a_split_of_nothing(folder, capsys):
    """A split that rounds down to nothing names the argument, and nothing is printed before."""
    with pytest.raises(ValueError, match=r"`validation_split` leaves nothing .* 0\.01 of 3 rec"):
        tfstream.from_url(folder, validation_split=0.01, subset="both")
    assert capsys.readouterr().out == ""
