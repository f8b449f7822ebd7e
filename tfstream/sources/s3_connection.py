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

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tfstream.errors import AuthenticationError
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials
from tfstream.sources.obstore_client import (
    AWS_SETTINGS,
    client_settings,
    obstore_package,
    proxy_settings,
    usable,
)
from tfstream.sources.s3_errors import botocore_package, no_credentials

CREDENTIALS = ("access_key_id", "secret_access_key", "session_token", "profile")
DEFAULT_REGION = "us-east-1"
"""Where none is configured; servers other than AWS take any."""
_LASTING = timedelta(minutes=9)
"""For how long obstore may use what it got; botocore renews ten minutes before the end. obstore
itself asks again five minutes before."""


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


def check_credentials(credentials: Credentials, *, anonymous: bool) -> None:
    """Errors: ValueError for an unknown name, half a pair, or any with `anonymous`."""
    unknown = sorted(set(credentials) - set(CREDENTIALS))
    if unknown:
        raise ValueError(f"S3 credentials are {', '.join(CREDENTIALS)}; got {unknown[0]!r}")
    given = {name for name, value in credentials.items() if value is not None}
    if given and anonymous:
        raise ValueError(f"anonymous=True takes no credentials, got {sorted(given)}")
    pair = {"access_key_id", "secret_access_key"}
    if given & pair and not pair <= given:
        raise ValueError("S3 credentials need access_key_id and secret_access_key together")
    if "session_token" in given and not pair <= given:
        raise ValueError("a session_token needs its access_key_id and secret_access_key")


def connect(place: Place, credentials: Credentials, options: ReadOptions) -> Connection:
    """
    Build both clients. Sends nothing to the bucket, but may ask for a role's credentials.

    Errors:
        AuthenticationError: there are none.
        botocore's own: a profile is missing, a program that gives credentials failed.
    """
    session = _session(credentials)
    signer = None if place.anonymous else _signer(session, place)
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


def _session(credentials: Credentials) -> Any:
    session = botocore_package().session.Session(profile=credentials.get("profile"))
    if credentials.get("access_key_id"):
        session.set_credentials(
            credentials["access_key_id"],
            credentials["secret_access_key"],
            credentials.get("session_token"),
        )
    return session


def _signer(session: Any, place: Place) -> Any:
    """The credentials that botocore found."""
    try:
        signer = session.get_credentials()
    except ValueError:  # its text is what the program printed
        raise AuthenticationError(
            f"no usable credentials for {place.url}: credential_process prints no JSON"
        ) from None
    if signer is None:
        raise no_credentials(place.url)
    return signer


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
        found["root_certificate"] = Path(bundle).read_text()
    return found


def _fast(
    place: Place, client: Any, endpoint: str | None, signer: Any, settings: dict[str, Any]
) -> Any | None:
    """obstore's store for the same bucket, endpoint, region and credentials."""
    obstore = obstore_package()
    url = client.meta.endpoint_url.rstrip("/")
    path_style = endpoint is not None or "." in place.bucket  # no certificate covers the dot
    if not path_style:
        parts = urlsplit(url)
        url = f"{parts.scheme}://{place.bucket}.{parts.netloc}"
    try:
        return obstore.store.S3Store(
            place.bucket,
            endpoint=url,
            aws_endpoint_url_s3=url,
            region=client.meta.region_name,
            virtual_hosted_style_request=not path_style,
            skip_signature=place.anonymous,
            credential_provider=None if place.anonymous else _provider(signer),
            **AWS_SETTINGS,
            **settings,
        )
    except obstore.exceptions.UnknownConfigurationKeyError:
        return None  # an obstore before 0.12 takes no certificates: botocore reads alone


def _provider(signer: Any) -> Callable[[], dict[str, Any]]:
    """What obstore calls for credentials: botocore's, which botocore renews in time."""
    from botocore.credentials import RefreshableCredentials

    def provide() -> dict[str, Any]:
        frozen = signer.get_frozen_credentials()
        good_for = None
        if isinstance(signer, RefreshableCredentials):
            soon = signer.refresh_needed(refresh_in=_LASTING.total_seconds())
            good_for = timedelta(0) if soon else _LASTING
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": None if good_for is None else datetime.now(timezone.utc) + good_for,
        }

    return provide
