"""
What a graph from elsewhere may open here, with what this process's environment has.

```
lakefs             any repository, at the environment's own server
s3                 any bucket and server: requests are signed, so no server learns the key
gcs, azure         any bucket and container, at Google's and Azure's own servers
fsspec             one http:// or https:// URL
all else           files, this process's memory, chained URLs, sources of other packages:
                   only where the caller says that the graph may
```

A server that the graph names is not asked where the request would hold the key itself: whoever
wrote the graph may run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfstream.errors import AuthenticationError
from tfstream.sources.azure import AzureSource
from tfstream.sources.base import Source
from tfstream.sources.fsspec import FsspecSource
from tfstream.sources.fsspec_connection import protocols
from tfstream.sources.gcs import GCSSource
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.lakefs_credentials import find_access, root_of
from tfstream.sources.local import LocalSource
from tfstream.sources.s3 import S3Source

_FILES = frozenset({"asynclocal", "dir", "file", "local"})
"""Protocols of fsspec for files of this machine: another process may have them too."""


def is_only_here(source: Source) -> bool:
    """Whether no other process can open it: what is in memory, or a filesystem of the user's."""
    if source.portable or isinstance(source, LocalSource):
        return False
    if not isinstance(source, FsspecSource):
        return True
    from fsspec import available_protocols

    used = set(protocols(source.root))
    return bool({"memory"} & used) or not used <= set(available_protocols())


def refusal(source: Source) -> str | None:
    """Why a stranger may not have it opened; None where they may."""
    rule = _RULES.get(type(source))
    if rule is None:
        return f"{source.url('')} is no object store"
    return rule(source)


def _no_endpoint(source: Any) -> str | None:
    if source.endpoint is None:
        return None
    return _own_server(source)


def _environments_server(source: LakeFSSource) -> str | None:
    if source.endpoint is None:
        return None
    try:
        own = find_access(None, None).endpoint
    except AuthenticationError:
        return _own_server(source)
    return None if root_of(source.endpoint) == own else _own_server(source)


def _own_server(source: Any) -> str:
    return (
        f"{source.url('')} is at a server that the graph names, {source.endpoint}, which would be "
        "sent this environment's key"
    )


def _single_http(source: FsspecSource) -> str | None:
    if protocols(source.root) in (["http"], ["https"]):
        return None
    return f"{source.root} is no object store"


_RULES: dict[type[Source], Callable[[Any], str | None]] = {
    AzureSource: _no_endpoint,
    FsspecSource: _single_http,
    GCSSource: _no_endpoint,
    LakeFSSource: _environments_server,
    S3Source: lambda source: None,
}
