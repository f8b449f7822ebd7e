"""
What differs between two commits of a lakeFS repository, key by key.

```
GET repositories/photos/refs/9ab0…/diff/3f2a…?type=two_dot      from 9ab0… to 3f2a…, 1,000 a page
```

Of the two kinds of diff, `two_dot` compares the commits as they are: it tells what a reader of
one has not seen of the other, wherever they stand to each other. (`three_dot` compares with
their merge base, as a merge does; only there can be conflicts.) An object is changed where its
bytes or its metadata are others; the same bytes uploaded again are no change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["added", "changed", "removed"]


class Change(NamedTuple):
    """One key, and what became of it."""

    path: str
    kind: Kind


class Changes(NamedTuple):
    """Some changes, and what to pass as `after` for more (None: no more)."""

    changes: Sequence[Change]
    after: str | None


def changes_of(content: Mapping[str, Any], after: str | None) -> Changes | None:
    """A page from lakeFS' answer to the request after `after`; None where it is no page."""
    try:
        found = [Change(each["path"], each["type"]) for each in content["results"]]
        more, offset = (content["pagination"][name] for name in ("has_more", "next_offset"))
    except (KeyError, TypeError):
        return None
    if any(change.kind not in get_args(Kind) for change in found):
        return None
    if more and offset in ("", after):  # going on from there would never end
        return None
    return Changes(found, offset if more else None)
