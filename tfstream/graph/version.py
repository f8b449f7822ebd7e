"""
Which tfstream made a graph: a process that has another release does not run it.

```
"<handle> <version>"     one constant of the graph, an input of each Python op
```

What an op's inputs mean may change from one minor release to the next, and an order that is
silently another one would be worse than an error.
"""

from __future__ import annotations

from functools import lru_cache

import tfstream
from tfstream.errors import NotPortableError


def signed(handle: str) -> str:
    """What a graph carries of `handle`: its name and this tfstream's version."""
    return f"{handle} {tfstream.__version__}"


@lru_cache(maxsize=256)
def checked(text: bytes) -> bytes:
    """
    The name in it again.

    Errors:
        NotPortableError: another minor release of tfstream wrote it.
    """
    handle, _, version = text.decode().partition(" ")
    if _release(version) != _release(tfstream.__version__):
        raise NotPortableError(
            f"the graph was made by tfstream {version or '(unknown)'}, and this process has "
            f"tfstream {tfstream.__version__}: install the same minor release in both"
        )
    return handle.encode()


def _release(version: str) -> list[str]:
    return version.split(".")[:2]
