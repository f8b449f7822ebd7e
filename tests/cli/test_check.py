"""`tfstream check` on a folder: what it finds, and how it says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scans import BAD, GOOD, KINDS, PHOTO, fill

import tfstream as package
from tfstream.testing.images import encode, noise, png_of_size
from tfstream.testing.odd_keys import ODD_KEYS


def test_all_good(tfstream, good):
    """Every image that can be trained on is good, however odd: exit code 0, and no table."""
    ran = tfstream("check", good)
    assert (0, "") == (ran.code, ran.err)
    size = sum(map(len, GOOD.values())) / 1e6
    first, second, *more = ran.out.splitlines()
    assert f"{good}/**" == first
    assert second.startswith(f"{len(GOOD)} of {len(GOOD)} objects checked, none bad; {size:.1f} MB")
    assert ["format", "decoded by"] == [line.partition("  ")[0] for line in more]


def test_every_bad_one_is_named(tfstream, scans):
    """Each bad object is under its kind, each good one in the sums: exit code 1."""
    ran = tfstream("check", scans, "--json")
    assert (1, "") == (ran.code, ran.err)
    assert list(KINDS.items()) == list(ran.kinds.items())
    objects = GOOD | BAD
    sums = {
        "place": f"{scans}/**",
        "objects": len(objects),
        "checked": len(objects),
        "complete": True,
        "good": len(GOOD),
        "bad": len(BAD),
        "bytes": sum(map(len, objects.values())),
    }
    assert sums == {name: ran.report[name] for name in sums}
    assert 0 < ran.report["seconds"] < 60


def test_formats_and_paths(tfstream, tmp_path):
    """Formats count what a header names, broken or not; decode paths count what was decoded."""
    files = {"a.jpg": PHOTO, "b.png": PHOTO, "c.jpg": PHOTO[:-2], "d.jpg": b""}
    files["e.png"] = encode(noise(), "TIFF")
    ran = tfstream("check", fill(tmp_path, files), "--json")
    assert {"JPEG": 3, "TIFF": 1} == ran.report["formats"]
    assert {"jpeg": 2, "pillow": 1} == ran.report["decode_paths"]


def test_what_tensorflow_refuses_goes_to_pillow(tfstream, tmp_path):
    """A PNG with a wrong checksum is good, as in training: Pillow reads it."""
    data = encode(noise(), "PNG")
    at = data.rindex(b"IEND") - 8  # the checksum of the pixels
    fill(tmp_path, {"a.png": data[:at] + bytes(4) + data[at + 4 :]})
    ran = tfstream("check", tmp_path, "--json")
    assert (0, {"pillow": 1}) == (ran.code, ran.report["decode_paths"])


@pytest.mark.slow
def test_the_same_as_in_training(tfstream, scans):
    """What is bad, and of which kind, is what training with `on_error="skip"` leaves out."""
    data = package.from_url(scans, labels=None, on_error="skip", verbose=False)
    list(data)
    found = {kind: sorted(keys) for kind, keys in data.stats().errors.items()}
    assert found == tfstream("check", scans, "--json").kinds


def test_the_same_words_as_in_training(tfstream, scans):
    """The whole error is what training would say about the object."""
    errors = tfstream("check", scans, "--json").report["kinds"]["truncated PNG"]
    data = package.from_url(scans / "bad/cut.png", labels=None, verbose=False)
    with pytest.raises(package.DecodeError, match=re.escape(errors["bad/cut.png"])):
        list(data)


def test_the_table(tfstream, scans):
    """The report has each kind with its count and first keys."""
    lines = tfstream("check", scans).out.splitlines()
    table = lines[lines.index("") + 1 :]
    width = max(map(len, KINDS))
    assert f"{'what is wrong':<{width}}  objects  first keys" == table[0]
    assert f"{'truncated JPEG':<{width}}        2  bad/also cut.jpg" == table[1]
    assert f"{'':<{width}}           bad/cut.jpg" == table[2]
    assert len(BAD) == len(table) - 1


def test_the_table_is_short(tfstream, tmp_path):
    """Of many keys of one kind the first three are shown."""
    fill(tmp_path, {f"{number}.png": b"" for number in range(10)})
    lines = tfstream("check", tmp_path).out.splitlines()
    assert ["0.png", "1.png", "2.png", "…"] == [line.split()[-1] for line in lines[-4:]]
    assert "not an image (empty)       10  0.png" == lines[-4]


def test_written_keys(tfstream, scans, tmp_path):
    """`--write` has every bad key, sorted, one a line."""
    file = tmp_path / "bad.txt"
    tfstream("check", scans, "--write", file)
    assert sorted(BAD) == file.read_text().splitlines()


def test_nothing_to_write(tfstream, good, tmp_path):
    """Where all are good, the file of an earlier check is emptied."""
    file = tmp_path / "bad.txt"
    file.write_text("of yesterday")
    tfstream("check", good, "--write", file)
    assert "" == file.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_costs_no_report(tfstream, scans, more):
    """2, with the whole report, and an error that names the file that could not be written."""
    ran = tfstream("check", scans, "--write", "/dev/full", *more)
    assert 2 == ran.code
    assert "bad/empty.png" in ran.out
    expected = "tfstream: /dev/full: the bad keys are not written: No space left on device\n"
    assert expected == ran.err


def test_written_keys_can_be_read_back(tfstream, tmp_path):
    """A key with a line break, or a first quote, is a JSON string; all others are as they are."""
    keys = ["line\nbreak", "return\rkey", '"quoted"', "tab\tkey", "plain key", "not\udcffutf8", "é"]
    folder = fill(tmp_path / "data", {f"{key}.png": b"" for key in keys})
    file = tmp_path / "bad.txt"
    tfstream("check", folder, "--write", file)
    lines = file.read_text("utf-8", "surrogateescape").split("\n")[:-1]
    read = [json.loads(line) if line.startswith('"') else line for line in lines]
    assert sorted(f"{key}.png" for key in keys) == read
    assert 3 == sum(line.startswith('"') for line in lines)


def test_odd_keys(tfstream, tmp_path):
    """Every odd key that a folder can hold is exact in the JSON, and visible in the report."""
    keys = [key for key in ODD_KEYS if not {"", ".", "..", "..."} & set(key.split("/"))]
    keys = [key for key in keys if key.endswith(".jpg") and not key.startswith(".")]
    fill(tmp_path, dict.fromkeys(keys, b""))
    assert sorted(keys) == tfstream("check", tmp_path, "--json").kinds["not an image (empty)"]
    assert "tab\\tin.jpg" in tfstream("check", f"{tmp_path}/tab\tin.jpg").out


@pytest.mark.parametrize("key", ["[red]x.jpg", "[/].jpg", "[link=https:a.b]c.jpg", ":smile:.jpg"])
def test_no_markup(tfstream, tmp_path, key):
    """A key is text: rich's markup in it means nothing."""
    fill(tmp_path, {key: b""})
    ran = tfstream("check", tmp_path)
    assert f"1  {key}" in ran.out


def test_no_control_characters(tfstream, tmp_path):
    """A key's control characters are shown as escapes, in the report and in errors."""
    fill(tmp_path, {"\x1b[31mred\x07.jpg": b"", "\u202egpj.exe.jpg": b""})
    out = tfstream("check", tmp_path).out
    assert r"1  \x1b[31mred\x07.jpg" in out.replace("  2  ", "  1  ")
    assert r"\u202egpj.exe.jpg" in out
    error = tfstream("check", tmp_path / "\x1b[31m").err
    assert r"\x1b[31m" in error
    assert "\x1b" not in out + error


def test_limit(tfstream, scans):
    """`--limit` checks the first objects by key; more than there are is all of them."""
    ran = tfstream("check", scans, "--limit", 3, "--json")
    assert (3, 3, True) == tuple(ran.report[name] for name in ("objects", "checked", "complete"))
    first = sorted(BAD)[:3]
    assert first == sorted(key for keys in ran.kinds.values() for key in keys)
    ran = tfstream("check", scans, "--limit", 1000, "--json")
    assert len(GOOD | BAD) == ran.report["checked"]


def test_max_pixels(tfstream, tmp_path):
    """`--max-pixels` is the decoder's: a larger image is bad, and the error has both numbers."""
    fill(tmp_path, {"a.png": encode(noise(10, 10), "PNG"), "b.png": encode(noise(10, 11), "PNG")})
    assert 0 == tfstream("check", tmp_path, "--max-pixels", 110).code
    ran = tfstream("check", tmp_path, "--max-pixels", 109, "--json")
    assert (1, {"PNG too large": ["b.png"]}) == (ran.code, ran.kinds)
    assert "11 x 10 pixels: more than max_pixels=109" in ran.out


def test_color_mode(tfstream, good):
    """`--color-mode` is the decoder's: TensorFlow gives a JPEG no alpha, so Pillow decodes it."""
    photo = good / "good/photo.jpg"
    paths = [
        tfstream("check", photo, *more, "--json").report["decode_paths"]
        for more in ([], ["--color-mode", "grayscale"], ["--color-mode", "rgba"])
    ]
    assert [{"jpeg": 1}, {"jpeg": 1}, {"pillow": 1}] == paths


def test_one_thread(tfstream, scans):
    """`--threads 1` finds the same."""
    ran = tfstream("check", scans, "--threads", 1, "--json")
    assert KINDS == ran.kinds


def test_a_hostile_size_needs_no_memory(tfstream, tmp_path):
    """A file of 70 bytes that claims 10,000 megapixels is named, not decoded."""
    fill(tmp_path, {"bomb.png": png_of_size(100_000, 100_000)})
    assert {"PNG too large": ["bomb.png"]} == tfstream("check", tmp_path, "--json").kinds
