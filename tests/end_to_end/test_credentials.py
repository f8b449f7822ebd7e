"""Credentials: missing, wrong, without a permission; two datasets with different ones."""

from __future__ import annotations

import json

import pytest
from places import BRIEF, classes, examples, expected

import tfstream
from tfstream import AccessDeniedError, AuthenticationError, ReadOptions, RetriesExhaustedError
from tfstream.testing.proxy import Fault

WRONG = {"access_key_id": "AKIDWRONG", "secret_access_key": "wrong" * 8}


def refusal(place, *, known):
    """A fault that the store answers with to keys that it does not know, or that may not do it."""
    if place.store == "lakefs":
        said = "insufficient permissions" if known else "error authenticating request"
        return {"status": 401, "body": json.dumps({"message": said}).encode()}
    code = "AccessDenied" if known else "InvalidAccessKeyId"
    return {"status": 403, "body": f"<Error><Code>{code}</Code></Error>".encode()}


def test_no_credentials(place):
    """Without credentials the error lists the fields and every place that was looked at."""
    with pytest.raises(AuthenticationError) as error:
        place.open("train/**", credentials=None)
    looked_at = {
        "lakefs": [
            *("access_key_id", "secret_access_key", "LAKECTL_CREDENTIALS_ACCESS_KEY_ID"),
            *("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "credentials=", "~/.lakectl.yaml"),
        ],
        "s3": ["credentials argument", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "~/.aws/credentials"],
    }[place.store]
    assert [] == [text for text in looked_at if text not in str(error.value)]
    assert [] == place.proxy.requests


def test_no_endpoint(lakefs_place):
    """Without a server the error names the argument, the variable and the file."""
    with pytest.raises(AuthenticationError, match=r"endpoint not found.*LAKECTL_SERVER_ENDPOINT"):
        lakefs_place.open("train/**", endpoint=None)


def test_wrong_credentials(lakefs_place):
    """Keys that lakeFS does not know are told with where they were found, and not tried again."""
    lakefs_place.put(classes(2))
    with pytest.raises(AuthenticationError, match="credentials from the arguments"):
        lakefs_place.open("train/**", credentials=WRONG)
    assert [401] == [request.status for request in lakefs_place.proxy.requests]


def test_wrong_credentials_of_the_environment(lakefs_place, monkeypatch):
    """Keys of the environment that lakeFS does not know are told to be from there."""
    for name, value in WRONG.items():
        monkeypatch.setenv(f"LAKECTL_CREDENTIALS_{name.upper()}", value)
    with pytest.raises(AuthenticationError, match="credentials from the LAKECTL_\\* variables"):
        lakefs_place.open("train/**", credentials=None)


def test_keys_that_s3_does_not_know(s3_place):
    """Keys that S3 refuses are `AuthenticationError`, with S3's word for it."""
    s3_place.put(classes(2))
    s3_place.proxy.add(Fault("status", times=None, **refusal(s3_place, known=False)))
    with pytest.raises(AuthenticationError, match=r"not accepted.*403 InvalidAccessKeyId"):
        s3_place.open("train/**")


@pytest.mark.parametrize("when", ["listing", "reading"])
def test_a_missing_permission(place, when):
    """Keys that may not list, or not read, are `AccessDeniedError` with the permission's name."""
    place.put(classes(2))
    asked = place.is_listing if when == "listing" else place.is_read
    needs = {
        ("lakefs", "listing"): "needs fs:ListObjects",
        ("lakefs", "reading"): "needs fs:ReadObject",
        ("s3", "listing"): "needs s3:ListBucket",
        ("s3", "reading"): "needs s3:GetObject",
    }[place.store, when]
    place.proxy.add(Fault("status", match=asked, times=None, **refusal(place, known=True)))
    with pytest.raises(AccessDeniedError, match=rf"access denied: .*{place.name}.*{needs}"):
        examples(place.open("train/**"))


@pytest.mark.slow
def test_the_same_spec_with_other_credentials(place):
    """Good and bad credentials for equal specs stay apart, whichever dataset reads first."""
    place.put(classes(2))
    good = place.open("train/**")
    bad = tfstream.load(good.spec, credentials=WRONG, options=BRIEF)
    assert good.spec == bad.spec
    place.proxy.clear()
    if place.store == "s3":  # moto takes any keys

        def theirs(request):
            return request.access_key_id == WRONG["access_key_id"]

        place.proxy.add(Fault("status", match=theirs, times=None, **refusal(place, known=False)))
    for _ in range(2):
        with pytest.raises(AuthenticationError):
            examples(bad)
        assert expected(2) == sorted(examples(good))
    users = [request.access_key_id for request in place.reads() if request.status == 200]
    assert [place.credentials["access_key_id"]] * 16 == users
    assert WRONG["access_key_id"] in {request.access_key_id for request in place.proxy.requests}
    assert (16, {}) == (good.stats().objects, good.stats().errors)
    assert 0 == bad.stats().objects


@pytest.mark.slow
def test_the_same_spec_with_other_options(place):
    """ReadOptions are each dataset's own, also for equal specs in one process."""
    place.put(classes(2))
    key = "train/1/2.png"
    once = place.open("train/**", options=ReadOptions(attempts=1))
    often = place.open("train/**", options=ReadOptions(attempts=4, backoff=0))
    assert once.spec == often.spec
    for data, attempts in [(once, 1), (often, 4), (once, 1)]:
        place.proxy.clear()
        place.proxy.add(place.fault("status", key, times=None))
        with pytest.raises(RetriesExhaustedError) as error:
            examples(data)
        assert attempts == error.value.attempts
        assert attempts == sum(request.status == 503 for request in place.reads())


@pytest.mark.slow
def test_other_options_for_the_same_dataset(place):
    """`with_read_options` gives the same examples, with limits of its own."""
    place.put(classes(2))
    data = place.open("train/**")
    found = examples(data)
    place.proxy.clear()
    assert found == examples(data.with_read_options(ReadOptions(max_in_flight=1)))
    assert 1 == place.proxy.max_in_flight
