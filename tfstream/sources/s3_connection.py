"""
The two clients that read one bucket, and where their settings come from.

```
                botocore                               obstore
used for        listing, odd keys, repeated attempts   first attempts: a tenth of the CPU
credentials     arguments, else the environment,       asks botocore's each few minutes
                profiles and roles
endpoint        argument, else AWS_ENDPOINT_URL(_S3)   what botocore found
region          argument, else the environment         what botocore found
```

obstore would read `AWS_*` variables itself. Every setting that one of them could change is
given, so that the user's environment never mixes with explicit credentials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tfstream.errors import SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials
from tfstream.sources.object_url import check_endpoint
from tfstream.sources.obstore_client import (
    AWS_SETTINGS,
    client_settings,
    obstore_package,
    proxy_settings,
    usable,
)
from tfstream.sources.s3_credentials import provider_of, session_of, signer_of

DEFAULT_REGION = "us-east-1"
"""Where none is configured; servers other than AWS take any."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which bucket, and how to get there, as far as it was given."""

    bucket: str
    endpoint: str | None
    region: str | None
    anonymous: bool

    @property
    def url(self) -> str:
        """The bucket as people write it."""
        return f"s3://{self.bucket}"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """
    Open clients.

    Attributes:
        client: botocore's.
        fast: obstore's store, or None where it cannot be used.
    """

    client: Any = field(repr=False)
    fast: Any | None = field(repr=False)


def connect(place: Place, credentials: Credentials, options: ReadOptions) -> Connection:
    """
    Build both clients. Sends nothing to the bucket, but may ask for a role's credentials.

    Errors:
        AuthenticationError: there are none.
        botocore's own: a profile is missing, a program that gives credentials failed.
    """
    session = session_of(credentials)
    signer = None if place.anonymous else signer_of(session, url=place.url)
    endpoint = place.endpoint or _configured_endpoint(session)
    region = place.region or session.get_config_variable("region") or DEFAULT_REGION
    client = session.create_client(
        "s3", endpoint_url=endpoint, region_name=region, config=_config(place, endpoint, options)
    )
    fast = None
    if usable():
        settings = client_settings(options, url=client.meta.endpoint_url)
        settings["client_options"] |= _network(session, client.meta.endpoint_url)
        fast = _fast(place, client, endpoint, signer, settings)
    return Connection(client=client, fast=fast)


def _configured_endpoint(session: Any) -> str | None:
    """AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the profile's; botocore alone hides which."""
    from botocore.configprovider import ConfiguredEndpointProvider

    if session.get_config_variable("ignore_configured_endpoint_urls"):
        return None
    provider = ConfiguredEndpointProvider(
        full_config=session.full_config,
        scoped_config=session.get_scoped_config(),
        client_name="s3",
    )
    found: str | None = provider.provide()
    try:
        check_endpoint("AWS_ENDPOINT_URL", found)
    except ValueError as error:
        raise SourceError(str(error)) from None
    return found


def _config(place: Place, endpoint: str | None, options: ReadOptions) -> Any:
    from botocore import UNSIGNED
    from botocore.config import Config

    return Config(
        signature_version=UNSIGNED if place.anonymous else None,
        s3={"addressing_style": "path"} if endpoint else None,
        retries={"total_max_attempts": 1, "mode": "standard"},
        connect_timeout=options.connect_timeout,
        read_timeout=options.read_timeout,
        max_pool_connections=options.max_in_flight,
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def _network(session: Any, url: str) -> dict[str, Any]:
    """Proxy and certificate authorities as botocore has them, for obstore."""
    from botocore.utils import get_environ_proxies

    found = proxy_settings(get_environ_proxies(url).get(url.partition(":")[0]), url=url)
    bundle = session.get_config_variable("ca_bundle")
    if bundle is not None and url.startswith("https://"):
        try:
            found["root_certificate"] = Path(bundle).read_text()
        except OSError as error:
            raise SourceError(f"AWS_CA_BUNDLE cannot be read: {bundle}: {error.strerror}") from None
    return found


def _fast(
    place: Place, client: Any, endpoint: str | None, signer: Any, settings: dict[str, Any]
) -> Any:
    """obstore's store for the same bucket, endpoint, region and credentials."""
    url = client.meta.endpoint_url.rstrip("/")
    path_style = endpoint is not None or "." in place.bucket  # no certificate covers the dot
    if not path_style:
        parts = urlsplit(url)
        url = f"{parts.scheme}://{place.bucket}.{parts.netloc}"
    obstore = obstore_package()
    try:
        return obstore.store.S3Store(
            place.bucket,
            endpoint=url,
            aws_endpoint_url_s3=url,
            region=client.meta.region_name,
            virtual_hosted_style_request=not path_style,
            skip_signature=place.anonymous,
            credential_provider=None if place.anonymous else provider_of(signer),
            **AWS_SETTINGS,
            **settings,
        )
    except (obstore.exceptions.BaseError, ValueError) as error:
        raise SourceError(
            f"obstore refuses the settings for {place.url}: {type(error).__name__}"
        ) from None
