"""The checkpoints of a task: what one attempt leaves, and the next finds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tfstream
from tfstream.errors import CheckpointError, SpecError
from tfstream.flyte import TrainingCheckpoint, task_checkpoints
from tfstream.flyte.checkpoint_file import as_keras
from tfstream.flyte.kept import KeptFolder


class Stored:
    """A store in a folder; attempts see what came before."""

    def __init__(self, folder):
        self._folder, self.saved = folder, []
        folder.mkdir()

    def files(self, folder):
        return [Path(shutil.copy(path, folder)) for path in sorted(self._folder.iterdir())]

    def save(self, file):
        self.saved.append(file.name)
        shutil.copy(file, self._folder / file.name)


@pytest.fixture
def stored(tmp_path):
    """An empty one."""
    return Stored(tmp_path / "store")


def at(epoch, step):
    """A checkpoint."""
    return as_keras(TrainingCheckpoint(model=(), epoch=epoch, step=step))


def test_a_first_attempt_finds_nothing(stored, tmp_path):
    """And saves nothing for it."""
    assert KeptFolder(tmp_path / "a", stored).restored() is None
    assert [] == stored.saved


def test_the_next_attempt_saves_the_newest_at_once(stored, tmp_path):
    """For the one after it, which is told of its place only."""
    first = KeptFolder(tmp_path / "a", stored)
    for place in ((0, 2), (1, 0)):
        first.write(at(*place))
    stored.saved.clear()
    second = KeptFolder(tmp_path / "b", stored)
    assert (1, 0) == (second.restored().progress.epoch, second.newest(9).progress.step)
    assert ["epoch-00001-step-00000000.npz"] == stored.saved


def test_a_cut_file_is_passed_over(stored, tmp_path):
    """Where another is whole; else the task cannot go on, and says so."""
    first = KeptFolder(tmp_path / "a", stored)
    for place in ((0, 2), (1, 0)):
        first.write(at(*place))
    files = sorted((tmp_path / "store").iterdir())
    files[1].write_bytes(b"cut")
    assert 2 == KeptFolder(tmp_path / "b", stored).restored().progress.step
    files[0].write_bytes(b"cut")
    with pytest.raises(
        CheckpointError, match=r"left a checkpoint that cannot be read: .* new exec"
    ):
        KeptFolder(tmp_path / "c", stored).restored()


def test_outside_of_a_task_nothing_is_kept(tmp_path):
    """Code of a task runs without Flyte too."""
    with task_checkpoints() as kept:
        kept.save(TrainingCheckpoint(model=(), epoch=1))
        assert kept.newest() is None


@pytest.mark.parametrize("name", ["checkpoint", "keep"])
def test_fit_has_a_folder_of_its_own(data, name):
    """So it takes none."""
    with pytest.raises(ValueError, match=f"`{name}` is Flyte's own here"):
        tfstream.flyte.fit(None, data, **{name: 1})


def test_a_start_counts_the_epochs_of_the_data(data):
    """With epochs of another length its step would be another place."""
    start = TrainingCheckpoint(model=(), data=data)
    with pytest.raises(ValueError, match="there is no `steps_per_epoch`"):
        tfstream.flyte.fit(None, data, start=start, steps_per_epoch=2)


def test_a_start_of_other_data_is_refused(data):
    """The error says what differs and how to go on all the same."""
    start = TrainingCheckpoint(model=(), data=data.spec.replace(batch_size=2))
    with pytest.raises(SpecError, match=r"of other data: \$\.batch_size: 2 there, 4 here") as told:
        tfstream.flyte.fit(None, data, start=start)
    assert "checkpoint.moved_to(dataset)" in str(told.value)
