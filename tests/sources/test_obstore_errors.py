"""Which keys obstore reads exactly, and what its errors mean."""

from __future__ import annotations

import os

import obstore
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from tfstream.errors import AuthenticationError, SourceError
from tfstream.sources import obstore_client
from tfstream.sources.base import TransientError
from tfstream.sources.obstore_errors import addressable, by_status, classify
from tfstream.testing.odd_keys import ODD_KEYS


def reads_exactly(key):
    """Whether obstore stores an object under exactly this key."""
    store = MemoryStore()
    try:
        obstore.put(store, key, b"data")
    except (ValueError, UnicodeEncodeError):
        return False
    return [key] == [meta["path"] for chunk in obstore.list(store) for meta in chunk]


@given(st.text(st.sampled_from("a./ \t\n\x7f\x85é%\ud800") | st.characters(), max_size=12))
@example("")
def test_addressable(key):
    """The rule is obstore's own, for every text."""
    assert reads_exactly(key) == addressable(key)


@pytest.mark.parametrize("key", ODD_KEYS)
def test_addressable_odd_keys(key):
    """The rule holds for the keys that others get wrong."""
    assert reads_exactly(key) == addressable(key)


def obstore_error(detail, *, shown="shown"):
    """An error as obstore words it."""
    return obstore.exceptions.GenericError(f"{shown}\n\nDebug source:\nGeneric {{\n{detail}\n}}")


TOKEN = "    source: TokenRequest {\n        inner: Status {\n            status: %s,\n"
METADATA = "                http://%s/token,\n"


@pytest.mark.parametrize("host", ["metadata.google.internal", "169.254.169.254"])
@pytest.mark.parametrize("status", ["403", "404"])
def test_no_credentials_of_the_machine(host, status):
    """A machine without credentials of its own is no missing permission and no missing object."""
    error = classify(obstore_error(TOKEN % status + METADATA % host), url="gs://b/k", path="k")
    assert isinstance(error, AuthenticationError)
    assert "no usable credentials were found for gs://b/k" == str(error)


def test_no_answer_to_a_request_for_a_token():
    """Nobody answers where no machine gives credentials; Google's own server may answer later."""
    detail = "    source: TokenRequest {\n        HttpError {\n"
    final = classify(obstore_error(detail + METADATA % "metadata.google.internal"), url="gs://b")
    assert isinstance(final, AuthenticationError)
    passing = classify(obstore_error(detail + METADATA % "oauth2.example"), url="gs://b")
    assert isinstance(passing, TransientError)
    busy = classify(obstore_error(TOKEN % 503 + METADATA % "169.254.169.254"), url="gs://b")
    assert isinstance(busy, TransientError)


def test_an_untrusted_certificate_is_final():
    """Another attempt meets the same certificate."""
    detail = "    HttpError {\n        InvalidCertificate(\n            UnknownIssuer,"
    error = classify(obstore_error(detail), url="s3://b/k")
    assert isinstance(error, SourceError)
    assert "the server's certificate is not trusted: s3://b/k" == str(error)


def test_only_the_answer_counts():
    """What a key or a body says about a status is not taken for the server's own."""
    shown = "\n\nDebug source:\n    status: 503,\n<Code>SlowDown</Code>"
    detail = "    inner: Status {\n        status: 404,\n"
    assert "not found: s3://b/k (404)" == str(
        classify(obstore_error(detail, shown=shown), url="s3://b/k")
    )


def test_no_text_of_obstore_is_shown():
    """A signed URL in obstore's text does not leave."""
    detail = "    uri: https://host/k?sig=given-secret\n        status: 418,\n"
    error = classify(obstore_error(detail, shown="https://host/k?sig=given-secret"), url="az://c/k")
    assert "given-secret" not in str(error)


def test_how_long_to_wait_is_kept():
    """A status that may pass keeps what the server asked for."""
    error = by_status(429, None, url="s3://b/k", retry_after=3.0)
    assert isinstance(error, TransientError)
    assert ("429", 3.0) == (error.kind, error.retry_after)


def test_a_fork_is_noticed(monkeypatch):
    """obstore counts as lost in the child of a process that had imported it."""
    monkeypatch.setattr(obstore_client, "_threads_lost", False)
    assert obstore_client.usable()
    obstore_client._after_fork()
    assert not obstore_client.usable()
    assert hasattr(os, "register_at_fork")
