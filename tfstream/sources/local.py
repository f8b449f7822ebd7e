"""
`LocalSource`: files in a folder.

A key is the path below the root, joined with `/`; names that are not UTF-8 keep their bytes
(`surrogateescape`). Listed are

* files, and links to files, as objects;
* folders without anything in them as `directory`, with a slash at the end;
* broken links, links to folders that are not followed, and links back to a folder above as
  `symlink`; pipes, sockets and devices as `other`: reading one could take for ever.

Links to folders are followed as `os.walk` and Keras do it: directly below the root always (a
class folder may be a link), deeper with `follow_links`. The order is that of the keys' bytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tfstream.errors import ObjectChangedError, ObjectNotFoundError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, ObjectInfo, Page, Source
from tfstream.sources.local_times import Times
from tfstream.sources.local_walk import Walk
from tfstream.sources.os_errors import os_error
from tfstream.sources.pattern import escape, has_wildcard, unescape

_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class LocalSource(Source):
    """
    A folder of this machine.

    Attributes:
        root: The folder; `~` is expanded and a relative path made absolute.
        follow_links: Whether links to folders are followed below the first level too.
    """

    name: ClassVar[str] = "local"
    portable: ClassVar[bool] = False
    remote: ClassVar[bool] = False

    root: str
    follow_links: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", str(Path(os.path.expanduser(self.root)).absolute()))

    def open(self, credentials: Credentials | None, options: ReadOptions) -> LocalStore:
        """Nothing to connect to."""
        return LocalStore(self)

    def url(self, path: str) -> str:
        """The absolute path."""
        return os.path.join(self.root, path)


def local_source(path: str, *, follow_links: bool = False) -> LocalSource:
    """
    The source for a folder, a file, or a pattern, as people write it.

    Each segment of which a file or folder exists is taken as it is, also where it has wildcard
    characters (a folder `a[1]`); the first other one with a wildcard begins the pattern.

    ```python
    local_source("~/photos/train")           # root ~/photos/train, everything in it
    local_source("photos/train/1.jpg")       # root photos/train, one file
    local_source("photos/train/**/*.jpg")    # root photos/train, pattern **/*.jpg
    ```
    """
    root, *rest = os.path.join(os.getcwd(), os.path.expanduser(path)).split("/")
    while rest and (_exists(root, rest[0]) or not has_wildcard(rest[0])):
        name = rest.pop(0)
        root = f"{root}/{name if _exists(root, name) else unescape(name)}"
    if rest:
        return LocalSource(root=root or "/", pattern="/".join(rest), follow_links=follow_links)
    if os.path.isfile(root):
        root, name = os.path.split(root)
        return LocalSource(root=root, pattern=escape(name), follow_links=follow_links)
    return LocalSource(root=root, follow_links=follow_links)


def with_other(source: LocalSource, other: str) -> tuple[LocalSource, str]:
    """
    The same files, and those that the path or pattern `other` names, below one root.

    Returns the source with its new root and pattern, and the pattern of the others.
    """
    second = local_source(other, follow_links=source.follow_links)
    root = os.path.commonpath([source.root, second.root])
    one, two = (_below(root, each) for each in (source, second))
    return LocalSource(root=root, pattern=one, follow_links=source.follow_links), two


def with_table(source: LocalSource, path: str) -> tuple[LocalSource, str]:
    """
    The same files, and the file `path`, below one root.

    Returns the source with its new root and pattern, and the key of the file: that of a file
    below the source's root, or else `path` is a path of its own.
    """
    if os.path.isfile(source.url(path)) and not os.path.isabs(path):
        return source, path
    file = os.path.join(os.getcwd(), os.path.expanduser(path))
    root = os.path.commonpath([source.root, os.path.dirname(file)])
    pattern = _below(root, source)
    key = os.path.relpath(file, root)
    return LocalSource(root=root, pattern=pattern, follow_links=source.follow_links), key


def _below(root: str, source: LocalSource) -> str:
    folder = os.path.relpath(source.root, root)
    return source.pattern if folder == "." else f"{escape(folder)}/{source.pattern}"


def _exists(folder: str, name: str) -> bool:
    return os.path.lexists(f"{folder}/{name}")


class LocalStore:
    """An open folder. It remembers when each file that it listed had last changed."""

    def __init__(self, source: LocalSource) -> None:
        self.source = source
        self._times = Times()

    def pin(self) -> LocalSource:
        """The same source: nothing in it moves."""
        return self.source

    def list_page(self, prefix: str, after: Any | None = None) -> Page:
        """Up to 1,000 files, in the order of their keys' bytes."""
        source = self.source
        walk = Walk(root=source.root, prefix=prefix, follow_links=source.follow_links)
        if after is None and not os.path.isdir(source.root):
            what = "not a folder" if os.path.exists(source.root) else "no such folder"
            raise ObjectNotFoundError(f"{what}: {source.root!r}; {self.near('')}")
        found, after = walk.page(after)
        self._times.remember(found)
        return Page([info for info, _ in found], after)

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The whole file, if it is still the one that was listed."""
        data = self._read(info, 0, info.size)
        if len(data) != info.size:
            raise self._changed(info, "it was written while it was read")
        return data

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """A part of it, under the same condition."""
        return self._read(info, start, length)

    def _read(self, info: ObjectInfo, start: int, length: int) -> bytes:
        url = self.source.url(info.path)
        try:
            with open(url, "rb", opener=_open_without_waiting) as file:
                if start:
                    file.seek(start)
                data = file.read(length)
                status = os.fstat(file.fileno())  # after reading, to see changes meanwhile
        except IsADirectoryError as error:
            raise self._changed(info, "it is a folder now") from error
        except OSError as error:
            raise os_error(error, url=url, path=info.path) from error
        if not stat.S_ISREG(status.st_mode):
            raise self._changed(info, "it is no regular file any more")
        if status.st_size != info.size:
            raise self._changed(info, f"it had {info.size:,} bytes and has {status.st_size:,} now")
        if not self._times.agree(info.path, status.st_mtime_ns):
            raise self._changed(info, "it was written again")
        return data

    def _changed(self, info: ObjectInfo, how: str) -> ObjectChangedError:
        return ObjectChangedError(
            f"{self.source.url(info.path)} is not the file that was listed: {how}; make the "
            "dataset again to read what is there now",
            path=info.path,
        )

    def notices(self, prefix: str) -> Sequence[str]:
        """None."""
        return ()

    def near(self, path: str) -> str:
        """The first names in the deepest folder above `path` that exists."""
        folder = self.source.url(path)
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return ""  # an error is being told already: this is only an addition to it
        if not names:
            return f"{folder!r} is empty"
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        return f"in {folder!r} there are: {', '.join(map(repr, names[:_SHOWN]))}{more}"

    def close(self) -> None:
        """Nothing to drop."""


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe that has taken a file's place opens at once instead of waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
