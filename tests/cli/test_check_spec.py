"""`tfstream check` of what is more than single images: specs, masks and shards."""

from __future__ import annotations

import gzip
import struct

import pytest
from scans import GOOD, PHOTO, fill

import tfstream as package
from tfstream.decoders.base import Decoder
from tfstream.graph.checking import check
from tfstream.testing.images import encode, noise


def idx(values: bytes) -> bytes:
    """A gzip'd IDX file of images of 2 x 2."""
    return gzip.compress(struct.pack(">HBB3I", 0, 8, 3, len(values) // 4, 2, 2) + values)


def test_shards(tfstream, tmp_path):
    """Each IDX shard is unpacked: one that is cut is bad, with the offset where it ends."""
    whole = idx(bytes(range(200)) * 4)
    fill(tmp_path, {"a-images-idx3-ubyte.gz": whole, "b-images-idx3-ubyte.gz": whole[:-9]})
    ran = tfstream("check", tmp_path, "--json")
    assert (1, {"broken shard": ["b-images-idx3-ubyte.gz"]}) == (ran.code, ran.kinds)
    assert {"raw": 1} == ran.report["decode_paths"]


def test_a_spec(tfstream, tmp_path):
    """A spec's JSON file is checked with the spec's own decoder."""
    folder = fill(tmp_path / "data", GOOD)
    decoder = package.ImageDecoder(max_pixels=1000)
    spec = package.from_url(folder, labels=None, decoder=decoder, verbose=False).spec
    file = tmp_path / "spec.json"
    file.write_text(spec.to_json())
    ran = tfstream("check", file, "--json")
    large = [key for keys in ran.kinds.values() for key in keys]
    assert {"good/photo.jpg", "good/drawing.png"} <= set(large)
    assert all(kind.endswith(" too large") for kind in ran.kinds)
    assert len(GOOD) == ran.report["objects"]


def test_a_spec_of_something_else(tfstream, tmp_path):
    """A listing that is not the spec's, a file that is no spec, and a second decoder: code 2."""
    folder = fill(tmp_path / "data", GOOD)
    file = tmp_path / "spec.json"
    file.write_text(package.from_url(folder, labels=None, verbose=False).spec.to_json())
    assert (2, "") == tfstream("check", file, "--max-pixels", 9)[:2]
    assert (
        "leave out --color-mode and --max-pixels" in tfstream("check", file, "--max-pixels", 9).err
    )
    fill(folder, {"more.jpg": PHOTO})
    assert "are not those that were pinned" in tfstream("check", file).err
    file.write_text("{}")
    assert f"{file}: $.tfstream: expected the version" in tfstream("check", file).err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"[1]", ""),
        (b'{"tfstream": 999}', ""),
        (b"\xff\xfe{}", "can't decode byte 0xff"),
    ],
)
def test_a_file_without_a_spec_is_named(tfstream, tmp_path, data, words):
    """2, and one line with the file's name, whatever is wrong with what it has."""
    file = tmp_path / "spec.json"
    file.write_bytes(data)
    ran = tfstream("check", file)
    assert (2, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert ran.err.startswith(f"tfstream: {file}: ")
    assert words in ran.err


def test_masks(tfstream, tmp_path):
    """A spec's masks are checked as well: each object is good or bad by itself."""
    image, small = encode(noise(8, 8), "PNG"), encode(noise(4, 4)[..., 0], "PNG")
    values = encode(noise(8, 8)[..., 0], "PNG")
    files = {f"images/{name}.png": image for name in ("a", "b", "c", "d")}
    files |= {"masks/a.png": values, "masks/b.png": small, "masks/c.png": image}
    folder = fill(tmp_path, {**files, "images/d.png": image[:60], "masks/d.png": values})
    labels = package.ImageLabels(f"{folder}/masks/*.png")
    spec = package.from_url(f"{folder}/images/*.png", labels=labels, verbose=False).spec
    file = tmp_path / "spec.json"
    file.write_text(spec.to_json())
    ran = tfstream("check", file, "--json")
    assert {
        "mask of another size": ["masks/b.png"],
        "mask of colours": ["masks/c.png"],
        "truncated PNG": ["images/d.png"],
    } == ran.kinds
    assert (8, 5) == (ran.report["objects"], ran.report["good"])


def test_labels_in_shards(tfstream, tmp_path):
    """A spec's shards of labels are checked beside those of the images."""
    labels = gzip.compress(struct.pack(">HBBI", 0, 8, 1, 3) + bytes(3))
    fill(tmp_path, {"a-images-idx3-ubyte.gz": idx(bytes(12)), "a-labels-idx1-ubyte.gz": labels})
    file = tmp_path / "spec.json"
    file.write_text(package.from_url(tmp_path, verbose=False).spec.to_json())
    ran = tfstream("check", file, "--json")
    assert (0, {"raw": 2}) == (ran.code, ran.report["decode_paths"])


def test_a_decoder_of_another_kind():
    """A registered decoder that is no tfstream's is an error: no dataset could use it."""
    with pytest.raises(package.SpecError, match="neither an ImageDecoder nor a RawDecoder"):
        check([], None, None, Decoder())
