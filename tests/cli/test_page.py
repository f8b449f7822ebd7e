"""docs/cli.md is true: its commands print what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from scans import BAD, GOOD, PHOTO, fill

import tfstream as package
from tfstream.graph.outcome import KINDS, UNREADABLE
from tfstream.testing.images import encode, smooth
from tfstream.testing.odd_keys import ODD_KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
COMMANDS = re.findall(r"^```console\n\$ tfstream ([^\n]*)\n(.*?)^```$", PAGE, re.M | re.S)

SCANS = {
    "scans/2024/0001.jpg": PHOTO,
    "scans/2024/0002.jpg": PHOTO[:-2],
    "scans/2024/0003.jpg": PHOTO[: len(PHOTO) // 2],
    "scans/2024/0004.jpg": PHOTO[:-200],
    "scans/2025/0005.png": GOOD["good/drawing.png"],
    "scans/2025/0006.tiff": encode(smooth(), "TIFF"),
    "scans/2025/0009.jpg": BAD["bad/page.jpg"],
    "scans/2025/wall.png": BAD["bad/huge.png"],
}


def shown(expected):
    """A text in which each `…` stands for anything in its line."""
    return re.compile(".*?".join(map(re.escape, expected.split("…"))))


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[each for each, _ in COMMANDS])
def test_a_command(tfstream, tmp_path, monkeypatch, command, expected):
    """A command of the page prints what is below it, `…` being anything."""
    monkeypatch.chdir(fill(tmp_path, SCANS))
    ran = tfstream(*shlex.split(command))
    assert shown(expected).fullmatch(ran.out), ran.out


def test_bad_keys_can_be_ignored(tfstream, tmp_path):
    """The page's `bad_keys` makes patterns of what `--write` wrote, whatever the keys are."""
    odd = [key for key in ODD_KEYS if not {"", ".", "..", "..."} & set(key.split("/"))]
    keys = [f"{at} {key}.jpg" for at, key in enumerate(odd) if not key.startswith(".")]
    keys += ["wild*.jpg", "any?.jpg", "[ab].jpg", "set[z-a].jpg", "form\ffeed.jpg", "u\u2028.jpg"]
    like = {"wildcard.jpg": PHOTO, "anyx.jpg": PHOTO, "a.jpg": PHOTO, "1 x.jpg": PHOTO}
    folder = fill(tmp_path / "data", dict.fromkeys(keys, b"") | like)
    tfstream("check", folder, "--write", tmp_path / "bad.txt")
    (code,) = re.findall(r"```python\n(import glob\n.*?)```", PAGE, re.S)
    page = {"Path": Path}
    exec(code, page)
    ignore = page["bad_keys"](tmp_path / "bad.txt")
    assert len(keys) == len(ignore)
    data = package.from_url(folder, ignore=ignore, labels=None, verbose=False)
    assert sorted(like) == [Path(path).name for path in data.file_paths]


@pytest.mark.parametrize("command", ["check", "dispatcher", "worker"])
def test_every_option(tfstream, capsys, command):
    """A command's section has a row for each option that its `--help` names, and no other."""
    with pytest.raises(SystemExit):
        tfstream(command, "--help")
    usage, _, _ = capsys.readouterr().out.partition("\n\n")
    options = set(re.findall(r"--[a-z-]+", usage)) - {"--help"}
    section = PAGE.split(f"\n## tfstream {command}\n")[1].partition("\n## ")[0]
    assert options == set(re.findall(r"(?m)^\| `(--[a-z-]+)", section))


def test_every_kind():
    """The page names each way in which an object cannot be read."""
    kinds = {*KINDS.values(), UNREADABLE}
    assert set() == {kind for kind in kinds if f"`{kind}`" not in PAGE}
