"""fsspec: what its filesystems' errors mean."""

from __future__ import annotations

import pytest

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    SourceError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError
from tfstream.sources.fsspec_errors import fsspec_error, without_secrets

OPTIONS = ReadOptions(attempts=1)


def error_named(*names, **attributes):
    """An error of a client that is not installed here, with its class' name and bases."""
    cls = Exception
    for name in reversed(names):
        cls = type(name, (cls,), {})
    error = cls("about //user:hush@host/x?sig=hush and hush")
    vars(error).update(attributes)
    return error


class Response:
    status_code = 403


@pytest.mark.parametrize(
    ("error", "expected", "says"),
    [
        (error_named("AuthenticationException", "SSHException"), AuthenticationError, "accepted"),
        (error_named("NoCredentialsError"), AuthenticationError, "pass credentials"),
        (
            error_named("ClientConnectorCertificateError", "ClientConnectionError"),
            SourceError,
            "certif",
        ),
        (error_named("SSHException"), TransientError, "connection"),
        (error_named("Timeout"), TransientError, "timeout"),
        (error_named("IncompleteRead"), TransientError, "cut body"),
        (error_named("HTTPError", response=Response()), AccessDeniedError, "403"),
        (error_named("HttpError", code=429), TransientError, "429"),
        (error_named("BadZipFile"), SourceError, "BadZipFile: about //…@host/x?… and …"),
        (OSError("no number"), SourceError, "OSError: no number"),
        (PermissionError("hush"), AccessDeniedError, "needs permission"),
        (TimeoutError(), TransientError, "timeout"),
        (ConnectionResetError(104, "hush"), TransientError, "connection"),
        (OSError(5, "hush"), TransientError, "EIO"),
        (OSError(28, "hush"), SourceError, "ENOSPC"),
        (KeyError("x"), SourceError, "KeyError"),
    ],
)
def test_errors(error, expected, says):
    """Every client's errors become ours, by status, name or number, without a secret."""
    told = fsspec_error(error, url="u://x", path="x", credentials={"a": {"password": "hush"}})
    assert expected is type(told)
    assert says in str(told)
    assert "hush" not in str(told)


def test_without_secrets():
    """Every text of the credentials, however deep, is taken out."""
    credentials = {"a": [{"b": "long secret"}, ("secret",)], "c": 1, "d": "x"}
    assert without_secrets("x long secret, secret", credentials) == "x …, …"
