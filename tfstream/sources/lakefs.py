"""
`LakeFSSource`: objects of a lakeFS repository, at one commit.

Everything is read by commit id: what is uncommitted is not seen, and no later commit
changes anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, Source
from tfstream.sources.lakefs_credentials import find_access, root_of
from tfstream.sources.lakefs_store import LakeFSStore, is_commit_id

_SCHEME = "lakefs://"


@dataclass(frozen=True, kw_only=True)
class LakeFSSource(Source):
    """
    Objects of a repository.

    Attributes:
        repository: Its name.
        ref: A branch, tag, commit id or expression such as `main~1`. Once pinned, a label.
        commit: The commit's id, 64 hex digits; None until pinned.
        endpoint: The server, if it is not the one that the environment names.
        since_ref: Only what was added or changed since that ref. Once pinned, a label.
        since: The id of its commit; None until pinned, or for everything.
    """

    name: ClassVar[str] = "lakefs"
    location: ClassVar[frozenset[str]] = frozenset({"ref", "endpoint", "since_ref"})
    later: ClassVar[frozenset[str]] = frozenset({"since_ref", "since"})

    repository: str
    ref: str
    commit: str | None = None
    endpoint: str | None = None
    since_ref: str | None = None
    since: str | None = None

    def __post_init__(self) -> None:
        for field in ("repository", "ref", "since_ref"):
            value = getattr(self, field)
            if value == "" or "/" in (value or ""):
                raise ValueError(
                    f"{field} of a lakeFS source is not empty and has no slash, got {value!r}"
                )
        for ref in (self.ref, self.since_ref or ""):
            if ref.endswith("$"):
                raise ValueError(
                    f"ref {ref!r} means uncommitted data, which can change: commit it, and "
                    f"give {ref.rstrip('$')!r}"
                )
        for field in ("commit", "since"):
            value = getattr(self, field)
            if value is not None and not is_commit_id(value):
                raise ValueError(f"{field} is an id of 64 hex digits, got {value!r}")
        if self.endpoint is not None:
            root_of(self.endpoint)

    def open(self, credentials: Credentials | None, options: ReadOptions) -> LakeFSStore:
        """Connect with what `lakefs_credentials` finds. Sends nothing."""
        return LakeFSStore(self, find_access(self.endpoint, credentials), options)

    def url(self, path: str) -> str:
        """`lakefs://photos/3f2a…/train/1.jpg`."""
        return f"lakefs://{self.repository}/{self.commit or self.ref}/{path}"


class LakeFSUrl(NamedTuple):
    """The parts of a URL; `pattern` is `**` where the URL names none."""

    repository: str
    ref: str
    pattern: str


def parse_lakefs_url(url: str) -> LakeFSUrl:
    """
    `lakefs://photos/main/train/**` is `("photos", "main", "train/**")`.

    A ref has no slash in it, so the parts are clear. All of the pattern is taken as it is:
    `%20` is three characters, `?` and `#` begin nothing.

    Errors:
        ValueError: which part is missing.
    """
    if url[: len(_SCHEME)].lower() != _SCHEME:
        raise ValueError(f"a lakeFS URL starts with {_SCHEME}, got {url!r}")
    repository, _, rest = url[len(_SCHEME) :].partition("/")
    if "@" in repository:
        raise ValueError("a lakefs:// URL has no user in it: pass credentials=")
    ref, _, pattern = rest.partition("/")
    if not repository:
        raise ValueError(f"no repository in {url!r}: write lakefs://REPOSITORY/ref/pattern")
    if not ref:
        raise ValueError(
            f"no branch, tag or commit in {url!r}: write lakefs://{repository}/REF/pattern"
        )
    return LakeFSUrl(repository, ref, pattern or "**")
