"""
`FsspecSource`: any URL that fsspec knows, and a user's own fsspec filesystem.

```python
FsspecSource(root="memory://photos/train")                      open it with credentials=None
FsspecSource(root="sftp://host/photos", pattern="**/*.jpg")     {"username": …, "password": …}
FsspecSource(root="zip://train::https://host/photos.zip")       {"https": {"headers": {…}}}
FsspecSource(root="mine://photos")                              {"filesystem": a filesystem}
```

A key is the path below the URL. Over HTTP it is percent-decoded: `a%20b.jpg` in a page is the
key `a b.jpg`, and is encoded again when it is read. What is a query there (`?C=N`) is no key.

The credentials are the filesystem's own options (fsspec's `storage_options`). A URL holds no
password and no query, since it stands in the spec: `credentials={"params": {...}}` has those
of HTTP.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote

from tfstream.errors import SpecError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, Source
from tfstream.sources.fsspec_connection import protocols
from tfstream.sources.fsspec_http import encoded, is_http
from tfstream.sources.fsspec_store import FsspecStore
from tfstream.sources.pattern import escape, has_wildcard, unescape

_HERE = frozenset({"asynclocal", "data", "dir", "file", "local", "memory"})
"""Protocols of what is only on this machine, or only in this process."""
_ON_TOP = frozenset({"blockcache", "cached", "filecache", "simplecache"})
"""Protocols whose path is that of the URL after them: `simplecache::https://host/path`."""
_NO_HOST = frozenset({"libarchive", "memory", "reference", "tar", "zip"})
"""Protocols whose URL begins with the path."""
_NO_PASSWORD = frozenset({"git", "github", "hf"})
"""Protocols where `:` and `@` stand for something else: `github://owner:repository@branch`."""

_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


@dataclass(frozen=True, kw_only=True)
class FsspecSource(Source):
    """
    A folder of any filesystem.

    Attributes:
        root: The folder's URL, perhaps chained (`zip://…::https://…`). No pattern is in it.
    """

    name: ClassVar[str] = "fsspec"

    root: str

    def __post_init__(self) -> None:
        for part in self.root.split("::"):
            _check(part)

    @property
    def portable(self) -> bool:  # type: ignore[override]  # here it depends on the URL
        """False for local files, `memory://`, and protocols that only this process knows."""
        from fsspec import available_protocols

        return set(protocols(self.root)) <= set(available_protocols()) - _HERE

    def open(self, credentials: Credentials | None, options: ReadOptions) -> FsspecStore:
        """
        Nothing is sent yet. `credentials` are the filesystem's options, or `{"filesystem": …}`.

        Errors:
            MissingDependencyError: the protocol's package is not installed.
            SpecError: fsspec does not know the protocol.
        """
        return FsspecStore(self, credentials, options)

    def url(self, path: str) -> str:
        """The object's URL."""
        before, place, after = _place(self.root)
        slash = "/" if path and not place.endswith("/") else ""
        key = encoded(path) if is_http(place) else path
        return f"{before}{place}{slash}{key}{after}"


def fsspec_source(url: str) -> FsspecSource:
    """
    The source for a URL as people write it, with a pattern or without.

    ```python
    fsspec_source("memory://photos/train/**/*.jpg")   # root memory://photos/train
    fsspec_source("https://host/photos/train/")       # a folder: everything in it
    fsspec_source("https://host/photos/1.jpg")        # an object, or else a folder
    ```

    In a URL of HTTP the pattern may be percent-encoded, and `?` begins a query: refused, as
    what is in one may be secret.
    """
    for part in url.split("::"):
        _check(part)
    before, place, after = _place(url)
    scheme, _, path = place.partition("://")
    segments = path.split("/")
    literal = [] if scheme in _NO_HOST else [segments.pop(0)]
    while len(segments) > 1 and not has_wildcard(segments[0]):
        literal.append(unescape(segments.pop(0)))
    pattern = "/".join(segments) or "**"
    if is_http(place):
        pattern = _ENCODED.sub(lambda found: escape(unquote(found[0])), pattern)
    return FsspecSource(root=f"{before}{scheme}://{'/'.join(literal)}{after}", pattern=pattern)


def _place(url: str) -> tuple[str, str, str]:
    """A chained URL in three: what goes before, the part that a key is added to, what is after."""
    parts = url.split("::")
    at = 0
    while at + 1 < len(parts) and parts[at] in _ON_TOP:
        at += 1
    place = f"{parts[at]}://" if parts[at].isalpha() else parts[at]
    before, after = parts[:at], parts[at + 1 :]
    return "".join(f"{part}::" for part in before), place, "".join(f"::{part}" for part in after)


def _check(part: str) -> None:
    """Errors: SpecError where a part of a URL may hold a secret; it is not shown."""
    scheme, _, rest = part.partition("://")
    user, at, host = rest.partition("/")[0].rpartition("@")
    if at and scheme not in _NO_PASSWORD and (":" in user or is_http(part)):
        raise SpecError(
            f"the URL of {scheme}://…@{host} has a user or password, and a spec holds none: pass "
            "credentials={...}, the filesystem's own options"
        )
    if is_http(part) and ("?" in rest or "#" in rest):
        raise SpecError(
            f"the URL of {scheme}://{host} has a query, which may be a secret, and a spec holds "
            "none: pass credentials={'params': {...}}"
        )
