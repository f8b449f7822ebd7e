"""
Which IDX file has the labels of which, by their names alone.

```
photos/train-images-idx3-ubyte.gz      the word `images` in the file's name: records
photos/train-labels-idx1-ubyte         the same with `labels`: their labels
photos/train-idx3-ubyte                neither word: records without labels
```
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from tfstream.errors import SpecError

_WORD = re.compile(r"images|labels", re.IGNORECASE)
_MAY_DIFFER = re.compile(r"idx\d+(-[a-z]+)?|\.gz\Z", re.IGNORECASE)
"""The format's word and rank, the type of the numbers, and whether the file is packed."""


def pair(paths: Sequence[str]) -> list[tuple[str, str | None]]:
    """
    The shards of records among `paths`, in that order, each with its labels shard or None.

    Partners lie in one folder, and their names are the same but for the word, in any case,
    and what `_MAY_DIFFER` matches.

    Errors:
        SpecError: labels without images, or several files that could be one's partner.
    """
    images: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        (labels if _is_labels(path) else images)[_shared(path)].append(path)
    for name, found in labels.items():
        _check(images[name], found)
    shards = (path for path in paths if not _is_labels(path))
    return [(path, next(iter(labels[_shared(path)]), None)) for path in shards]


def _is_labels(path: str) -> bool:
    word = _WORD.search(path.rpartition("/")[2])
    return word is not None and word.group().lower() == "labels"


def _shared(path: str) -> str:
    """What the paths of partners have in common, and no others."""
    folder, slash, name = path.rpartition("/")
    if _WORD.search(name) is None:
        return path
    name = _WORD.sub("\0", name, count=1)  # no key has a NUL
    return folder + slash + _MAY_DIFFER.sub("", name)


def _check(images: Sequence[str], labels: Sequence[str]) -> None:
    files = ", ".join(repr(path) for path in (*images, *labels))
    if not images:
        raise SpecError(
            f"labels without images: {files}: the pattern must match both, named alike but for "
            "'images' and 'labels'",
            where="$.source.pattern",
        )
    if len(images) > 1 or len(labels) > 1:
        raise SpecError(
            f"which labels belong to which images? {files}: narrow the pattern",
            where="$.source.pattern",
        )
