"""`ZipReader`: what a zip holds, whatever wrote it; what it refuses."""

import io
import struct
import zipfile

import pytest

from tfstream.errors import ShardError
from tfstream.readers.base import Fields
from tfstream.readers.zip import ZipReader
from tfstream.testing.readers import ArchiveTests


def zipped(records, method=zipfile.ZIP_STORED, *, out=None):
    """A zip of these records."""
    file = out or io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return file.getvalue()


class _Stream(io.RawIOBase):
    """A file that cannot seek, so that sizes follow the data."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, part):
        self.data += part
        return len(part)

    def getvalue(self):
        return bytes(self.data)


class TestStored(ArchiveTests):
    """As they are."""

    reader = ZipReader()

    def archive(self, records):
        return zipped(records)


class TestDeflated(TestStored):
    """Compressed."""

    def archive(self, records):
        return zipped(records, zipfile.ZIP_DEFLATED)


class TestStreamed(TestStored):
    """Written where sizes were not known before: data descriptors."""

    def archive(self, records):
        return zipped(records, zipfile.ZIP_DEFLATED, out=_Stream())


class TestZip64(TestStored):
    """With the fields for large archives."""

    def archive(self, records):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in records.items():
                with archive.open(name, "w", force_zip64=True) as member:
                    member.write(data)
        return file.getvalue()


def index(data):
    """What the reader finds."""
    return list(ZipReader().index(io.BytesIO(data), "a.zip", Fields()))


def test_folders_are_no_records():
    """Entries for folders hold nothing."""
    assert ["a/x.jpg"] == [each.name for each in index(zipped({"a/": b"", "a/x.jpg": b"1"}))]


def test_an_encrypted_member_is_named():
    """There is no password to read it by."""
    data = bytearray(zipped({"x.jpg": b"1"}))
    directory = data.index(b"PK\1\2")
    data[directory + 8] |= 1
    with pytest.raises(ShardError, match=r"'x\.jpg' is encrypted"):
        index(bytes(data))


def test_other_compressions_are_named():
    """LZMA and the like are not read."""
    with pytest.raises(ShardError, match="compression method 14"):
        index(zipped({"x.jpg": b"1"}, zipfile.ZIP_LZMA))


def test_a_member_that_unpacks_to_more_than_it_says():
    """A bomb is stopped at the size that the directory says."""
    data = bytearray(zipped({"x.jpg": bytes(1 << 20)}, zipfile.ZIP_DEFLATED))
    directory = data.index(b"PK\1\2")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)
    (packed,) = index(bytes(data))
    with pytest.raises(ShardError, match="broken zip member: 11 of 10 bytes"):
        ZipReader().unpack(data[packed.start :][: packed.size], packed.extra, "a.zip/x.jpg")


def test_what_stands_before_the_archive():
    """A program in front of it, as self-extracting archives have."""
    (packed,) = index(b"#!/bin/sh\n" * 50 + zipped({"x.jpg": b"data"}))
    assert packed.start == 500
