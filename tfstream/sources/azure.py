"""Azure Blob Storage, by obstore. What it can list and read: see `obstore_list`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, Source
from tfstream.sources.object_url import check_endpoint, split_url
from tfstream.sources.obstore_client import client_settings
from tfstream.sources.obstore_store import ObstoreStore, build, check_names

CREDENTIALS = (
    "account_key",
    "sas_key",
    "token",
    "client_id",
    "client_secret",
    "tenant_id",
    "authority_host",
    "federated_token_file",
    "msi_endpoint",
    "object_id",
    "msi_resource_id",
    "use_azure_cli",
    "skip_signature",
)
"""obstore's own names; what is not given it looks for in AZURE_* variables."""

ACCOUNT_VARIABLE = "AZURE_STORAGE_ACCOUNT_NAME"
_NAME = re.compile(r"[A-Za-z0-9$-]{1,63}\Z")


@dataclass(frozen=True, kw_only=True)
class AzureSource(Source):
    """
    A container of an Azure storage account.

    ```python
    AzureSource(account="lab", container="photos", pattern="train/**/*.jpg")
    ```

    Attributes:
        endpoint: An emulator, with the account in its path where it wants that
            (`http://127.0.0.1:10000/devstoreaccount1`). None: Azure's.
    """

    name: ClassVar[str] = "azure"
    location: ClassVar[frozenset[str]] = frozenset({"endpoint"})

    account: str
    container: str
    endpoint: str | None = None

    def __post_init__(self) -> None:
        for field in ("account", "container"):
            value = getattr(self, field)
            if not _NAME.match(value):
                raise ValueError(f"AzureSource.{field} is a name, got {value!r}")
        check_endpoint("AzureSource.endpoint", self.endpoint)

    def open(self, credentials: Credentials | None, options: ReadOptions) -> ObstoreStore:
        """
        Errors:
            ValueError: credentials with unknown names.
            AuthenticationError: credentials that cannot be used.
        """
        settings: dict[str, Any] = dict(credentials or {})
        check_names("Azure", settings, CREDENTIALS)
        # the endpoint is always given, so that no AZURE_* variable moves the account
        endpoint = self.endpoint or f"https://{self.account}.blob.core.windows.net"
        settings |= {"account_name": self.account, "endpoint": endpoint, "use_emulator": False}
        settings |= client_settings(options, url=endpoint)
        store = build(self, lambda stores: stores.AzureStore(self.container, **settings))
        role = "the role Storage Blob Data Reader"
        return ObstoreStore(self, store, needs_list=role, needs_get=role)

    def url(self, path: str) -> str:
        """`az://container@account/key`, the key as it is."""
        return f"az://{self.container}@{self.account}/{path}"


def parse_az_url(url: str) -> tuple[str, str, str]:
    """
    Account, container and pattern of `az://container@account/pattern`, taken literally.

    The account may be left out where AZURE_STORAGE_ACCOUNT_NAME has it.

    Errors: ValueError for anything else.
    """
    place, pattern = split_url(url, "az")
    container, _, account = place.partition("@")
    account = account or os.environ.get(ACCOUNT_VARIABLE, "")
    if not account:
        raise ValueError(
            f"{url!r} names no account: write az://{container}@account/… or set {ACCOUNT_VARIABLE}"
        )
    return account, container, pattern
