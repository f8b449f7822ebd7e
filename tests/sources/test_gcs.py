"""GCS: the contract. moto stands in for it: obstore speaks GCS' XML interface, which is S3's."""

from __future__ import annotations

import uuid

import pytest

from tfstream.errors import AccessDeniedError, AuthenticationError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo, TransientError
from tfstream.sources.gcs import GCSSource, parse_gs_url
from tfstream.sources.obstore_errors import addressable
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import Fault, FaultProxy
from tfstream.testing.sources import SourceTests

PUBLIC = {"skip_signature": True}


def put(server, bucket, key, data):
    """An object that may be read without a signature."""
    server.client().put_object(Bucket=bucket, Key=key, Body=data, ACL="public-read")


def put_many(bucket, keys):
    """Straight into moto: over HTTP it would take seconds."""
    from moto.s3.models import s3_backends

    for key in keys:
        s3_backends["123456789012"]["aws"].put_object(bucket, key, b"x")


@pytest.fixture
def bucket(s3_server):
    """A new bucket; moto does not decode the hyphen that obstore encodes in a name."""
    name = f"bucket{uuid.uuid4().hex[:12]}"
    s3_server.create_bucket(name)
    return name


class TestContract(SourceTests):
    """The contract, for keys that obstore can address."""

    pages_are_bounded = True
    odd_keys = tuple(key for key in ODD_KEYS if addressable(key))
    credentials = PUBLIC

    @pytest.fixture(autouse=True)
    def location(self, s3_server, bucket):
        """A new bucket."""
        self.server, self.bucket = s3_server, bucket

    def source(self):
        """Over that bucket."""
        return GCSSource(bucket=self.bucket, endpoint=self.server.endpoint)

    def missing_source(self):
        """Over a bucket that nobody made."""
        return GCSSource(bucket="no-such-bucket", endpoint=self.server.endpoint)

    def put(self, path, data):
        """By botocore."""
        put(self.server, self.bucket, path, data)

    def put_all(self, objects):
        """Not over HTTP where there are many."""
        if len(objects) < 200:
            super().put_all(objects)
        else:
            put_many(self.bucket, objects)

    def remove(self, path):
        """By botocore."""
        self.server.client().delete_object(Bucket=self.bucket, Key=path)


@pytest.fixture
def proxy(s3_server):
    """What stands between the store and the server."""
    with FaultProxy(s3_server.endpoint) as proxy:
        yield proxy


@pytest.fixture
def store(proxy, bucket):
    """A store whose requests pass the proxy."""
    return GCSSource(bucket=bucket, endpoint=proxy.endpoint).open(PUBLIC, ReadOptions())


def test_directory_markers_are_told_apart(store, s3_server, bucket):
    """obstore lists `a/` as `a`; here it is a directory, also beside an empty object `a`."""
    for key in ["a", "a-b", "a/", "b/", "c/", "c/d"]:
        put(s3_server, bucket, key, b"" if key in ("a", "a/", "b/", "c/") else b"data")
    kinds = {info.path: info.kind for info in store.list_page("").objects}
    markers = dict.fromkeys(["a/", "b/", "c/"], "directory")
    assert dict.fromkeys(["a", "a-b", "c/d"], "object") | markers == kinds
    assert [("c/", "directory"), ("c/d", "object")] == [
        (info.path, info.kind) for info in store.list_page("c/").objects
    ]


@pytest.mark.parametrize("key", ["x/a//b", "x/../b", "x/./b", "x/tab\tb"])
def test_a_key_that_obstore_cannot_read_is_named(store, s3_server, bucket, key):
    """Such a key is an error of the listing, never left out; other folders are well."""
    put(s3_server, bucket, key, b"data")
    put(s3_server, bucket, "y/b", b"data")
    with pytest.raises(SourceError) as error:
        store.list_page("")
    assert key in str(error.value)
    assert "rename that object" in str(error.value)
    assert ["y/b"] == [info.path for info in store.list_page("y/").objects]
    with pytest.raises(SourceError, match="cannot read this key"):
        store.get(ObjectInfo(key, 4, "etag"))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429), "429"),
        (Fault("status", status=504), "504"),
        (Fault("reset"), "connection"),
        (Fault("cut", after=2), "cut body"),
        (Fault("change", body=b"da"), "cut body"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_what_another_attempt_may_mend(store, proxy, s3_server, bucket, fault, kind):
    """Each fault is a TransientError of its kind; after it the same store reads well."""
    put(s3_server, bucket, "a", b"data")
    info = store.list_page("").objects[0]
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        store.get(info)
    assert kind == error.value.kind
    assert b"data" == store.get(info, attempt=2)


def test_a_server_that_does_not_answer(store, proxy, s3_server, bucket):
    """A whole answer that is not there in time is a timeout."""
    put(s3_server, bucket, "a", b"data")
    info = store.list_page("").objects[0]
    proxy.add(Fault("hang"))
    with pytest.raises(TransientError) as error:
        store.source.open(PUBLIC, ReadOptions(read_timeout=0.3)).get(info)
    assert "timeout" == error.value.kind


def test_a_page_that_is_no_object(store, proxy, s3_server, bucket):
    """An HTML page in place of the object is an error, never its content."""
    put(s3_server, bucket, "a", b"data")
    info = store.list_page("").objects[0]
    proxy.add(Fault("html"))
    with pytest.raises(SourceError, match="an answer that obstore cannot read: gs://"):
        store.get(info)


def test_a_permission_that_is_missing(store, proxy, s3_server, bucket):
    """A refusal names the object and the permission, for reading and for listing."""
    put(s3_server, bucket, "a", b"data")
    info = store.list_page("").objects[0]
    proxy.add(Fault("status", status=403, times=None))
    with pytest.raises(AccessDeniedError, match=r"gs://.*/a \(403\): needs storage.objects.get"):
        store.get(info)
    with pytest.raises(AccessDeniedError, match=r"needs storage.objects.list"):
        store.list_page("")


def test_a_forked_process_is_told(store, bucket, monkeypatch):
    """obstore would hang in a fork; here that is an error that says what to do."""
    monkeypatch.setattr("tfstream.sources.obstore_store.usable", lambda: False)
    for call in (lambda: store.list_page(""), lambda: store.get(ObjectInfo("a", 1, "etag"))):
        with pytest.raises(SourceError, match=f"gs://{bucket}/.*: start it by spawn"):
            call()
    assert "" == store.near("a/*")


def test_a_bearer_token_is_sent(proxy, bucket):
    """Credentials go to obstore under its own names, and two stores keep theirs apart."""
    source = GCSSource(bucket=bucket, endpoint=proxy.endpoint)
    stores = [source.open({"bearer_token": name}, ReadOptions()) for name in ("one", "two")]
    for store in stores:
        store.list_page("")
    sent = [request.headers["authorization"] for request in proxy.requests]
    assert ["Bearer one", "Bearer two"] == sent


@pytest.mark.parametrize(
    "credentials",
    [{"service_account": "no-such-file.json"}, {"service_account_key": '{"key": "hush"}'}],
)
def test_credentials_that_cannot_be_used(credentials):
    """A key file that is absent or no key is an error when the source is opened."""
    with pytest.raises(
        AuthenticationError, match="credentials for gs://photos/ cannot be"
    ) as error:
        GCSSource(bucket="photos").open(credentials, ReadOptions())
    assert "hush" not in str(error.value)


def test_wrong_names():
    """Unknown credentials and things that are no bucket are refused by name."""
    with pytest.raises(ValueError, match=r"GCS credentials are service_account, .*; got 'key'"):
        GCSSource(bucket="photos").open({"key": "a"}, ReadOptions())
    with pytest.raises(ValueError, match="bucket's name, got 'a/b'"):
        GCSSource(bucket="a/b")
    with pytest.raises(ValueError, match="expected gs://name/pattern, got 's3://a/b'"):
        parse_gs_url("s3://a/b")


def test_names():
    """A source says where it is in Google's own words, and its URLs are taken literally."""
    assert ("gcs", "gs://b/a//%20#") == (GCSSource.name, GCSSource(bucket="b").url("a//%20#"))
    assert ("photos", "a%20b/**") == parse_gs_url("gs://photos/a%20b/**")
