"""Archives of the pictures of `places.classes`, made by each format's own library."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile

import google_crc32c


def zipped(files, method=zipfile.ZIP_DEFLATED):
    """A zip."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(files):
    """A tar."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def _masked(data):
    total = google_crc32c.value(data)
    return ((total >> 15 | total << 17) + 0xA282EAD8) & 0xFFFFFFFF


def recorded(records):
    """A TFRecord file."""
    parts = []
    for data in records:
        length = struct.pack("<Q", len(data))
        parts += [length, struct.pack("<I", _masked(length)), data]
        parts.append(struct.pack("<I", _masked(data)))
    return b"".join(parts)


FORMATS = {"zip": zipped, "tar": tarred, "tfrecord": lambda files: recorded(files.values())}


def shards(files, form, count=2, folder="shards"):
    """Files shared out over so many archives: `shards/0.zip` and so on."""
    names = list(files)
    return {
        f"{folder}/{number}.{form}": FORMATS[form](
            {name.partition("/")[2]: files[name] for name in names[number::count]}
        )
        for number in range(count)
    }
