"""
lakeFS' S3 gateway through obstore: whole objects for four fifths of the API's CPU.

Only for what it does well. It cannot address every key, tells a missing ref from a missing
key no better than a removed object, and gives no `Retry-After`: then the API is asked.
No variable of the user's for AWS has any influence on it.
"""

from __future__ import annotations

from typing import Any, cast

from tfstream.options import ReadOptions
from tfstream.sources.lakefs_credentials import Access
from tfstream.sources.lakefs_errors import Ask
from tfstream.sources.obstore_client import (
    AWS_SETTINGS,
    client_settings,
    obstore_package,
    proxy_settings,
    usable,
)
from tfstream.sources.obstore_errors import addressable, classify
from tfstream.sources.obstore_read import Span


class Gateway:
    """The objects of one commit. May be used from many threads."""

    def __init__(
        self,
        access: Access,
        options: ReadOptions,
        *,
        repository: str,
        commit: str,
        proxy: str | None,
    ) -> None:
        self._access, self._options, self._proxy = access, options, proxy
        self._repository, self._commit = repository, commit
        self._store: Any = None
        # A path before /api/v1 would be signed as a part of the key by one side only.
        self._useful = access.token is None and access.endpoint.count("/") == 2

    def reads(self, path: str) -> bool:
        """Whether it can give this object, as far as is known now."""
        return self._useful and addressable(path) and usable()

    def get(self, ask: Ask, path: str, span: Span = None) -> bytes:
        """
        The object, or what lies between two places.

        Errors:
            TransientError: another attempt may succeed.
            SourceError: it refuses, which only the API can explain.
        """
        obstore = obstore_package()
        try:
            if self._store is None:
                self._store = self._open()
            options = {"range": span} if span else None
            answer = obstore.get(self._store, f"{self._commit}/{path}", options=options)
            return cast(bytes, answer.bytes().to_bytes())
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise classify(error, url=ask.url, path=ask.path, needs=ask.needs) from None

    def give_up(self) -> None:
        """Never ask it again: it refused what the API gave."""
        self._useful = False

    def _open(self) -> Any:
        endpoint = self._access.endpoint
        keys = {
            "access_key_id": self._access.access_key_id,
            "secret_access_key": self._access.secret_access_key,
            "token": None,
            "expires_at": None,
        }
        settings = client_settings(self._options, url=endpoint)
        settings["client_options"] |= {
            "pool_max_idle_per_host": str(self._options.max_in_flight),
            "user_agent": "tfstream",
            **proxy_settings(self._proxy, url=endpoint),
        }
        return obstore_package().store.S3Store(
            self._repository,
            endpoint=endpoint,
            aws_endpoint_url_s3=endpoint,
            region="us-east-1",
            virtual_hosted_style_request=False,
            skip_signature=False,
            credential_provider=lambda: keys,
            **AWS_SETTINGS,
            **settings,
        )
