"""
What a source is, and what its open store can do.

A `Source` is a frozen description: where objects are, which of them (`pattern`), and at
which commit. `source.open(...)` gives a `Store`, the open connection. A store makes **one
attempt** a call and lets `fetch` decide about the next one:

* `TransientError`: try again. Transport errors, timeouts, cut bodies, 429, 500, 502-504.
* any `TfstreamError`: final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from tfstream.options import ReadOptions

Self = TypeVar("Self")
Credentials = Mapping[str, Any]


class ObjectInfo(NamedTuple):
    """
    One listed object.

    Fields:
        path: The whole key, exactly as the store has it.
        size: Bytes.
        token: Changes when the content does: etag, checksum, or the size where the store
            has nothing better.
        kind: `symlink`, `directory` and `other` (a pipe, a device) are listed so that they
            can be counted; they are never read.
        metadata: The one value that a `MetadataStore` was asked for; else None.
    """

    path: str
    size: int
    token: str
    kind: Literal["object", "symlink", "directory", "other"] = "object"
    metadata: str | None = None


class Page(NamedTuple):
    """Some objects of a listing, and what to pass as `after` for more (None: no more)."""

    objects: Sequence[ObjectInfo]
    after: Any | None


class TransientError(Exception):
    """
    An attempt that failed in a way that another may not.

    Attributes:
        kind: A short word for `stats()`, such as `503`, `timeout`, `cut body`, `connection`.
        retry_after: Seconds that the server asked to wait, or None.
    """

    def __init__(self, message: str, *, kind: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    Where objects are. Subclasses are frozen dataclasses that add their own fields.

    Attributes:
        pattern: Which keys, as `sources.pattern` has it.
    """

    name: ClassVar[str]
    """The word for this class in a spec's JSON."""
    location: ClassVar[frozenset[str]] = frozenset()
    """Fields that say how to get there, not what is there: left out of the digest."""
    later: ClassVar[frozenset[str]] = frozenset()
    """Fields that came after the first specs, see `jsonable`."""
    portable: ClassVar[bool] = True
    """False where the data is only on this machine, or only in this process."""
    remote: ClassVar[bool] = True
    """False where no `ReadOptions` change how a store reads, so that it need not be opened anew."""

    pattern: str = "**"

    def open(self, credentials: Credentials | None, options: ReadOptions) -> Store:
        """Connect, reading the environment for what `credentials` lacks. Sends nothing."""
        raise NotImplementedError

    def url(self, path: str) -> str:
        """The object as people write it, for messages. Never a credential in it."""
        raise NotImplementedError


class Store(Protocol):
    """An open source. All methods may be called from many threads at once."""

    def pin(self) -> Source:
        """The source with its moving parts frozen (a branch becomes a commit id)."""

    def list_page(self, prefix: str, after: Any | None = None) -> Page:
        """
        One page of every key that starts with the text `prefix`, hidden ones and directory
        markers too. Where there is an object named exactly `prefix`, the first page has it.
        A missing bucket, repository or commit is an error; no object is an empty page.
        """

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The whole object, of exactly `info.size` bytes. `attempt` counts from 1."""

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """`length` bytes from `start`, fewer only at the object's end."""

    def notices(self, prefix: str) -> Sequence[str]:
        """What a user should be told once when the dataset is made, such as uncommitted objects."""

    def near(self, path: str) -> str:
        """What exists near a pattern or key that was not found, for an error. Never raises."""

    def close(self) -> None:
        """Drop the connections. May be called twice."""


@runtime_checkable
class MetadataStore(Store, Protocol):
    """A store that lists users' metadata with the objects, without another request."""

    def with_metadata(self, name: str) -> Store:
        """The same store, whose pages have that value of each object's metadata."""
