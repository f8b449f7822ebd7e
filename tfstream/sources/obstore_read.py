"""
One attempt to read one object by obstore, checked against its listing.

`span` is the first byte and the one after the last, or None for the whole object.
"""

from __future__ import annotations

from typing import Any, cast

from tfstream.errors import ObjectChangedError
from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.obstore_client import obstore_package
from tfstream.sources.obstore_errors import classify

Span = tuple[int, int] | None


def read(store: Any, info: ObjectInfo, span: Span, *, url: str, needs: str) -> bytes:
    """
    The bytes, of exactly the length that was listed or asked for.

    Errors:
        TransientError: nothing came, or not all of it.
        ObjectChangedError: the object is not the one that was listed.
        SourceError: a refusal, or an answer that obstore cannot read.
    """
    obstore = obstore_package()
    try:
        answer = obstore.get(store, info.path, options={"range": span} if span else None)
        etag = answer.meta["e_tag"]
        data = cast(bytes, answer.bytes().to_bytes())
    except (obstore.exceptions.BaseError, OSError, ValueError) as error:
        raise classify(error, url=url, path=info.path, needs=needs) from None
    check_etag(info, etag, url=url)
    return whole(data, info, span)


def plain_etag(etag: str | None) -> str:
    """An etag without its quotes, as the token of an object; empty where there is none."""
    return (etag or "").removeprefix("W/").strip('"')


def check_etag(info: ObjectInfo, etag: str | None, *, url: str) -> None:
    """Whether what came is the object that was listed."""
    if not etag:  # every store gives one: a proxy's page, most likely
        raise TransientError("an answer without ETag", kind="bad answer")
    if plain_etag(etag) != info.token:
        raise ObjectChangedError(
            f"changed since it was listed: {url}: its etag was {info.token}, now it is "
            f"{plain_etag(etag)}",
            path=info.path,
        )


def whole(data: bytes, info: ObjectInfo, span: Span) -> bytes:
    """The data, if it is as long as it should be."""
    expected = span[1] - span[0] if span else info.size
    if len(data) != expected:
        raise TransientError(f"{len(data)} of {expected} bytes", kind="cut body")
    return data
