"""
Which reader a listing is for: by the names of all objects, else by the first one's bytes.

```
all named alike      that reader
a mixture            an error that counts the kinds
no name says it      the first bytes of the first object
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tfstream import registry
from tfstream.decoders.headers import look
from tfstream.errors import DecodeError, ObjectNotFoundError, SpecError
from tfstream.fetch.listing import Listing, extensions_of
from tfstream.fetch.reading import Reading
from tfstream.readers.base import Reader
from tfstream.readers.file import FileReader
from tfstream.readers.image_names import is_image

_LOOK_BYTES = 64 * 1024
"""Enough for any image's header, a JPEG's with a large profile and preview too."""


def is_data_for(reader: Reader | None) -> Callable[[str], bool]:
    """Which keys count as data where the pattern names no extension."""
    if isinstance(reader, FileReader):
        return is_image
    if reader is not None:
        return type(reader).named
    return lambda key: _kind(key) is not None


def recognised(listing: Listing, reading: Reading) -> Reader:
    """
    The reader for what is listed.

    Errors:
        SpecError: objects for several readers.
        ObjectNotFoundError: for none.
    """
    kinds = Counter(map(_kind, (info.path for info in listing.objects)))
    shards = kinds.keys() - {FileReader.name, None}
    if shards and len(kinds) > 1:
        raise SpecError(_mixed(kinds, listing, reading), where="$.reader")
    if shards:
        return _made(next(iter(shards)) or "")
    if FileReader.name in kinds and _kind(listing.objects[0].path) is not None:
        return FileReader()
    return _by_bytes(listing, reading)


def _kind(key: str) -> str | None:
    """The reader that a name speaks for."""
    if is_image(key):
        return FileReader.name
    for name in registry.names("reader"):
        if registry.lookup("reader", name).named(key):  # type: ignore[union-attr]
            return name
    return None


def _made(name: str) -> Reader:
    reader: Reader = registry.lookup("reader", name)()  # type: ignore[misc]
    return reader


def _by_bytes(listing: Listing, reading: Reading) -> Reader:
    first = listing.objects[0]
    start = reading.get_start(first, _LOOK_BYTES) if first.size else b""
    for name in registry.names("reader"):
        if registry.lookup("reader", name).looks(start):  # type: ignore[union-attr]
            return _made(name)
    try:
        look(start)
    except DecodeError as error:
        keys = [info.path for info in listing.objects]
        url = reading.source.url(reading.source.pattern)
        raise ObjectNotFoundError(
            f"nothing decodable matches {url}: {first.path!r} is {error} (extensions: "
            f"{extensions_of(keys)})",
            path=first.path,
        ) from error
    return FileReader()


def _mixed(kinds: Counter[str | None], listing: Listing, reading: Reading) -> str:
    words = {"file": "images", None: "others"}
    counted = [
        f"{count:,} {words.get(kind, f'{kind} files')}" for kind, count in kinds.most_common()
    ]
    extensions = extensions_of([info.path for info in listing.objects])
    choices = " or ".join(f"reader={kind!r}" for kind in sorted(filter(None, kinds)))
    return (
        f"{reading.source.url(reading.source.pattern)} matches {' and '.join(counted)} "
        f"({extensions}): narrow the pattern, or say {choices}"
    )
