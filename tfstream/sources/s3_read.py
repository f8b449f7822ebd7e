"""One attempt to read one object of S3 by botocore, which is exact for every key and answer."""

from __future__ import annotations

import time
from typing import Any, cast

from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.obstore_read import Span, check_etag, whole
from tfstream.sources.s3_errors import translated

NEEDS = "s3:GetObject"
_CHUNK = 1 << 20


def read_exact(
    client: Any, bucket: str, info: ObjectInfo, span: Span, *, url: str, seconds: float
) -> bytes:
    """
    The bytes, of exactly the length that was listed or asked for, in about so many seconds.

    Errors: as `obstore_read.read`, each refusal by its own class.
    """
    end = time.monotonic() + seconds
    ranged = {"Range": f"bytes={span[0]}-{span[1] - 1}"} if span else {}
    with translated(url=url, path=info.path, needs=NEEDS):
        answer = client.get_object(Bucket=bucket, Key=info.path, **ranged)
        with answer["Body"] as raw:
            check_etag(info, answer.get("ETag"), url=url)
            data = _body(raw, info.size, end)
    if len(data) != answer.get("ContentLength", len(data)):
        raise TransientError("not as long as the answer says", kind="cut body")
    if span and answer["ResponseMetadata"]["HTTPStatusCode"] == 200:  # Range was ignored
        return whole(data, info, None)[span[0] : span[1]]
    return whole(data, info, span)


def _body(raw: Any, most: int, end: float) -> bytes:
    """
    All that comes, up to `most` bytes and one more, before the moment `end`.

    `read1` returns what one packet brought; `read` would wait for ever for a full chunk from
    a server that sends a byte now and then.
    """
    chunks: list[bytes] = []
    left = most + 1
    while left > 0:
        chunk = cast(bytes, raw.read1(min(left, _CHUNK)))
        if not chunk:
            break
        if time.monotonic() > end:
            raise TransientError("timeout", kind="timeout")
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
