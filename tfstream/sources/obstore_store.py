"""The open store of GCS and Azure: listing and reading by obstore alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfstream.errors import AuthenticationError, SourceError, TfstreamError
from tfstream.sources.base import Credentials, ObjectInfo, Page, Source, TransientError
from tfstream.sources.nearby import SHOWN, keys_near
from tfstream.sources.obstore_client import obstore_package, usable
from tfstream.sources.obstore_errors import addressable
from tfstream.sources.obstore_list import Lister
from tfstream.sources.obstore_read import Span, read


class ObstoreStore:
    """
    An open bucket or container; the connection is made by the first request.

    `store` is obstore's; `needs_list` and `needs_get` name permissions for messages.
    """

    def __init__(self, source: Source, store: Any, *, needs_list: str, needs_get: str) -> None:
        self.source = source
        self._store, self._needs_get = store, needs_get
        self._lister = Lister(store, source.url, needs_list=needs_list, needs_get=needs_get)

    def pin(self) -> Source:
        """The source itself: there are no commits, the manifest's digest pins it."""
        return self.source

    def list_page(self, prefix: str, after: Any | None = None) -> Page:
        """About 1,000 objects."""
        self._check_usable()
        return self._lister.page(prefix, after)

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The whole object."""
        return self._read(info, None)

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """A part of the object."""
        end = min(start + length, info.size)
        return self._read(info, (start, end)) if start < end else b""

    def notices(self, prefix: str) -> Sequence[str]:
        """Nothing: there are no uncommitted objects."""
        return ()

    def near(self, path: str) -> str:
        """Some keys in the deepest folder above `path` that has any."""
        try:
            self._check_usable()
            return keys_near(lambda folder: self._lister.first_keys(folder, SHOWN + 1), path)
        except (TfstreamError, TransientError):
            return ""  # an error is being told already: this is only an addition to it

    def close(self) -> None:
        """Nothing to do: obstore drops its connections by itself."""

    def _read(self, info: ObjectInfo, span: Span) -> bytes:
        self._check_usable()
        url = self.source.url(info.path)
        if not addressable(info.path):
            raise SourceError(f"obstore cannot read this key: {url}", path=info.path)
        return read(self._store, info, span, url=url, needs=self._needs_get)

    def _check_usable(self) -> None:
        if not usable():
            raise SourceError(
                f"{self.source.url('')} cannot be read in a forked process: start it by spawn"
            )


def check_names(store: str, credentials: Credentials, allowed: Sequence[str]) -> None:
    """Errors: ValueError for a name that is none of obstore's for this store."""
    unknown = sorted(set(credentials) - set(allowed))
    if unknown:
        raise ValueError(f"{store} credentials are {', '.join(allowed)}; got {unknown[0]!r}")


def build(source: Source, make: Callable[[Any], Any]) -> Any:
    """
    obstore's store, made by `make(obstore.store)`.

    Errors: AuthenticationError where the settings cannot be used, such as an unreadable file.
    """
    obstore = obstore_package()
    try:
        return make(obstore.store)
    except (obstore.exceptions.BaseError, OSError, ValueError) as error:
        raise AuthenticationError(  # obstore's text may quote a key file
            f"the credentials for {source.url('')} cannot be used: {type(error).__name__}"
        ) from None
