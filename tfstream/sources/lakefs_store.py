"""
`LakeFSStore`: an open lakeFS repository.

```
pin       GET repositories/photos/commits/main              main -> 3f2a…, once
list      GET repositories/photos/refs/3f2a…/objects/ls     flat, 1,000 a page
compare   GET repositories/photos/refs/9ab0…/diff/3f2a…     with the commit of `since`
read      S3 gateway, photos/3f2a…/train/hat/1.jpg          the first attempt, where it can
          GET repositories/photos/refs/3f2a…/objects?path=  every other, and to know why not
```
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tfstream.errors import ObjectNotFoundError, RefNotFoundError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, Page, TransientError
from tfstream.sources.lakefs_api import LakeFSApi, query, segment
from tfstream.sources.lakefs_credentials import Access
from tfstream.sources.lakefs_diff import Changes, changes_of
from tfstream.sources.lakefs_errors import Answer, Ask
from tfstream.sources.lakefs_gateway import Gateway
from tfstream.sources.lakefs_near import objects_near, refs_near, repositories_near
from tfstream.sources.pattern import literal_prefix

if TYPE_CHECKING:
    from tfstream.sources.lakefs import LakeFSSource

PAGE = 1000
"""The most that lakeFS lists in one answer."""
SYMLINK = "::lakefs::symlink-target"
"""Metadata that `lakectl local` gives to what was a symbolic link."""


class LakeFSStore:
    """
    An open repository at one commit.

    Made from a source that is not pinned, it pins itself when first used, once: all that it
    ever lists and reads is of the commit that `pin` returns.
    """

    def __init__(self, source: LakeFSSource, access: Access, options: ReadOptions) -> None:
        self.source = source
        self._access, self._options = access, options
        self._api = LakeFSApi(access, options)
        self._repository = f"/repositories/{segment(source.repository)}"
        self._lock = threading.Lock()
        self._metadata: str | None = None
        self._checked: LakeFSSource | None = None
        self._at: _Commit | None = None
        if source.commit:
            self._at = self._commit(source)

    def pin(self) -> LakeFSSource:
        """The source with the ids of the commits that its refs mean; known ids are checked."""
        source = self.source
        with self._lock:
            if self._checked is None:
                older = source.since or source.since_ref
                since = None if older is None else self._id_of(older)
                commit = self._id_of(source.commit or source.ref)
                self._checked = replace(source, commit=commit, since=since)
                self._at = self._commit(self._checked)
        return self._checked

    def list_page(self, prefix: str, after: Any | None = None) -> Page:
        """At most 1,000 objects, in the order of their keys' bytes."""
        ask = Ask(self.source.url(prefix), "fs:ListObjects")
        asked = query(prefix=prefix, after=after or "", amount=PAGE, user_metadata="true")
        answer = self._api.send(f"{self._commit_now().objects}/ls{asked}", ask)
        found = self._found(answer, ask)
        try:
            objects = [_info(each, self._metadata) for each in found["results"]]
            more, offset = (found["pagination"][name] for name in ("has_more", "next_offset"))
        except (KeyError, TypeError):
            raise self._api.error(answer, ask) from None
        if more and offset in ("", after):  # going on from there would never end
            raise self._api.error(answer, ask)
        return Page(objects, offset if more else None)

    def changes_page(self, prefix: str, after: str | None = None) -> Changes:
        """At most 1,000 of the keys that differ from those of the source's `since`."""
        source = self._commit_now().source
        ask = Ask(source.url(prefix), "fs:ListObjects")
        asked = query(prefix=prefix, after=after or "", amount=PAGE, type="two_dot")
        place = f"{self._repository}/refs/{source.since}/diff/{source.commit}"
        answer = self._api.send(place + asked, ask)
        found = changes_of(self._found(answer, ask, source.since), after)
        if found is None:
            raise self._api.error(answer, ask)
        return found

    def with_metadata(self, name: str) -> LakeFSStore:
        """A pinned store's twin on the same connections, whose pages have that metadata."""
        self._commit_now()
        twin = copy(self)
        twin._metadata = name
        return twin

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The object through the gateway or the API."""
        return self._read(info, (0, info.size), attempt)

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """A part of the object, in the same way."""
        end = min(start + length, info.size)
        return self._read(info, (start, end), attempt) if start < end else b""

    def _read(self, info: ObjectInfo, span: tuple[int, int], attempt: int) -> bytes:
        at = self._commit_now()
        ask = Ask(at.source.url(info.path), "fs:ReadObject", info.path)
        part = None if span == (0, info.size) else span
        refused = False
        if attempt == 1 and at.gateway.reads(info.path):
            try:
                return _whole(at.gateway.get(ask, info.path, part), span[1] - span[0])
            except SourceError:
                refused = True  # why, only the API can say
        headers = {"Range": f"bytes={span[0]}-{span[1] - 1}"} if part else {}
        answer = self._api.read(at.objects + query(path=info.path), ask, headers)
        if refused:
            at.gateway.give_up()
        if part and answer.status == 200:  # something on the way ignores Range
            return _whole(answer.body, info.size)[span[0] : span[1]]
        return _whole(answer.body, span[1] - span[0])

    def notices(self, prefix: str) -> Sequence[str]:
        """Whether the branch has uncommitted changes, which are not read."""
        ref = self.source.ref
        ask = Ask(self.source.url(prefix), "fs:ListObjects")
        asked = query(prefix=prefix, amount=1)
        answer = self._api.send(f"{self._repository}/branches/{segment(ref)}/diff{asked}", ask)
        error = None if answer.status == 200 else self._api.error(answer, ask)
        if isinstance(error, TransientError):
            raise error
        if error is not None or not (changed := self._api.content(answer, ask).get("results")):
            return []  # no branch, no right to know, or no changes
        return [
            f"branch {ref} of {self.source.repository} has uncommitted changes under "
            f"{prefix or 'its root'}, such as {changed[0].get('path')}: they are not read. "
            "Commit them to have them in the dataset"
        ]

    def near(self, path: str) -> str:
        """The first keys and folders in the deepest folder that exists; what waits for a commit."""
        try:
            found = objects_near(self._api, self._commit_now().objects, path)
            return "; ".join(part for part in (found, *self.notices(literal_prefix(path))) if part)
        except (SourceError, TransientError):
            return ""

    def close(self) -> None:
        """Drop the connections; a later call makes new ones."""
        self._api.close()

    def _id_of(self, ref: str) -> str:
        """The id of the commit that a ref means."""
        ask = Ask(self.source.url(""), "fs:ReadCommit")
        answer = self._api.send(f"{self._repository}/commits/{segment(ref)}", ask)
        found = self._found(answer, ask, ref)
        commit = found.get("id")
        if not is_commit_id(commit):
            raise self._api.error(answer, ask)
        return str(commit)

    def _commit(self, source: LakeFSSource) -> _Commit:
        assert source.commit is not None
        objects = f"{self._repository}/refs/{source.commit}/objects"
        gateway = Gateway(
            self._access,
            self._options,
            repository=source.repository,
            commit=source.commit,
            proxy=self._api.proxy,
        )
        return _Commit(source, objects, gateway)

    def _commit_now(self) -> _Commit:
        if self._at is None:
            self.pin()
        assert self._at is not None
        return self._at

    def _found(self, answer: Answer, ask: Ask, ref: str | None = None) -> dict[str, Any]:
        """The JSON of an answer; where there is none, what there is in place of the ref."""
        source = self.source
        if not answer.impossible:
            if answer.status != 200:
                raise self._api.error(answer, ask)
            return self._api.content(answer, ask)
        told = f"({answer.status}: {answer.said})"
        if "repository" in (answer.said or ""):
            near = repositories_near(self._api, source.repository)
            raise ObjectNotFoundError(
                f"no lakeFS repository {source.repository!r} at {self._access.endpoint} "
                f"{told}{near}"
            )
        ref = ref or source.commit or source.ref
        near = refs_near(self._api, source.repository, ref)
        raise RefNotFoundError(
            f"no branch, tag or commit {ref!r} in the lakeFS repository {source.repository} "
            f"{told}{near}"
        )


@dataclass(frozen=True)
class _Commit:
    """A pinned source, and where its objects are."""

    source: LakeFSSource
    objects: str
    gateway: Gateway


def is_commit_id(text: object) -> bool:
    """Whether it is a whole commit id, not a short one or another ref."""
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None


def _info(entry: Mapping[str, Any], wanted: str | None) -> ObjectInfo:
    path, size, metadata = entry["path"], entry["size_bytes"], entry.get("metadata") or {}
    kind: Literal["object", "symlink", "directory"] = "object"
    if SYMLINK in metadata:
        kind = "symlink"
    elif size == 0 and path.endswith("/"):
        kind = "directory"
    return ObjectInfo(path, size, entry["checksum"], kind, metadata.get(wanted))


def _whole(data: bytes, size: int) -> bytes:
    """The data, if it is all of it: an object of a commit cannot change."""
    if len(data) != size:
        raise TransientError(f"{len(data)} of {size} bytes came", kind="cut body")
    return data
