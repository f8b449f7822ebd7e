"""The demo does what the first page promises, and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from examples import demo
from examples.digits import as_objects, digest, digits
from servers.process import ServerUnavailable

ROOT = Path(__file__).parent.parent


def run_demo(state: Path, *arguments: str, path: Path | None = None) -> str:
    """What it prints; it has to succeed."""
    search = os.environ["PATH"] if path is None else f"{path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo", "--state", str(state), *arguments],
        cwd=ROOT,
        env={**os.environ, "PATH": search, "AWS_PROFILE": "nobody", "LAKECTL_X": "y"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def facts(output: str, name: str) -> list[str]:
    """The texts of all lines `name: text`."""
    return re.findall(rf"^   {name}: +(.*)$", output, re.MULTILINE)


def assert_nothing_is_left(output: str, state: Path) -> None:
    """Neither a server at the port that was printed nor a process that knows the folder."""
    (port,) = set(re.findall(r"http://127\.0\.0\.1:(\d+)", output))
    with socket.socket() as probe:
        assert 0 != probe.connect_ex(("127.0.0.1", int(port)))
    commands = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline")]
    assert [] == [command for command in commands if os.fsencode(state) in command]


def assert_it_learns(output: str) -> None:
    """Both trainings are above the goal and say how fast they were and what they read."""
    accuracies = [float(text.split("%")[0]) for text in facts(output, "accuracy")]
    assert 2 == len(accuracies)
    assert min(accuracies) > 95
    assert [True, True] == ["images per second" in text for text in facts(output, "speed")]
    specs = [json.loads(text) for text in facts(output, "spec")]
    assert ["train/**", "idx/*.gz"] == [spec["source"]["pattern"] for spec in specs]


@pytest.mark.slow
def test_the_demo_learns_from_s3(tmp_path):
    """On the embedded S3 server both forms of the pictures are learnt, and nothing is left."""
    output = run_demo(tmp_path, "--store", "s3")
    assert_it_learns(output)
    assert_nothing_is_left(output, tmp_path)


@pytest.mark.slow
def test_the_demo_learns_from_lakefs(lakefs_binary, tmp_path, capsys):
    """On lakeFS too, at a commit; a later run finds the pictures there, at the same commit."""
    output = run_demo(tmp_path, "--store", "lakefs", path=lakefs_binary.parent)
    assert_it_learns(output)
    assert_nothing_is_left(output, tmp_path)
    with demo.lakefs_store(lakefs_binary, tmp_path / "lakefs", as_objects()) as again:
        head = again.args[0].request("GET", "/repositories/digits/branches/main")
    assert [head["commit_id"]] * 2 == facts(output, "commit")
    assert "1,803 objects are there from an earlier run" in capsys.readouterr().out


def test_without_lakefs_the_demo_says_so_and_takes_s3(monkeypatch, capsys):
    """Only where lakeFS was asked for by name is its absence the end."""

    def none(progress):
        raise ServerUnavailable("could not build lakeFS: no network")

    monkeypatch.setattr(demo, "find_or_install", none)
    assert demo.lakefs_binary("auto") is None
    assert "runs on S3 instead:\ncould not build lakeFS: no network" in capsys.readouterr().out
    with pytest.raises(ServerUnavailable):
        demo.lakefs_binary("lakefs")


def test_the_pictures_are_scikit_learns():
    """Every PNG has the pixels of its digit, in the folder of its class."""
    images, labels = digits()
    objects = as_objects()
    for number in (0, 500, 1796):
        with Image.open(io.BytesIO(objects[f"train/{labels[number]}/{number:04}.png"])) as picture:
            np.testing.assert_array_equal(images[number], np.asarray(picture))
    assert 1797 == sum(key.startswith("train/") for key in objects)


def test_the_shards_hold_the_same_pictures():
    """The three IDX pairs together are all pictures and labels in order."""
    objects = as_objects()
    images, labels = digits()

    def joined(name, header):
        parts = [objects[f"idx/part-{part}-{name}-ubyte.gz"] for part in range(3)]
        return b"".join(gzip.decompress(part)[header:] for part in parts)

    assert images.tobytes() == joined("images-idx3", 16)
    assert labels.tobytes() == joined("labels-idx1", 8)


def test_the_same_pictures_have_the_same_digest():
    """An earlier run's upload is recognised, and only if it is the same."""
    objects = as_objects()
    assert digest(objects) == digest(as_objects())
    assert digest(objects) != digest({**objects, "train/0/0000.png": b"x"})
