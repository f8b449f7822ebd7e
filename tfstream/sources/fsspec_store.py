"""
The open filesystem: our own walk over its folders, and reading.

fsspec's `find`, `walk` and `glob` leave out a folder that cannot be listed; here each error is
raised. A page ends after 1,000 objects; `after` is where the walk stands, and does not change.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from tfstream.errors import ObjectChangedError, ObjectNotFoundError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, ObjectInfo, Page, TransientError
from tfstream.sources.fsspec_connection import Connection
from tfstream.sources.fsspec_http import child, is_page, link_of
from tfstream.sources.nearby import keys_near
from tfstream.sources.pattern import has_wildcard, unescape

if TYPE_CHECKING:
    from tfstream.sources.fsspec import FsspecSource

_PAGE_OBJECTS = 1000
_SIZES_AT_ONCE = 16
"""HTTP tells sizes one by one."""
_DEEPEST = 100
"""Folders in folders: more is a server that answers every path with the same page."""
_UNKNOWN = -1
_TOKENS = (
    "ETag",
    "etag",
    "e_tag",
    "md5Hash",
    "md5",
    "content_md5",
    "Content-MD5",
    "checksum",
    "sha256",
    "sha",
    "crc32c",
    "CRC",
)
"""What filesystems call a change token, the best first."""
_KINDS: Mapping[str, Any] = {"file": "object", "directory": "directory", "link": "symlink"}


class _Entry(NamedTuple):
    """What a folder has: the object, or a folder (its key ends with a slash)."""

    info: ObjectInfo
    path: str
    """As the filesystem names it."""


class _Level(NamedTuple):
    """A folder on the way: what is in it, and the index of what is next."""

    entries: Sequence[_Entry]
    at: int


class FsspecStore:
    """An open filesystem. Built by `FsspecSource.open`."""

    def __init__(
        self, source: FsspecSource, credentials: Credentials | None, options: ReadOptions
    ) -> None:
        self.source = source
        self._connection = Connection(source.root, credentials, options)

    def pin(self) -> FsspecSource:
        """The same source: nothing in it moves."""
        return self.source

    def list_page(self, prefix: str, after: Any | None = None) -> Page:
        """
        Up to 1,000 objects in the order of the keys' bytes.

        Where the source's pattern is exactly `prefix` and an object has that name, it is the
        only one: a web server may give a file without listing its folder.
        """
        if after is None:
            single = self._single(prefix)
            if single is not None:
                return Page([single], None)
        way = list(after) if after is not None else self._start(prefix)
        found: list[_Entry] = []
        while way and len(found) < _PAGE_OBJECTS:
            level = way.pop()
            if level.at == len(level.entries):
                continue
            way.append(level._replace(at=level.at + 1))
            entry = level.entries[level.at]
            key, kind = entry.info.path, entry.info.kind
            if kind != "directory":
                found += [entry] if key.startswith(prefix) else []
            elif key.startswith(prefix) or prefix.startswith(key):
                entries = self._entries(key, entry.path)
                way.append(_Level(entries, 0))
                found += [entry] if not entries and key.startswith(prefix) else []
        return Page(self._with_sizes(found), tuple(way) or None)

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The whole object."""
        data = bytes(self._call("cat_file", info.path))
        if len(data) != info.size:
            raise self._why(info, len(data))
        return data

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """A part of it; also from a server that knows no ranges and sends all."""
        end = min(start + length, info.size)
        if start >= end:
            return b""
        data = bytes(self._call("cat_file", info.path, start=start, end=end))
        if len(data) == info.size:
            return data[start:end]
        if len(data) != end - start:
            raise self._why(info, len(data))
        return data

    def notices(self, prefix: str) -> Sequence[str]:
        """None."""
        return ()

    def near(self, path: str) -> str:
        """The first names in the deepest folder above `path` that exists."""

        def names(folder: str) -> list[str]:
            try:
                return [entry.info.path for entry in self._entries(folder)]
            except ObjectNotFoundError:
                return []

        try:
            return keys_near(names, path)
        except (SourceError, TransientError):
            return ""  # an error is being told already: this is only an addition to it

    def close(self) -> None:
        """Drop the connections."""
        self._connection.close()

    def _call(self, method: str, key: str, **arguments: Any) -> Any:
        return self._connection.call(method, key, url=self.source.url(key), **arguments)

    def _single(self, key: str) -> ObjectInfo | None:
        """The object of that key, if the pattern names only it and there is one."""
        pattern = self.source.pattern
        if not key or key.endswith("/") or has_wildcard(pattern) or unescape(pattern) != key:
            return None
        try:
            info = self._call("info", key, fresh=True)
        except ObjectNotFoundError:
            return None
        if info.get("type") != "file" or (self._connection.http and is_page(info, key)):
            return None
        return self._sized(_object(key, info))

    def _start(self, prefix: str) -> list[_Level]:
        """The folder that the prefix is in; nothing where that does not exist, but the root."""
        folder = prefix[: prefix.rfind("/") + 1]
        if {"", ".", ".."} & set(folder.split("/")[:-1]):
            return []  # no filesystem lists such names, and each would read them as others
        try:
            return [_Level(self._entries(folder), 0)]
        except ObjectNotFoundError as error:
            if not folder:
                also = f", nor is there {self.source.url(prefix)}" if prefix else ""
                raise ObjectNotFoundError(f"{error}{also}") from None
            self._entries("")
            return []

    def _entries(self, folder: str, path: str | None = None) -> list[_Entry]:
        """What is in a folder, in the order of the keys' bytes."""
        if folder.count("/") > _DEEPEST:
            raise SourceError(f"more than {_DEEPEST} folders in each other: {folder}", path=folder)
        infos = self._call("ls", folder, path=path, fresh=True, detail=True)
        above = path if path is not None else self._connection.path(folder)
        entries = [entry for info in infos for entry in self._entry(info, folder, above)]
        return sorted(entries, key=lambda entry: os.fsencode(entry.info.path))

    def _entry(self, info: Mapping[str, Any], folder: str, above: str) -> Sequence[_Entry]:
        """One line of a listing; nothing for the folder itself and for links elsewhere."""
        http = self._connection.http
        path = link_of(info["name"], above) if http else str(info["name"])
        kind = _KINDS.get(info.get("type", ""), "other")
        start = above.strip("/") + "/" if above.strip("/") else ""
        below = path.lstrip("/")
        if below in (start, start[:-1]):
            if kind == "object" and not folder:
                raise ObjectNotFoundError(f"an object, not a folder: {self.source.url('')}")
            return ()
        rest = below.removeprefix(start)
        name = child(rest) if http else rest.rstrip("/")
        if name is None:
            return ()
        if not below.startswith(start) or not name or "/" in name[:-1]:
            raise SourceError(f"the listing of {self.source.url(folder)} has {path!r}", path=folder)
        key = folder + name
        if kind == "object":
            return (_Entry(_object(key, info), path),)
        key = key.rstrip("/") + ("/" if kind == "directory" else "")
        return (_Entry(ObjectInfo(key, 0, "", kind), path),)

    def _with_sizes(self, entries: Sequence[_Entry]) -> list[ObjectInfo]:
        """The objects, after asking for the sizes that the listing did not tell."""
        if all(entry.info.size != _UNKNOWN for entry in entries):
            return [entry.info for entry in entries]

        def ask(entry: _Entry) -> ObjectInfo | None:
            key = entry.info.path
            if entry.info.size != _UNKNOWN:
                return entry.info
            info = self._call("info", key, path=entry.path)
            if self._connection.http and is_page(info, key):
                return None
            return self._sized(_object(key, info))

        with ThreadPoolExecutor(_SIZES_AT_ONCE) as threads:
            return [info for info in threads.map(ask, entries) if info is not None]

    def _sized(self, info: ObjectInfo) -> ObjectInfo:
        if info.size == _UNKNOWN:
            url = self.source.url(info.path)
            raise SourceError(f"the server does not tell the size: {url}", path=info.path)
        return info

    def _why(self, info: ObjectInfo, got: int) -> Exception:
        """What it means that another number of bytes came than was listed."""
        url = self.source.url(info.path)
        now = _object(info.path, self._call("info", info.path, fresh=True))
        if (now.size, now.token) == (info.size, info.token):
            return TransientError(f"{got} of {info.size} bytes: {url}", kind="cut body")
        return ObjectChangedError(
            f"{url} is not the object that was listed: it had {info.size:,} bytes and has "
            f"{now.size:,} now; make the dataset again to read what is there now",
            path=info.path,
        )


def _object(key: str, info: Mapping[str, Any]) -> ObjectInfo:
    size = info.get("size")
    size = _UNKNOWN if size is None else int(size)
    token = next((str(info[name]).strip('"') for name in _TOKENS if info.get(name)), str(size))
    return ObjectInfo(key, size, token)
