"""
Listing by obstore, whose prefixes are folders and whose keys are not always the store's.

```
store has                              obstore lists           a user gets
a//b  ./a  a/..  control characters    nothing: it fails       SourceError that names the key
a/  without content                    a                       a directory marker, told by HEAD
a/ or /a  with content                 a                       not found, when it is read
```
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfstream.errors import ObjectNotFoundError, SourceError
from tfstream.sources.base import ObjectInfo, Page
from tfstream.sources.obstore_client import obstore_package
from tfstream.sources.obstore_errors import addressable, classify
from tfstream.sources.obstore_read import plain_etag

_PAGE_OBJECTS = 1000
_Metas = Sequence[dict[str, Any]]


@dataclass
class _Cursor:
    """
    Where a listing is.

    Attributes:
        stream: Gives what follows. Taken out when used: for a page that failed or is asked for
            again there is a new one, and `pages` that end with `last` are passed over. Not by
            an offset: emulators ignore it, and with Azure obstore itself lists from the start.
        exact: The key that the first page began with, out of order.
        empty: Keys without content so far: the second of a name is its directory marker.
    """

    stream: Iterator[_Metas] | None = field(default=None, repr=False)
    pages: int = 0
    last: str | None = None
    exact: str | None = None
    empty: frozenset[str] = frozenset()


class Lister:
    """
    Lists one bucket or container.

    `url` makes an address for messages; `needs_list` and `needs_get` name permissions.
    """

    def __init__(
        self, store: Any, url: Callable[[str], str], *, needs_list: str, needs_get: str
    ) -> None:
        self._store, self._url = store, url
        self._needs_list, self._needs_get = needs_list, needs_get
        self._obstore = obstore_package()

    def page(self, prefix: str, after: _Cursor | None) -> Page:
        """At most 1,000 objects and, first, the one named exactly `prefix`."""
        head = self._head(prefix) if after is None and addressable(prefix) else None
        cursor = after or _Cursor(exact=head["path"] if head else None)
        chunk, stream = self._next(_folder(prefix), cursor)
        infos, empty = [_info(head)] if head else [], set(cursor.empty)
        for meta in chunk:
            info = self._told_apart(meta, _folder(prefix), empty)
            if info.path.startswith(prefix) and info.path != cursor.exact:
                infos.append(info)
            if info.size == 0:
                empty.add(meta["path"])
        if len(chunk) < _PAGE_OBJECTS:  # all but the last are full
            return Page(infos, None)
        last = chunk[-1]["path"]
        return Page(infos, _Cursor(stream, cursor.pages + 1, last, cursor.exact, frozenset(empty)))

    def first_keys(self, folder: str, count: int) -> list[str]:
        """Some keys in a folder, an empty text for the root."""
        chunk, _ = self._next(_folder(folder), _Cursor())
        return [meta["path"] for meta in chunk[:count]]

    def _next(self, folder: str, cursor: _Cursor) -> tuple[_Metas, Iterator[_Metas]]:
        stream, cursor.stream = cursor.stream, None
        obstore = self._obstore
        try:
            if stream is None:
                stream = self._reopened(folder, cursor)
            return next(stream, ()), stream
        except SourceError:
            raise
        except obstore.exceptions.InvalidPathError as error:
            raise SourceError(
                f"{self._url(folder)} holds a key that obstore cannot read: {_first_line(error)}; "
                "rename that object or choose a pattern that begins with another folder"
            ) from None
        except (obstore.exceptions.BaseError, OSError) as error:
            reason = classify(error, url=self._url(folder), needs=self._needs_list)
            if isinstance(reason, ObjectNotFoundError):
                reason = ObjectNotFoundError(f"there is no {self._url('')}")
            raise reason from None

    def _reopened(self, folder: str, cursor: _Cursor) -> Iterator[_Metas]:
        found = self._obstore.list(self._store, folder or None, chunk_size=_PAGE_OBJECTS)
        stream: Iterator[_Metas] = iter(found)
        passed: _Metas = ()
        for _ in range(cursor.pages):
            passed = next(stream, ())
        if cursor.last is not None and (not passed or passed[-1]["path"] != cursor.last):
            raise SourceError(f"{self._url(folder)} changed while it was listed: list it again")
        return stream

    def _head(self, path: str) -> dict[str, Any] | None:
        """What is known of one object, or None where there is none."""
        try:
            found: dict[str, Any] = self._obstore.head(self._store, path)
        except FileNotFoundError:
            return None
        except (self._obstore.exceptions.BaseError, OSError) as error:
            url = self._url(path)
            raise classify(error, url=url, path=path, needs=self._needs_get) from None
        return found

    def _told_apart(self, meta: dict[str, Any], folder: str, empty: Container[str]) -> ObjectInfo:
        """The listed object, or the directory marker that obstore lists without its slash."""
        info = _info(meta)
        if info.size > 0:
            return info
        if info.path == folder or info.path in empty or self._head(info.path) is None:
            return info._replace(path=f"{info.path}/", kind="directory")
        return info


def _info(meta: dict[str, Any]) -> ObjectInfo:
    return ObjectInfo(meta["path"], meta["size"], plain_etag(meta["e_tag"]))


def _folder(prefix: str) -> str:
    """The deepest folder around all keys with this prefix that obstore can list."""
    folder = prefix.rpartition("/")[0]
    while folder and not addressable(folder):
        folder = folder.rpartition("/")[0]
    return folder


def _first_line(error: Exception) -> str:
    return str(error).partition("\n\nDebug source:")[0]
