"""
`ignore`: which keys of a listing to leave out.

```
pattern without a wildcard    looked up: a check may have found thousands of bad keys
any other                     tried one by one
```
"""

from __future__ import annotations

from collections.abc import Sequence

from tfstream.sources.base import Source
from tfstream.sources.pattern import has_wildcard, matcher, unescape


class Ignored:
    """
    Patterns of keys, or of URLs as messages have them.

    Attributes:
        used: Those of them that match a key which was asked about.
    """

    def __init__(self, patterns: Sequence[str], source: Source) -> None:
        self.used: set[str] = set()
        self._named: dict[str, list[str]] = {}
        self._tried = {}
        place = source.url("key").removesuffix("key")
        for pattern in patterns:
            wanted = pattern.removeprefix(place)
            if has_wildcard(wanted) or wanted.endswith("/"):
                self._tried[pattern] = matcher(wanted)
            else:
                self._named.setdefault(unescape(wanted), []).append(pattern)

    def __contains__(self, key: str) -> bool:
        found = [pattern for pattern, matches in self._tried.items() if matches(key)]
        found += self._named.get(key, ())
        self.used.update(found)
        return bool(found)
