"""The folder of checkpoints, and the file that each is."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import tfstream
from tfstream.keras.checkpoint import Checkpoint, Progress, Variable
from tfstream.keras.folder import Folder


def checkpoint(epoch=0, step=0, **progress):
    """A small one."""
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    return Checkpoint(
        progress=Progress(epoch=epoch, step=step, steps=10, **progress),
        spec="{}",
        versions={"tfstream": "1"},
        state={"model": [Variable("dense/kernel", "float32", values)]},
    )


def names(folder):
    """What is there."""
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_read(tmp_path):
    """History, NaN too, and values come back as they were."""
    written = checkpoint(1, 2, epochs=[0], history={"loss": [float("nan"), 0.1]})
    folder = Folder(tmp_path / "a" / "b", keep=2)
    folder.write(written)
    found = folder.newest(9)
    assert str(written.progress) == str(found.progress)
    assert written.state["model"][0].name == found.state["model"][0].name
    assert (written.state["model"][0].value == found.state["model"][0].value).all()


def test_metrics_that_are_no_numbers(tmp_path):
    """A metric with a value for each class is a list in the file."""
    folder = Folder(tmp_path, keep=2)
    folder.write(checkpoint(1, epochs=[0], history={"f1": [np.array([0.5, 0.25])]}))
    assert [[0.5, 0.25]] == folder.newest(9).progress.history["f1"]


def test_numpy_reads_it(tmp_path):
    """The file is an `.npz` without pickle, with readable JSON in it."""
    Folder(tmp_path, keep=1).write(checkpoint(3, 120))
    with np.load(tmp_path / "epoch-00003-step-00000120.npz", allow_pickle=False) as file:
        assert (2, 3) == file["model/0"].shape
        assert 120 == json.loads(file["checkpoint.json"])["progress"]["step"]


def test_only_the_newest_stay(tmp_path):
    """`keep` positions; the two files of one position count once; other files are left alone."""
    (tmp_path / "notes.txt").touch()
    folder = Folder(tmp_path, keep=2)
    for each in ((0, 9), (1, 0), (1, 5), (2, 0)):
        folder.write(checkpoint(*each))
    folder.write(checkpoint(2, 0, ended=True))
    assert [
        "epoch-00001-step-00000005.npz",
        "epoch-00002-step-00000000-ended.npz",
        "epoch-00002-step-00000000.npz",
        "notes.txt",
    ] == names(tmp_path)


def test_the_end_counts_where_it_is_the_end(tmp_path):
    """A training of more epochs goes on from before what callbacks did at the end."""
    folder = Folder(tmp_path, keep=1)
    assert folder.newest(2) is None
    for ended in (False, True):
        folder.write(checkpoint(2, ended=ended))
    assert [True, True, False] == [folder.newest(n).progress.ended for n in (1, 2, 3)]
    folder.write(checkpoint(2, ended=True, stopped=True))
    assert folder.newest(3).progress.ended


def test_what_a_kill_left_is_removed(tmp_path):
    """A file without its name yet is none, and the next run removes it."""
    Folder(tmp_path, keep=1).write(checkpoint(1))
    (tmp_path / ".epoch-00002-step-00000000.npz.partial").write_bytes(b"PK")
    assert 1 == Folder(tmp_path, keep=1).newest(9).progress.epoch
    assert ["epoch-00001-step-00000000.npz"] == names(tmp_path)


def test_a_failed_write_leaves_the_folder(tmp_path):
    """An error while writing, such as a full disk, leaves no checkpoint under that name."""
    folder, bad = Folder(tmp_path, keep=1), Variable("x", "object", np.array([object()]))
    folder.write(checkpoint(1))
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        folder.write(replace(checkpoint(2), state={"model": [bad]}))
    assert 1 == folder.newest(9).progress.epoch


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_file_is_an_error(tmp_path, damage):
    """It is named, with what to do; nothing older is taken in its place without a word."""
    folder = Folder(tmp_path, keep=2)
    folder.write(checkpoint(1))
    folder.write(checkpoint(2))
    file = tmp_path / "epoch-00002-step-00000000.npz"
    data = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        array = archive.getinfo("model/0.npy").header_offset
    data[array + 200] ^= 1
    other = {"cut": data[:-30], "flipped": data, "empty": b"", "other": b"not a zip"}
    file.write_bytes(other[damage])
    with pytest.raises(tfstream.CheckpointError, match="delete it to go on") as caught:
        folder.newest(9)
    assert str(file) == caught.value.path


def test_a_newer_version_is_refused(tmp_path):
    """What a later tfstream wrote is not guessed at."""
    with zipfile.ZipFile(tmp_path / "epoch-00001-step-00000000.npz", "w") as archive:
        head = {"tfstream_checkpoint": 2, "versions": {"tfstream": "9.0"}}
        archive.writestr("checkpoint.json", json.dumps(head))
    with pytest.raises(tfstream.CheckpointError, match=r"version 2, .* knows 1: .*9\.0"):
        Folder(tmp_path, keep=1).newest(9)


def test_a_url_is_no_folder():
    """Renaming is atomic on a file system only."""
    with pytest.raises(ValueError, match="a folder of this machine"):
        Folder("s3://bucket/checkpoints", keep=1)
