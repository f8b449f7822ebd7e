"""
The listing of a folder, in pages and in the order of the keys' bytes.

`after` is where the walk stands: the folders from the root down to the present one, each with
the names in it and the index of the next. It does not change, so a page can
be asked for again. Nothing that fails is left out: every error is raised.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tfstream.sources.base import ObjectInfo
from tfstream.sources.os_errors import os_error

PAGE_OBJECTS = 1000

Found = tuple[ObjectInfo, int]
"""An object and the nanosecond of its last change."""


class Folder(NamedTuple):
    """
    A folder on the way.

    Fields:
        key: Its path below the root with a slash at the end; empty for the root.
        names: What is in it, in order; folders to enter end with a slash.
        at: The index of the next name.
        above: (device, inode) of this folder and of all above it, to see a link back.
    """

    key: str
    names: Sequence[str]
    at: int
    above: frozenset[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Walk:
    """
    The keys below `root` that start with the text `prefix`.

    Attributes:
        follow_links: Also enter links to folders that are not directly in the root.
    """

    root: str
    prefix: str
    follow_links: bool

    def page(self, after: Sequence[Folder] | None) -> tuple[list[Found], Sequence[Folder] | None]:
        """Up to 1,000 objects, and what to pass for more."""
        way = list(after) if after is not None else [self._read("", frozenset())]
        found: list[Found] = []
        while way and len(found) < PAGE_OBJECTS:
            folder = way.pop()
            if folder.at == len(folder.names):
                continue
            way.append(folder._replace(at=folder.at + 1))
            key = folder.key + folder.names[folder.at]
            try:
                if not key.endswith("/"):
                    found.extend(self._look(key))
                elif key.startswith(self.prefix) or self.prefix.startswith(key):
                    way.append(self._read(key, folder.above))
                    found.extend(self._if_empty(way[-1]))
            except FileNotFoundError:
                continue  # removed since its folder was read: it is not there
        return found, tuple(way) or None

    def _read(self, key: str, above: frozenset[tuple[int, int]]) -> Folder:
        path = os.path.join(self.root, key)
        try:
            status = os.stat(path)
            here = above | {(status.st_dev, status.st_ino)}
            with os.scandir(path) as entries:
                names = [self._name(entry, key, here) for entry in entries]
        except OSError as error:
            raise os_error(error, url=path, path=key) from error
        return Folder(key, sorted(names, key=os.fsencode), 0, here)

    def _name(self, entry: os.DirEntry[str], key: str, above: frozenset[tuple[int, int]]) -> str:
        if entry.is_dir(follow_symlinks=False):
            return f"{entry.name}/"
        if entry.is_symlink() and (self.follow_links or not key):
            target = _status(entry.path)
            if target is not None and stat.S_ISDIR(target.st_mode):
                back = (target.st_dev, target.st_ino) in above
                return entry.name if back else f"{entry.name}/"
        return entry.name

    def _look(self, key: str) -> Sequence[Found]:
        """The object of that key, if it is wanted."""
        if not key.startswith(self.prefix):
            return ()
        path = os.path.join(self.root, key)
        try:
            status = _status(path) or os.lstat(path)
        except OSError as error:
            raise os_error(error, url=path, path=key) from error
        if stat.S_ISREG(status.st_mode):
            info = ObjectInfo(key, status.st_size, str(status.st_size))
            return ((info, status.st_mtime_ns),)
        linked = stat.S_ISLNK(status.st_mode) or stat.S_ISDIR(status.st_mode)
        return ((ObjectInfo(key, 0, "", "symlink" if linked else "other"), 0),)

    def _if_empty(self, folder: Folder) -> Sequence[Found]:
        if folder.names or not folder.key.startswith(self.prefix):
            return ()
        return ((ObjectInfo(folder.key, 0, "", "directory"), 0),)


def _status(path: str) -> os.stat_result | None:
    """Of the file that a link points to; None where it points to nothing, or to itself."""
    try:
        return os.stat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
