"""
Indexes of archives, kept on this machine: so that each archive is read for its index once.

```
~/.cache/tfstream/index/3f/3f2a….npz      one file an archive, 40 to 60 bytes a record
```

A file is named by all that it depends on: reader, fields, key, size and change token. One that
cannot be read, or cannot be written, is as none. `TFSTREAM_CACHE` names another folder for
`~/.cache/tfstream`; empty, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from tfstream.fetch.columns import Texts, encoded
from tfstream.jsonable import to_plain
from tfstream.readers.base import ArchiveReader, Fields, Packed
from tfstream.sources.base import ObjectInfo, Source

FOLDER = "TFSTREAM_CACHE"
_FORMAT = "tfstream.index.1"
_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""What a file that is no index raises."""


class IndexCache:
    """The kept indexes of a reader, for some fields."""

    def __init__(self, source: Source, reader: ArchiveReader, fields: Fields) -> None:
        self._about = json.dumps([_FORMAT, source.name, to_plain(reader), fields])
        self._folder = _folder()

    def get(self, info: ObjectInfo) -> list[Packed] | None:
        """The index of an archive; None where there is none."""
        path = self._path(info)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                return _loaded(file)
        except _BROKEN:
            return None

    def put(self, info: ObjectInfo, index: Sequence[Packed]) -> None:
        """Keep it. A full disk or a folder without permission changes nothing."""
        path = self._path(info)
        if path is None:
            return
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    _save(file, index)
                os.replace(name, path)  # whole, or not at all
            except BaseException:
                os.unlink(name)
                raise

    def _path(self, info: ObjectInfo) -> Path | None:
        """None also where the token is no more than the size: then it says too little."""
        if self._folder is None or info.token in ("", str(info.size)):
            return None
        parts = [self._about, info.path, info.token, str(info.size)]
        name = hashlib.sha256(encoded("\n".join(parts))).hexdigest()
        return self._folder / name[:2] / f"{name}.npz"


def _folder() -> Path | None:
    given = os.environ.get(FOLDER)
    if given == "":
        return None
    return Path(given or "~/.cache/tfstream").expanduser() / "index"


def _save(file: IO[bytes], index: Sequence[Packed]) -> None:
    names = Texts.of(encoded(each.name) for each in index)
    numbers = [[each.start, each.size, each.extra] for each in index]
    labels = json.dumps([each.label for each in index]).encode()
    np.savez(
        file,
        names=np.frombuffer(names.buffer, np.uint8),
        ends=names.ends,
        numbers=np.array(numbers, np.int64).reshape(-1, 3),
        labels=np.frombuffer(labels, np.uint8),
    )


def _loaded(file: IO[bytes]) -> list[Packed]:
    with np.load(file, allow_pickle=False) as columns:
        names = Texts(columns["names"].tobytes(), columns["ends"])
        numbers = columns["numbers"].tolist()
        labels = json.loads(columns["labels"].tobytes())
    parts = zip(names, numbers, labels, strict=True)
    return [Packed(name, start, size, extra, label) for name, (start, size, extra), label in parts]
