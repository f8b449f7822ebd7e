"""What a graph from elsewhere may open here."""

from __future__ import annotations

import pytest

from tfstream.sources.azure import AzureSource
from tfstream.sources.base import Source
from tfstream.sources.fsspec import FsspecSource
from tfstream.sources.gcs import GCSSource
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.local import LocalSource
from tfstream.sources.s3 import S3Source
from tfstream.sources.strangers import is_only_here, refusal

SERVER = "https://lakefs.example.com"
PHOTOS = {"repository": "photos", "ref": "main"}


@pytest.mark.parametrize(
    "source",
    [
        LakeFSSource(**PHOTOS),
        S3Source(bucket="photos"),
        S3Source(bucket="photos", endpoint="http://127.0.0.1:9000"),
        GCSSource(bucket="photos"),
        AzureSource(account="account", container="photos"),
        FsspecSource(root="https://example.com/photos"),
        FsspecSource(root="http://example.com/photos"),
    ],
    ids=lambda source: source.url(""),
)
def test_object_stores(source):
    """Stores at servers that the environment knows, and S3, whose requests hold no key."""
    assert refusal(source) is None
    assert not is_only_here(source)


class Mine(Source):
    """A source of another package."""

    portable = False

    def url(self, path):
        return f"mine://{path}"


@pytest.mark.parametrize(
    "source",
    [
        LocalSource(root="photos"),
        FsspecSource(root="file:///photos"),
        FsspecSource(root="memory://photos"),
        FsspecSource(root="sftp://example.com/photos"),
        FsspecSource(root="zip://photos::https://example.com/photos.zip"),
        FsspecSource(root="simplecache::https://example.com/photos"),
        FsspecSource(root="reference::https://example.com/photos.json"),
        GCSSource(bucket="photos", endpoint="https://example.com"),
        AzureSource(account="account", container="photos", endpoint="https://example.com"),
        LakeFSSource(**PHOTOS, endpoint=SERVER),
        Mine(),
    ],
    ids=lambda source: source.url("")[-24:],
)
def test_everything_else(source):
    """Files, chains of filesystems, other packages' sources, and servers that get the key."""
    assert "photos" in (refusal(source) or "") or "mine://" in (refusal(source) or "")


def test_the_environments_own_server(monkeypatch):
    """A lakeFS server that this environment names too is asked; another one is not."""
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", f"{SERVER}/api/v1")
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "secret")
    assert refusal(LakeFSSource(**PHOTOS, endpoint=SERVER)) is None
    other = refusal(LakeFSSource(**PHOTOS, endpoint="https://example.com"))
    assert other is not None
    assert "https://example.com, which would be sent this environment's key" in other
    assert "secret" not in other


@pytest.mark.parametrize(
    ("root", "only_here"),
    [
        ("memory://photos", True),
        ("mine://photos", True),
        ("zip://photos::memory://photos.zip", True),
        ("file:///photos", False),
        ("sftp://example.com/photos", False),
    ],
)
def test_what_no_other_process_has(root, only_here):
    """Memory and a user's own filesystem stay; files and servers may be there as well."""
    assert only_here == is_only_here(FsspecSource(root=root))


def test_a_folder_may_be_there_too():
    """A folder travels: whether it may be opened is decided where it arrives."""
    assert not is_only_here(LocalSource(root="photos"))


def test_other_packages_sources():
    """Of a source of another package its own `portable` decides."""
    assert is_only_here(Mine())
