"""
Who signs requests to S3: arguments, else what botocore finds, renewed in time.

```
argument: access_key_id, secret_access_key, session_token    as given
argument: profile                                            that profile
neither                                                      variables, profiles, programs, roles
```
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from tfstream.errors import AuthenticationError
from tfstream.sources.base import Credentials
from tfstream.sources.s3_errors import botocore_package, no_credentials

CREDENTIALS = ("access_key_id", "secret_access_key", "session_token", "profile")
_LASTING = timedelta(minutes=9)
"""For how long obstore may use what it got; botocore renews ten minutes before the end. obstore
itself asks again five minutes before."""


def check_credentials(credentials: Credentials, *, anonymous: bool) -> None:
    """Errors: ValueError for an unknown name, half a pair, or any with `anonymous`."""
    unknown = sorted(set(credentials) - set(CREDENTIALS))
    if unknown:
        raise ValueError(f"S3 credentials are {', '.join(CREDENTIALS)}; got {unknown[0]!r}")
    given = {name for name, value in credentials.items() if value is not None}
    if given and anonymous:
        raise ValueError(f"anonymous=True takes no credentials, got {sorted(given)}")
    pair = {"access_key_id", "secret_access_key"}
    if given & {*pair, "session_token"} and not pair <= given:
        raise ValueError("S3 credentials need access_key_id and secret_access_key together")


def session_of(credentials: Credentials) -> Any:
    """botocore's session, which also knows endpoint and region of the profile."""
    session = botocore_package().session.Session(profile=credentials.get("profile"))
    if credentials.get("access_key_id"):
        session.set_credentials(
            credentials["access_key_id"],
            credentials["secret_access_key"],
            credentials.get("session_token"),
        )
    return session


def signer_of(session: Any, *, url: str) -> Any:
    """
    The credentials that botocore found.

    Errors: AuthenticationError where there are none; botocore's own.
    """
    try:
        signer = session.get_credentials()
    except ValueError:  # its text is what the program printed
        raise AuthenticationError(
            f"no usable credentials for {url}: credential_process prints no JSON"
        ) from None
    if signer is None:
        raise no_credentials(url)
    return signer


def provider_of(signer: Any) -> Callable[[], dict[str, Any]]:
    """What obstore calls for credentials: botocore's."""
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
