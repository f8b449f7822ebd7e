"""
S3, and every server that speaks its protocol.

Each object is read with `obstore` at first, which costs a tenth of botocore's CPU. botocore
takes over where obstore is not exact: keys that it cannot address (`a//b`, `/a`, `a/`, dot
segments, control characters), repeated attempts (it shows `Retry-After`), and answers that
obstore cannot read or tells too little about. Listing is botocore's alone.

The bucket moves: an object is checked against the etag that was listed.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tfstream.errors import ObjectChangedError, ObjectNotFoundError, SourceError, TfstreamError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, ObjectInfo, Page, Source, TransientError
from tfstream.sources.nearby import SHOWN, keys_near, names_near
from tfstream.sources.object_url import check_endpoint, split_url
from tfstream.sources.obstore_errors import addressable
from tfstream.sources.obstore_read import Span, plain_etag, read
from tfstream.sources.s3_connection import Connection, Place, connect
from tfstream.sources.s3_credentials import check_credentials
from tfstream.sources.s3_errors import translated
from tfstream.sources.s3_read import NEEDS, read_exact

_BUCKET = re.compile(r"[A-Za-z0-9._-]{1,255}\Z")


@dataclass(frozen=True, kw_only=True)
class S3Source(Source):
    """
    A bucket of S3 or of a server like it.

    ```python
    S3Source(bucket="photos", pattern="train/**/*.jpg")
    S3Source(bucket="photos", endpoint="http://127.0.0.1:9000")     # MinIO and others
    ```

    Attributes:
        endpoint: Where the server is. None: AWS, or what the reader's environment says.
        region: None: what the reader's environment says, else us-east-1.
        anonymous: Send requests without a signature, for public buckets.
    """

    name: ClassVar[str] = "s3"
    location: ClassVar[frozenset[str]] = frozenset({"endpoint", "region"})

    bucket: str
    endpoint: str | None = None
    region: str | None = None
    anonymous: bool = False

    def __post_init__(self) -> None:
        if not _BUCKET.match(self.bucket):
            raise ValueError(f"S3Source.bucket is a bucket's name, got {self.bucket!r}")
        check_endpoint("S3Source.endpoint", self.endpoint)

    def open(self, credentials: Credentials | None, options: ReadOptions) -> S3Store:
        """Errors: ValueError for credentials with unknown or missing names."""
        return S3Store(self, credentials or {}, options)

    def url(self, path: str) -> str:
        """`s3://bucket/key`, the key as it is."""
        return f"s3://{self.bucket}/{path}"


def parse_s3_url(url: str) -> tuple[str, str]:
    """
    Bucket and pattern of `s3://bucket/pattern`, taken literally: nothing is percent-decoded.

    Errors: ValueError for anything else.
    """
    return split_url(url, "s3")


class S3Store:
    """An open bucket. Connects when first used, and again in a forked process."""

    def __init__(
        self, source: S3Source, credentials: Mapping[str, Any], options: ReadOptions
    ) -> None:
        check_credentials(credentials, anonymous=source.anonymous)
        self.source = source
        self._credentials = dict(credentials)
        self._options = options
        self._region = source.region
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()  # a new one: another thread may hold it during a fork
        self._connection: Connection | None = None

    def _connect(self) -> Connection:
        if self._pid != os.getpid():
            self._reset()
        if self._connection is not None:
            return self._connection
        with self._lock, translated(url=self.source.url(""), needs="credentials"):
            if self._connection is None:
                place = Place(
                    bucket=self.source.bucket,
                    endpoint=self.source.endpoint,
                    region=self._region,
                    anonymous=self.source.anonymous,
                )
                self._connection = connect(place, self._credentials, self._options)
            return self._connection

    def pin(self) -> S3Source:
        """The source itself: a bucket has no commits, the manifest's digest pins it."""
        return self.source

    def list_page(self, prefix: str, after: str | None = None) -> Page:
        """At most 1,000 objects, in the order of their keys' bytes."""
        answer = self._list(prefix, after)
        self._learn_region(answer)
        if "IsTruncated" not in answer and "Name" not in answer:  # else a page of HTML is empty
            raise TransientError("not an S3 answer", kind="bad answer")
        more = answer.get("NextContinuationToken")
        if answer.get("IsTruncated") and not more:
            raise TransientError("a listing that breaks off", kind="bad answer")
        objects = [_info(found) for found in answer.get("Contents", ())]
        return Page(objects, more if answer.get("IsTruncated") else None)

    def get(self, info: ObjectInfo, *, attempt: int = 1) -> bytes:
        """The whole object."""
        return self._read(info, None, attempt)

    def get_range(self, info: ObjectInfo, *, start: int, length: int, attempt: int = 1) -> bytes:
        """A part of the object."""
        end = min(start + length, info.size)
        return self._read(info, (start, end), attempt) if start < end else b""

    def notices(self, prefix: str) -> Sequence[str]:
        """Nothing: S3 has no uncommitted objects."""
        return ()

    def near(self, path: str) -> str:
        """Some keys in the deepest folder above `path` that has any."""
        try:
            return keys_near(self._first_keys, path)
        except (TfstreamError, TransientError):
            return ""  # an error is being told already: this is only an addition to it

    def close(self) -> None:
        """Drop the connections; used again, it connects again."""
        with self._lock:
            if self._connection is not None:
                self._connection.client.close()
                self._connection = None

    def _read(self, info: ObjectInfo, span: Span, attempt: int) -> bytes:
        url = self.source.url(info.path)
        connection = self._connect()
        if attempt == 1 and connection.fast is not None and addressable(info.path):
            try:
                return read(connection.fast, info, span, url=url, needs=NEEDS)
            except (TransientError, ObjectChangedError):
                raise
            except SourceError:
                pass  # botocore asks the same at once and tells exactly what it is
        seconds = self._options.read_timeout
        return read_exact(
            connection.client, self.source.bucket, info, span, url=url, seconds=seconds
        )

    def _list(self, prefix: str, after: str | None = None, **more: Any) -> dict[str, Any]:
        url, client = self.source.url(prefix), self._connect().client
        if after is not None:
            more["ContinuationToken"] = after
        try:
            with translated(url=url, needs=f"s3:ListBucket for {self.source.bucket}"):
                found: dict[str, Any] = client.list_objects_v2(
                    Bucket=self.source.bucket, Prefix=prefix, **more
                )
        except ObjectNotFoundError:
            raise ObjectNotFoundError(
                f"no such bucket: {self.source.bucket}{self._other_buckets()}"
            ) from None
        return found

    def _other_buckets(self) -> str:
        try:
            with translated(url="s3://", needs="s3:ListAllMyBuckets"):
                buckets = self._connect().client.list_buckets().get("Buckets", [])
        except (TfstreamError, TransientError):
            return ""  # most keys may not list buckets; the missing one is what matters
        return names_near(self.source.bucket, [bucket["Name"] for bucket in buckets])

    def _first_keys(self, folder: str) -> list[str]:
        answer = self._list(folder, Delimiter="/", MaxKeys=SHOWN + 1)
        folders = [found["Prefix"] for found in answer.get("CommonPrefixes", ())]
        return sorted([*folders, *(found["Key"] for found in answer.get("Contents", ()))])

    def _learn_region(self, answer: dict[str, Any]) -> None:
        """Connect to the bucket's own region from now on; botocore follows redirects to it."""
        region = answer["ResponseMetadata"]["HTTPHeaders"].get("x-amz-bucket-region")
        client = self._connect().client
        if self.source.endpoint is None and region not in (None, client.meta.region_name):
            self._region = region
            self.close()


def _info(found: dict[str, Any]) -> ObjectInfo:
    key, size = found["Key"], found["Size"]
    token = plain_etag(found.get("ETag"))
    return ObjectInfo(
        key, size, token, "directory" if size == 0 and key.endswith("/") else "object"
    )
