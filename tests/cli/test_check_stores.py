"""`tfstream check` on real stores: what becomes of objects that cannot be read."""

from __future__ import annotations

import functools

import pytest
from scans import BAD, GOOD, KINDS, PHOTO, fill

from tfstream.cli import target
from tfstream.fetch import retry
from tfstream.fetch.opening import pinned
from tfstream.graph import checking
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import Fault, FaultProxy


@pytest.fixture
def lakefs(lakefs_server, lakefs_repository, monkeypatch):
    """A function that commits objects to a new repository, which the environment leads to."""
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", lakefs_server.endpoint)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", lakefs_server.access_key_id)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", lakefs_server.secret_access_key)

    def put(objects):
        for key, data in objects.items():
            lakefs_server.upload(lakefs_repository, "main", key, data)
        commit = lakefs_server.commit(lakefs_repository, "main", "scans")
        return lakefs_repository, commit

    return put


@pytest.fixture
def s3(s3_server, s3_bucket, monkeypatch):
    """A function that puts objects into a new bucket, which the environment leads to."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_access_key)

    def put(objects):
        for key, data in objects.items():
            s3_server.upload(s3_bucket, key, data)
        return s3_bucket

    return put


@pytest.fixture
def s3_proxy(s3_server, s3, monkeypatch):
    """A proxy in front of the S3 server, to which the environment leads; no waits for retries."""
    monkeypatch.setattr(retry, "delay", lambda *_: 0.0)
    with FaultProxy(s3_server.endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        yield proxy


@pytest.fixture
def after_listing(monkeypatch):
    """`after_listing(call)`: that happens when the listing is done, and nothing is read yet."""

    def arrange(call):
        def listed(*arguments):
            found = pinned(*arguments)
            call()
            return found

        monkeypatch.setattr(target, "pinned", listed)

    return arrange


@pytest.mark.slow
def test_lakefs(tfstream, lakefs):
    """A branch is checked at its commit, which the report names."""
    repository, commit = lakefs(GOOD | BAD)
    ran = tfstream("check", f"lakefs://{repository}/main/**", "--json")
    assert (1, KINDS) == (ran.code, ran.kinds)
    assert f"lakefs://{repository}/{commit}/**" == ran.report["place"]


@pytest.mark.slow
def test_s3(tfstream, s3):
    """A bucket is checked; the pattern says which objects."""
    bucket = s3(GOOD | BAD)
    ran = tfstream("check", f"s3://{bucket}/**", "--json")
    assert (1, KINDS) == (ran.code, ran.kinds)
    assert 0 == tfstream("check", f"s3://{bucket}/good/**").code


def test_endpoint(tfstream, s3, s3_server, monkeypatch):
    """`--endpoint` is the server."""
    bucket = s3(GOOD)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    ran = tfstream("check", f"s3://{bucket}/**", "--endpoint", s3_server.endpoint)
    assert (0, "") == (ran.code, ran.err)


@pytest.mark.slow
def test_odd_keys(tfstream, lakefs):
    """Every legal key can be checked, and stands in the JSON as it is."""
    repository, _ = lakefs(dict.fromkeys(ODD_KEYS, b"") | {"good.jpg": PHOTO})
    ran = tfstream("check", f"lakefs://{repository}/main/**/*.jpg", "--json")
    keys = [key for key in ODD_KEYS if key.endswith(".jpg") and not key.startswith(".hidden")]
    assert sorted(keys) == ran.kinds["not an image (empty)"]
    assert 1 == ran.report["good"]


def test_uncommitted_objects_are_told(tfstream, lakefs, lakefs_server):
    """What is in no commit is not checked, and a line on stderr says so."""
    repository, _ = lakefs(GOOD)
    lakefs_server.upload(repository, "main", "new.jpg", b"")
    ran = tfstream("check", f"lakefs://{repository}/main/**", "--json")
    assert (0, len(GOOD)) == (ran.code, ran.report["checked"])
    assert "uncommitted" in ran.err
    assert ran.err.startswith("tfstream: ")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda file: file.unlink(), "not found any more"),
        (lambda file: file.write_bytes(b"another image"), "changed since it was listed"),
    ],
)
def test_a_file_of_another_time(tfstream, after_listing, tmp_path, change, kind):
    """A file that was deleted or written after the listing is bad; the others are checked."""
    fill(tmp_path, {"a.jpg": PHOTO, "b.jpg": PHOTO, "c.jpg": PHOTO})
    after_listing(lambda: change(tmp_path / "b.jpg"))
    ran = tfstream("check", tmp_path, "--json")
    assert (1, {kind: ["b.jpg"]}) == (ran.code, ran.kinds)
    assert 2 == ran.report["good"]


def test_an_object_of_another_time(tfstream, s3, s3_server, after_listing):
    """The same for objects of a bucket."""
    bucket = s3({"a.jpg": PHOTO, "b.jpg": PHOTO, "c.jpg": PHOTO})

    def change():
        s3_server.client().delete_object(Bucket=bucket, Key="a.jpg")
        s3_server.upload(bucket, "b.jpg", b"another image")

    after_listing(change)
    ran = tfstream("check", f"s3://{bucket}/**", "--json")
    assert {"changed since it was listed": ["b.jpg"], "not found any more": ["a.jpg"]} == ran.kinds


def test_denied_objects(tfstream, s3, s3_proxy):
    """An object that may not be read is bad, and the error says what is missing."""
    bucket = s3({"a.jpg": PHOTO, "b.jpg": PHOTO})
    denied = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    s3_proxy.add(Fault("status", match="/b.jpg", status=403, body=denied, times=None))
    ran = tfstream("check", f"s3://{bucket}/**", "--json")
    assert (1, {"access denied": ["b.jpg"]}) == (ran.code, ran.kinds)
    assert "s3:GetObject" in ran.report["kinds"]["access denied"]["b.jpg"]


def test_an_object_that_never_comes(tfstream, s3, s3_proxy):
    """An object whose every attempt fails is bad; one that comes at the second attempt is not."""
    bucket = s3({"a.jpg": PHOTO, "b.jpg": PHOTO})
    s3_proxy.add(Fault("status", match="/a.jpg"), Fault("status", match="/b.jpg", times=None))
    ran = tfstream("check", f"s3://{bucket}/**", "--json")
    assert (1, {"cannot be read": ["b.jpg"]}) == (ran.code, ran.kinds)
    assert "gave up after 5 attempts" in ran.report["kinds"]["cannot be read"]["b.jpg"]


def test_a_cut_body_is_no_cut_image(tfstream, s3, s3_proxy):
    """A connection that breaks off says nothing about the image: it is read again."""
    bucket = s3({"a.jpg": PHOTO})
    s3_proxy.add(Fault("cut", match="/a.jpg", after=100))
    assert 0 == tfstream("check", f"s3://{bucket}/**").code


def test_a_server_that_goes_down(tfstream, s3, s3_proxy, monkeypatch):
    """Where nothing can be read any more, the check ends: with what it found, and with code 2."""
    monkeypatch.setattr(checking, "_IN_A_ROW", 3)
    bucket = s3({f"{number}.jpg": PHOTO for number in range(9)})
    s3_proxy.add(Fault("reset", match=lambda it: ".jpg" in it.target, skip=2, times=None))
    ran = tfstream("check", f"s3://{bucket}/**", "--threads", 1, "--json")
    assert (2, False) == (ran.code, ran.report["complete"])
    assert (2, 5) == (ran.report["good"], ran.report["checked"])
    assert "3 objects in a row could not be read" in ran.err


def test_credentials_that_end(tfstream, s3, s3_proxy):
    """Credentials that are refused in the middle end the check with code 2."""
    bucket = s3({f"{number}.jpg": PHOTO for number in range(5)})
    expired = b"<Error><Code>ExpiredToken</Code><Message>expired</Message></Error>"
    fault = functools.partial(Fault, "status", status=400, body=expired, times=None)
    s3_proxy.add(fault(match=lambda it: ".jpg" in it.target, skip=1))
    ran = tfstream("check", f"s3://{bucket}/**", "--threads", 1, "--json")
    assert (2, 1, False) == (ran.code, ran.report["good"], ran.report["complete"])
    assert (0, {}) == (ran.report["bad"], ran.kinds)


def test_no_more_requests_than_threads(tfstream, s3, s3_proxy):
    """`--threads` bounds the requests that are under way."""
    bucket = s3({f"{number}.jpg": PHOTO for number in range(20)})
    s3_proxy.add(Fault("delay", seconds=0.02, times=None))
    tfstream("check", f"s3://{bucket}/**", "--threads", 3)
    assert 3 == s3_proxy.max_in_flight
