"""S3: the contract, what is listed, what an address means."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.parse import unquote

import pytest

from tfstream.errors import MissingDependencyError, ObjectNotFoundError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.s3 import S3Source, parse_s3_url
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import FaultProxy
from tfstream.testing.sources import SourceTests


class TestContract(SourceTests):
    """The contract, against moto."""

    pages_are_bounded = True
    odd_keys = tuple(key for key in ODD_KEYS if "\n" not in key)  # moto answers 404 to it

    @pytest.fixture(autouse=True)
    def location(self, s3_server, s3_bucket):
        """A new bucket."""
        self.server, self.bucket = s3_server, s3_bucket
        self.credentials = s3_server.credentials

    def source(self):
        """Over that bucket."""
        return S3Source(bucket=self.bucket, endpoint=self.server.endpoint)

    def missing_source(self):
        """Over a bucket that nobody made."""
        return S3Source(bucket="no-such-bucket", endpoint=self.server.endpoint)

    def put(self, path, data):
        """By botocore."""
        self.server.upload(self.bucket, path, data)

    def put_all(self, objects):
        """Straight into moto where HTTP would take seconds."""
        if len(objects) < 100:
            return super().put_all(objects)
        from moto.s3.models import s3_backends

        backend = s3_backends["123456789012"]["aws"]
        for path, data in objects.items():
            backend.put_object(self.bucket, path, data)
        return None

    def remove(self, path):
        """By botocore."""
        self.server.client().delete_object(Bucket=self.bucket, Key=path)


@pytest.fixture
def store(s3_server, s3_bucket):
    """An open store over the test's bucket."""
    source = S3Source(bucket=s3_bucket, endpoint=s3_server.endpoint)
    return source.open(s3_server.credentials, ReadOptions())


def test_both_clients_read_every_odd_key(store, s3_server, s3_bucket):
    """A repeated attempt goes through the other client and reads the same, also in parts."""
    keys = [key for key in ODD_KEYS if "\n" not in key]
    for key in keys:
        s3_server.upload(s3_bucket, key, f"data of {key}".encode())
    infos = store.list_page("").objects
    assert sorted(keys) == sorted(info.path for info in infos)
    for info in infos:
        expected = f"data of {info.path}".encode()
        assert [expected] * 2 == [store.get(info, attempt=number) for number in (1, 2)]
        assert expected[5:9] == store.get_range(info, start=5, length=4)


def test_a_key_arrives_as_it_is(s3_server, s3_bucket):
    """No client between here and the server turns a key's path into another one."""
    keys = [*ODD_KEYS, "..", "a/..", "/", "a//", "\x01", "a\x7f"]
    with FaultProxy(s3_server.endpoint) as proxy:
        source = S3Source(bucket=s3_bucket, endpoint=proxy.endpoint)
        store = source.open(s3_server.credentials, ReadOptions())
        for key in keys:
            proxy.clear()
            for attempt in (1, 2):
                with pytest.raises(ObjectNotFoundError):
                    store.get(ObjectInfo(key, 4, "etag"), attempt=attempt)
            targets = {request.target for request in proxy.requests}
            assert {f"/{s3_bucket}/{key}"} == {unquote(target) for target in targets}
            assert {False} == {"#" in target or "?" in target for target in targets}


def test_kinds_and_tokens(store, s3_server, s3_bucket):
    """A zero-byte key that ends in a slash is a directory; a token is the bare etag."""
    s3_server.upload(s3_bucket, "folder/", b"")
    s3_server.upload(s3_bucket, "folder/a", b"hello")
    s3_server.upload(s3_bucket, "with content/", b"hello")
    md5, empty = "5d41402abc4b2a76b9719d911017c592", "d41d8cd98f00b204e9800998ecf8427e"
    expected = [
        ObjectInfo("folder/", 0, empty, "directory"),
        ObjectInfo("folder/a", 5, md5),
        ObjectInfo("with content/", 5, md5),
    ]
    assert expected == store.list_page("").objects


def test_an_object_of_several_parts(store, s3_server, s3_bucket):
    """The etag of a multipart upload is no MD5; it is compared as it is."""
    client, name = s3_server.client(), {"Bucket": s3_bucket, "Key": "parts"}
    upload = client.create_multipart_upload(**name)["UploadId"]
    parts = []
    for number, data in enumerate([b"x" * (5 << 20), b"end"], start=1):
        answer = client.upload_part(**name, UploadId=upload, PartNumber=number, Body=data)
        parts.append({"PartNumber": number, "ETag": answer["ETag"]})
    client.complete_multipart_upload(**name, UploadId=upload, MultipartUpload={"Parts": parts})
    info = store.list_page("parts").objects[0]
    assert info.token.endswith("-2")
    for attempt in (1, 2):
        assert b"x" * (5 << 20) + b"end" == store.get(info, attempt=attempt)


def test_a_missing_bucket_names_others(s3_server, s3_bucket):
    """Who mistypes a bucket is told the one that was meant."""
    source = S3Source(bucket=s3_bucket[:-1], endpoint=s3_server.endpoint)
    store = source.open(s3_server.credentials, ReadOptions())
    with pytest.raises(ObjectNotFoundError, match=f"no such bucket: .*near it: .*{s3_bucket}"):
        store.list_page("")


def test_near(store, s3_server, s3_bucket):
    """The deepest folder that exists is looked into, folders and keys alike."""
    for key in ["train/hat/1.jpg", "train/hat/2.jpg", "train/labels.csv"]:
        s3_server.upload(s3_bucket, key, b"data")
    assert "in train/ there are: train/hat/, train/labels.csv" == store.near("train/cat/*.jpg")
    assert "in train/hat/ there are: train/hat/1.jpg, train/hat/2.jpg" == store.near(
        "train/hat/3.jpg"
    )
    assert "in the root there are: train/" == store.near("test/**")


def test_names():
    """A source says where it is in S3's own words."""
    source = S3Source(bucket="photos", endpoint="http://127.0.0.1:9000/")
    assert "s3://photos/a b//%20#?.jpg" == source.url("a b//%20#?.jpg")
    assert ("s3", {"endpoint", "region"}) == (source.name, source.location)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://photos/train/**/*.jpg", ("photos", "train/**/*.jpg")),
        ("s3://photos/a%20b?c#d+e", ("photos", "a%20b?c#d+e")),
        ("s3://photos//a//b", ("photos", "/a//b")),
        ("s3://photos/", ("photos", "**")),
        ("s3://photos", ("photos", "**")),
    ],
)
def test_a_url_is_taken_literally(url, expected):
    """Nothing in it is decoded, and nothing in it is special."""
    assert expected == parse_s3_url(url)


@pytest.mark.parametrize("url", ["s3:///a", "S3://a/b", "gs://a/b", "a/b", ""])
def test_other_urls_are_refused(url):
    """What is no S3 URL is an error that says what one is."""
    with pytest.raises(ValueError, match="expected s3://"):
        parse_s3_url(url)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bucket": ""}, "bucket's name, got ''"),
        ({"bucket": "a/b"}, "bucket's name, got 'a/b'"),
        ({"bucket": "a", "endpoint": "127.0.0.1:9000"}, "like https://host:port, got '127"),
        ({"bucket": "a", "endpoint": "ftp://host"}, "like https://host:port, got 'ftp"),
        ({"bucket": "a", "endpoint": "http://me:pass@host"}, "no user, password or query"),
    ],
)
def test_what_is_no_source(arguments, message):
    """A wrong field is named with its value, unless that may be a secret."""
    with pytest.raises(ValueError, match=message) as error:
        S3Source(**arguments)
    assert "pass@" not in str(error.value)


@pytest.mark.parametrize(
    ("package", "line"),
    [("botocore", 'pip install "tfstream[s3]"'), ("obstore", "pip install obstore")],
)
def test_a_missing_package_is_named(store, monkeypatch, package, line):
    """Without an optional package the message is the line that brings it."""
    gone = [name for name in sys.modules if name.split(".")[0] == package]
    for name in [package, f"{package}.session", f"{package}.store", f"{package}.exceptions", *gone]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError) as error:
        store.list_page("")
    assert line == str(error.value)


FORK = """
import json, os, sys
from tfstream.options import ReadOptions
from tfstream.sources.s3 import S3Source

arguments, credentials = json.loads(sys.argv[1])
store = S3Source(**arguments).open(credentials, ReadOptions())
info = store.list_page("").objects[0]
assert b"data" == store.get(info)
if os.fork() == 0:
    other = S3Source(**arguments).open(credentials, ReadOptions())
    good = b"data" == store.get(info) == other.get(info) and store.list_page("").objects == [info]
    os._exit(0 if good else 1)
assert b"data" == store.get(info)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.slow
def test_a_forked_process_reads_on(s3_server, s3_bucket):
    """After a fork the child connects anew and reads; obstore alone would hang there."""
    s3_server.upload(s3_bucket, "a", b"data")
    arguments = {"bucket": s3_bucket, "endpoint": s3_server.endpoint}
    command = [sys.executable, "-W", "ignore", "-c", FORK]
    text = json.dumps([arguments, s3_server.credentials])
    subprocess.run([*command, text], check=True, timeout=60)
