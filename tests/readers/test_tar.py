"""`TarReader`: what a tar holds, whatever wrote it; records of several fields; what it refuses."""

import io
import json
import tarfile

import pytest

from tfstream.errors import ShardError
from tfstream.readers.base import Fields
from tfstream.readers.tar import TarReader
from tfstream.testing.readers import ArchiveTests


def tarred(records, form=tarfile.PAX_FORMAT):
    """A tar of these records."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, data in records.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def index(data, **fields):
    """What the reader finds."""
    return list(TarReader().index(io.BytesIO(data), "a.tar", Fields(**fields)))


class TestPax(ArchiveTests):
    """POSIX 2001, with names of any length."""

    reader = TarReader()
    form = tarfile.PAX_FORMAT

    def archive(self, records):
        return tarred(records, self.form)

    def may_change(self, records, found):
        """A tar has no sums of its data: one byte of it may differ, but none is lost."""
        return sorted(map(len, records.values())) == sorted(map(len, found.values()))


class TestGnu(TestPax):
    """GNU tar, with members of their own for long names."""

    form = tarfile.GNU_FORMAT


def test_webdataset_groups():
    """Members of one base name are one record; the label is another member's text."""
    data = tarred(
        {"a/x.jpg": b"1", "a/x.cls": b"3\n", "a/y.cls": b"0", "a/y.jpg": b"2", "a/z.v2.jpg": b"3"}
    )
    found = index(data, label="cls")
    assert ["a/x.jpg", "a/y.jpg", "a/z.v2.jpg"] == [each.name for each in found]
    assert [3, 0, None] == [each.label for each in found]
    assert [b"1", b"2", b"3"] == [data[each.start :][: each.size] for each in found]


def test_a_label_in_json():
    """`json.label` is a value of the object in the `json` member."""
    meta = json.dumps({"label": ["a", "b"], "width": 3}).encode()
    (found,) = index(tarred({"x.jpg": b"1", "x.json": meta}), label="json.label")
    assert found.label == ["a", "b"]


def test_which_image():
    """Where a record has two images, the field says which is decoded."""
    data = tarred({"x.jpg": b"photo", "x.seg.png": b"mask"})
    (found,) = index(data, image="seg.png")
    assert data[found.start :][: found.size] == b"mask"
    with pytest.raises(ShardError, match=r"2 images: pass decoder=ImageDecoder\(field='jpg'\)"):
        index(data)
    with pytest.raises(ShardError, match=r"no field 'webp': \['jpg', 'seg.png'\]"):
        index(data, image="webp")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("x.jpg", "y.jpg", "x.cls"), "'x' do not lie side by side"),
        (("x.jpg", "x.JPG"), "two members are the same field of one record: 'x.jpg', 'x.JPG'"),
    ],
)
def test_scattered_or_double_members(names, text):
    """A record's members lie side by side, each once."""
    with pytest.raises(ShardError, match=text):
        index(tarred(dict.fromkeys(names, b"1")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_no_file(kind):
    """Links and devices have no bytes to decode."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("x.jpg")
        info.type = kind
        info.linkname = "" if kind == tarfile.FIFOTYPE else "y.jpg"
        archive.addfile(info)
    with pytest.raises(ShardError, match=r"'x\.jpg' is (a link|no file): pack files as they are"):
        index(file.getvalue())


def test_two_archives_in_one_file():
    """What stands behind the end would be lost, so it is an error."""
    with pytest.raises(ShardError, match="more behind its end"):
        index(tarred({"x.jpg": b"1"}) + tarred({"y.jpg": b"2"}))


def test_a_broken_header_in_the_middle():
    """`tarfile` itself would end there, without an error."""
    data = bytearray(tarred({"x.jpg": b"1", "y.jpg": b"2"}, tarfile.GNU_FORMAT))
    data[1024 + 150] ^= 1
    with tarfile.open(fileobj=io.BytesIO(bytes(data))) as archive:
        assert len(archive.getmembers()) == 1
    with pytest.raises(ShardError, match="a broken header"):
        index(bytes(data))
