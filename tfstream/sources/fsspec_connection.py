"""
The filesystem behind a URL, used by many threads at once.

* Filesystems made of coroutines (HTTP, most object stores) and a few others bear that: one is
  shared.
* All others are lent to one thread at a time. Up to four are made for a URL; of a user's own
  object there is one.

Each call is waited for until `read_timeout`. One that is no coroutine cannot be ended: it has
a thread of its own, which is left behind. A filesystem that failed to connect, lost its
connection or took too long is dropped, and the next call makes another; a user's own is lent
again when it is free. After a fork all are made again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, LifoQueue
from typing import Any

from tfstream.errors import SpecError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, TransientError
from tfstream.sources.fsspec_errors import fsspec_error, missing
from tfstream.sources.fsspec_http import completed, encoded, is_http

FILESYSTEM = "filesystem"
"""The credential that is a filesystem object of the user's own."""

_MOST = 4
"""sshd refuses some of more than ten connections that log in at the same time."""
_SHAREABLE = frozenset({"MemoryFileSystem", "LocalFileSystem", "ArrowFSWrapper"})
_HTTP: dict[str, Any] = {
    "client_kwargs": {"auto_decompress": False},  # else a *.gz may arrive unpacked
    "headers": {"Accept-Encoding": "identity"},
}


class Connection:
    """Calls a filesystem's methods by name. Nothing is sent before the first call."""

    def __init__(self, url: str, credentials: Credentials | None, options: ReadOptions) -> None:
        self._url = url
        self._credentials = dict(credentials or {})
        self._own = self._credentials.pop(FILESYSTEM, None)
        self._timeout = options.read_timeout
        self._base = ""
        self._check()
        self.close()

    def call(
        self,
        method: str,
        key: str,
        *,
        url: str,
        path: str | None = None,
        fresh: bool = False,
        **arguments: Any,
    ) -> Any:
        """
        The result of a method for the object or folder `key`; the root is an empty one.

        `url` names it in errors; `path` is what the filesystem itself calls it, where that is
        known; `fresh` forgets what the filesystem has cached.

        Errors: those of `fsspec_error`.
        """
        filesystem = None
        try:
            filesystem = self._take()
            if fresh:
                filesystem.invalidate_cache()
            where = self.path(key) if path is None else path
            result = self._ask(filesystem, method, where, arguments)
        except _LeftError as left:
            if self._own is None:
                self._give_back(filesystem, broken=True)
            else:
                left.call.add_done_callback(partial(self._free_again, filesystem, self._free))
            raise TransientError(f"timeout: {url}", kind="timeout") from None
        except Exception as error:  # each filesystem has its own
            told = fsspec_error(error, url=url, path=key, credentials=self._credentials)
            self._give_back(filesystem, broken=isinstance(told, TransientError))
            raise told from None  # a client's text may hold a credential
        self._give_back(filesystem, broken=False)
        return result

    def path(self, key: str) -> str:
        """What the filesystem itself calls a key. After the first call."""
        if self.http:
            return self._base + encoded(key)
        path = self._base + key
        return path.rstrip("/") or path

    @property
    def http(self) -> bool:
        """Whether keys are found in pages and stand encoded in URLs. After the first call."""
        return is_http(self._base)

    def close(self) -> None:
        """Drop all filesystems; a later call makes new ones."""
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._free: LifoQueue[Any] = LifoQueue()
        self._made = 0
        self._shared: Any = None

    def _ask(self, filesystem: Any, method: str, path: str, arguments: dict[str, Any]) -> Any:
        if not _is_async(filesystem):
            return _within(self._timeout, partial(getattr(filesystem, method), path, **arguments))
        from fsspec.asyn import sync

        coroutine = getattr(filesystem, f"_{method}")
        return sync(filesystem.loop, coroutine, path, timeout=self._timeout, **arguments)

    def _take(self) -> Any:
        """A filesystem for one call."""
        if os.getpid() != self._pid:
            self.close()
        if self._shared is not None:
            return self._shared
        if not self._lock.acquire(timeout=self._timeout):
            raise TimeoutError  # another thread still connects
        try:
            if self._shared is None and self._free.empty() and self._made < self._most:
                return self._make()
        finally:
            self._lock.release()
        try:
            return self._shared or self._free.get(timeout=self._timeout)
        except Empty:
            raise TimeoutError from None

    def _give_back(self, filesystem: Any, *, broken: bool) -> None:
        if filesystem is None or filesystem is self._shared:
            return
        if broken and self._own is None:
            with self._lock:
                self._made -= 1
        else:
            self._free.put(filesystem)

    def _free_again(self, filesystem: Any, free: LifoQueue[Any], _: Future[Any]) -> None:
        if filesystem is not self._shared:
            free.put(filesystem)

    @property
    def _most(self) -> int:
        return _MOST if self._own is None else 1

    def _make(self) -> Any:
        from fsspec.core import url_to_fs

        if self._own is not None:
            filesystem, root = self._own, self._own._strip_protocol(self._own_path())
        else:
            make = partial(url_to_fs, self._url, **self._storage_options())
            filesystem, root = _within(self._timeout, make)
        root = completed(root) if is_http(root) else root
        self._base = root if root == "" or root.endswith("/") else f"{root}/"
        self._made += 1
        if _is_shareable(filesystem):
            self._shared = filesystem
        return filesystem

    def _storage_options(self) -> dict[str, Any]:
        options = {**self._credentials, "skip_instance_cache": True}
        if is_http(self._url):
            for name, values in _HTTP.items():
                options[name] = {**values, **options.get(name, {})}
        return options

    def _own_path(self) -> str:
        scheme, _, path = self._url.partition("://")
        protocol = self._own.protocol
        known = (protocol,) if isinstance(protocol, str) else protocol
        return self._url if scheme in known else path

    def _check(self) -> None:
        """Errors: MissingDependencyError; SpecError for what fsspec does not know."""
        import fsspec

        if self._own is not None:
            if getattr(self._own, "asynchronous", False):
                raise SpecError("the filesystem is for coroutines: make it with asynchronous=False")
            return
        for protocol in protocols(self._url):
            try:
                fsspec.get_filesystem_class(protocol)
            except ImportError as error:
                raise missing(protocol, str(error)) from error
            except ValueError:
                raise SpecError(
                    f"fsspec knows no protocol {protocol!r}: for a filesystem of your own pass "
                    f"credentials={{{FILESYSTEM!r}: filesystem}}"
                ) from None


class _LeftError(TimeoutError):
    """A call took too long, and goes on by itself."""

    def __init__(self, call: Future[Any]) -> None:
        super().__init__()
        self.call = call


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """The result of a call that is left behind after so many seconds."""
    result: Future[Any] = Future()
    ended = threading.Event()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # raised where it is waited for
            result.set_exception(error)
        ended.set()

    threading.Thread(target=run, name="tfstream-fsspec", daemon=True).start()
    if not ended.wait(seconds):
        raise _LeftError(result)
    return result.result()


def protocols(url: str) -> list[str]:
    """The protocols of a URL, chained ones (`zip://a::https://b`) from left to right."""
    return [
        part.partition("://")[0] if "://" in part or part.isalpha() else "file"
        for part in url.split("::")
    ]


def _is_async(filesystem: Any) -> bool:
    """Whether it is made of coroutines; asked of its class, as wrappers answer for others."""
    from fsspec.asyn import AsyncFileSystem

    inner = vars(filesystem).get("fs")  # of a `DirFileSystem`, which is what that is
    return issubclass(type(filesystem), AsyncFileSystem) and (inner is None or _is_async(inner))


def _is_shareable(filesystem: Any) -> bool:
    names = {cls.__name__ for cls in type(filesystem).__mro__}
    return _is_async(filesystem) or bool(names & _SHAREABLE)
