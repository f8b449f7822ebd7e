"""S3: what goes wrong on the way, by both clients, and what each becomes."""

from __future__ import annotations

import pytest

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectChangedError,
    ObjectNotFoundError,
    SourceError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError
from tfstream.sources.s3 import S3Source
from tfstream.testing.proxy import Fault, FaultProxy

FAST, EXACT = 1, 2
"""Attempts: obstore makes the first, botocore all others."""
DATA = b"0123456789"
BUCKET = "faults"


@pytest.fixture(scope="module")
def shared(s3_server):
    """A proxy, and a store whose requests pass it: connecting for each test takes longer."""
    s3_server.create_bucket(BUCKET)
    with FaultProxy(s3_server.endpoint) as proxy:
        source = S3Source(bucket=BUCKET, endpoint=proxy.endpoint)
        yield proxy, source.open(s3_server.credentials, ReadOptions())


@pytest.fixture
def proxy(shared):
    """What stands between the store and the server; no faults yet."""
    shared[0].clear()
    return shared[0]


@pytest.fixture
def store(shared, proxy, s3_server):
    """A store over a bucket with one object."""
    s3_server.upload(BUCKET, "a", DATA)
    return shared[1]


@pytest.fixture
def impatient(store, s3_server):
    """The same with little time."""
    return store.source.open(s3_server.credentials, ReadOptions(read_timeout=0.3))


@pytest.fixture
def info(store):
    """The one object, as listed."""
    return store.list_page("").objects[0]


def said(code):
    """The body of an S3 error."""
    return f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>m</Message></Error>'.encode()


@pytest.mark.parametrize("attempt", [FAST, EXACT])
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=503, body=said("SlowDown")), "503"),
        (Fault("status", status=429), "429"),
        (Fault("status", status=500, body=said("InternalError")), "500"),
        (Fault("status", status=502, body=b"<html>bad gateway"), "502"),
        (Fault("status", status=504), "504"),
        (Fault("status", status=400, body=said("RequestTimeout")), "400"),
        (Fault("reset"), "connection"),
        (Fault("cut", after=4), "cut body"),
        (Fault("cut"), "cut body"),
        (Fault("length", by=-3), "cut body"),
        (Fault("length", by=3), "cut body"),
        (Fault("change", body=DATA + b"more"), "cut body"),
        (Fault("html"), "bad answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind} {value.status}",
)
def test_what_another_attempt_may_mend(store, info, proxy, attempt, fault, kind):
    """Each fault is a TransientError of its kind; after it the same store reads well."""
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        store.get(info, attempt=attempt)
    assert kind == error.value.kind
    assert DATA == store.get(info, attempt=attempt)


@pytest.mark.parametrize("attempt", [FAST, EXACT])
@pytest.mark.parametrize("fault", [Fault("hang"), Fault("trickle", seconds=0.1)])
def test_every_wait_ends(store, impatient, info, proxy, attempt, fault):
    """No answer, or one that comes byte by byte, is a timeout and not waited out."""
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        impatient.get(info, attempt=attempt)
    assert "timeout" == error.value.kind
    assert DATA == store.get(info, attempt=attempt)


def test_a_listing_that_does_not_come(impatient, proxy):
    """A listing is not waited for longer than an object."""
    proxy.add(Fault("hang"))
    with pytest.raises(TransientError) as error:
        impatient.list_page("")
    assert "timeout" == error.value.kind


@pytest.mark.parametrize(("header", "expected"), [("7", 7.0), (None, None), ("soon", None)])
def test_the_server_says_when(store, info, proxy, header, expected):
    """The exact client passes on how long a server asks to wait."""
    proxy.add(Fault("status", status=503, retry_after=header))
    with pytest.raises(TransientError) as error:
        store.get(info, attempt=EXACT)
    assert expected == error.value.retry_after


@pytest.mark.parametrize("attempt", [FAST, EXACT])
@pytest.mark.parametrize(
    ("status", "code", "error", "message"),
    [
        (403, "AccessDenied", AccessDeniedError, "403 AccessDenied.*needs s3:GetObject"),
        (403, "InvalidAccessKeyId", AuthenticationError, "403 InvalidAccessKeyId"),
        (403, "SignatureDoesNotMatch", AuthenticationError, "403 SignatureDoesNotMatch"),
        (400, "ExpiredToken", AuthenticationError, "400 ExpiredToken"),
        (401, "Unauthorized", AuthenticationError, "401 Unauthorized"),
        (404, "NoSuchKey", ObjectNotFoundError, "404 NoSuchKey"),
        (412, "PreconditionFailed", ObjectChangedError, "412 PreconditionFailed"),
        (416, "InvalidRange", ObjectChangedError, "416 InvalidRange"),
        (418, "Teapot", SourceError, "unexpected answer.*418 Teapot"),
        (301, "PermanentRedirect", SourceError, "in eu-west-1: pass region"),
    ],
)
def test_what_is_final(store, info, proxy, attempt, status, code, error, message):
    """A refusal is an error of its own class that names the object, the code and the way out."""
    region = {"x-amz-bucket-region": "eu-west-1"} if status == 301 else {}
    proxy.add(Fault("status", status=status, body=said(code), headers=region, times=None))
    with pytest.raises(error, match=message) as raised:
        store.get(info, attempt=attempt)
    assert f"s3://{BUCKET}/a" in str(raised.value)
    assert "a" == raised.value.path


@pytest.mark.parametrize("attempt", [FAST, EXACT])
def test_another_object_of_the_same_size(store, info, s3_server, attempt):
    """A replaced object is noticed by its etag; the message has the old one and the new one."""
    s3_server.upload(BUCKET, "a", DATA[::-1])
    with pytest.raises(ObjectChangedError, match=f"its etag was {info.token}, now it is") as error:
        store.get(info, attempt=attempt)
    assert "a" == error.value.path


def test_a_server_that_ignores_ranges(store, info, proxy):
    """The whole object in place of a part is cut to the part."""
    proxy.add(Fault("ignore_range", body=DATA, headers={"ETag": info.token}, times=None))
    assert DATA[2:5] == store.get_range(info, start=2, length=3)


def test_an_answer_that_only_one_client_reads(store, info, proxy):
    """What obstore cannot read is asked for again at once by botocore."""
    proxy.add(Fault("status", status=418, match=BUCKET))
    assert DATA == store.get(info)
    assert [418, 200] == [request.status for request in proxy.requests[-2:]]


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (Fault("status", status=503, retry_after="2"), {"503"}),
        (Fault("html"), {"bad answer"}),
        (Fault("change", body=b"<R><IsTruncated>true</IsTruncated></R>"), {"bad answer"}),
        (Fault("reset"), {"connection"}),
        # botocore has no error of its own for these
        (Fault("change", body=b"<ListBucketResult><Cont"), {"500", "bad answer"}),
        (Fault("cut", after=30), {"500", "bad answer", "connection"}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_listing_that_fails(store, proxy, fault, kinds):
    """No page comes from an answer that is not whole; the next attempt has it all."""
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        store.list_page("")
    assert error.value.kind in kinds
    assert ["a"] == [info.path for info in store.list_page("").objects]


def test_a_listing_that_is_not_allowed(store, proxy):
    """The permission that is missing is named with its bucket."""
    proxy.add(Fault("status", status=403, body=said("AccessDenied"), times=None))
    with pytest.raises(AccessDeniedError, match=f"needs s3:ListBucket for {BUCKET}"):
        store.list_page("train/")


def test_buckets_that_may_not_be_listed(store, proxy, s3_server):
    """A missing bucket is the error also where the others cannot be named."""
    source = S3Source(bucket="no-such-bucket", endpoint=proxy.endpoint)
    proxy.add(Fault("status", status=403, match=lambda request: request.target == "/"))
    with pytest.raises(ObjectNotFoundError, match=r"^no such bucket: no-such-bucket$"):
        source.open(s3_server.credentials, ReadOptions()).list_page("")


def test_no_server():
    """Where nobody listens, reading and listing may be tried again."""
    store = S3Source(bucket="photos", endpoint="http://127.0.0.1:1").open(
        {"access_key_id": "a", "secret_access_key": "b"}, ReadOptions()
    )
    with pytest.raises(TransientError) as error:
        store.list_page("")
    assert "connection" == error.value.kind
    assert "http://127.0.0.1:1 cannot be reached" in str(error.value)
    assert "" == store.near("train/**")
