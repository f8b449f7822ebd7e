"""Google Cloud Storage, by obstore. What it can list and read: see `obstore_list`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, Source
from tfstream.sources.object_url import check_endpoint, split_url
from tfstream.sources.obstore_client import client_settings
from tfstream.sources.obstore_store import ObstoreStore, build, check_names

CREDENTIALS = (
    "service_account",
    "service_account_key",
    "application_credentials",
    "bearer_token",
    "skip_signature",
)
"""obstore's own names; what is not given it looks for in GOOGLE_* variables."""

_BUCKET = re.compile(r"[A-Za-z0-9._-]{1,255}\Z")


@dataclass(frozen=True, kw_only=True)
class GCSSource(Source):
    """
    A bucket of Google Cloud Storage.

    ```python
    GCSSource(bucket="photos", pattern="train/**/*.jpg")
    ```

    Credentials are a file's path (`service_account`, `application_credentials`), its text
    (`service_account_key`), a `bearer_token`, or `skip_signature=True` for public buckets.

    Attributes:
        endpoint: An emulator. None: Google's, or what GOOGLE_BASE_URL says.
    """

    name: ClassVar[str] = "gcs"
    location: ClassVar[frozenset[str]] = frozenset({"endpoint"})

    bucket: str
    endpoint: str | None = None

    def __post_init__(self) -> None:
        if not _BUCKET.match(self.bucket):
            raise ValueError(f"GCSSource.bucket is a bucket's name, got {self.bucket!r}")
        check_endpoint("GCSSource.endpoint", self.endpoint)

    def open(self, credentials: Credentials | None, options: ReadOptions) -> ObstoreStore:
        """
        Errors:
            ValueError: credentials with unknown names.
            AuthenticationError: credentials that cannot be used.
        """
        settings: dict[str, Any] = dict(credentials or {})
        check_names("GCS", settings, CREDENTIALS)
        if self.endpoint is not None:
            settings["base_url"] = self.endpoint
        settings |= client_settings(options, url=self.endpoint or "")
        store = build(self, lambda stores: stores.GCSStore(self.bucket, **settings))
        return ObstoreStore(
            self, store, needs_list="storage.objects.list", needs_get="storage.objects.get"
        )

    def url(self, path: str) -> str:
        """`gs://bucket/key`, the key as it is."""
        return f"gs://{self.bucket}/{path}"


def parse_gs_url(url: str) -> tuple[str, str]:
    """
    Bucket and pattern of `gs://bucket/pattern`, taken literally: nothing is percent-decoded.

    Errors: ValueError for anything else.
    """
    return split_url(url, "gs")
