"""Indexes of archives that are kept on this machine."""

import pytest

from tfstream.fetch.index_cache import FOLDER, IndexCache
from tfstream.readers.base import Fields, Packed
from tfstream.readers.tar import TarReader
from tfstream.readers.zip import ZipReader
from tfstream.sources.base import ObjectInfo
from tfstream.sources.s3 import S3Source

INFO = ObjectInfo("shards/été.tar", 1000, "etag")
INDEX = [
    Packed("a/日本.jpg", 512, 100, 7, "cat"),
    Packed("b.jpg", 1 << 40, 1, (1 << 62) + 1, [1, 2]),
    Packed("c.jpg", 0, 0, 0, 0.5),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where indexes are kept."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache" / "index"


def cache(reader=TarReader(), fields=Fields(), source=S3Source(bucket="photos")):  # noqa: B008
    """The cache of a reader."""
    return IndexCache(source, reader, fields)


@pytest.mark.parametrize("index", [INDEX, []])
def test_what_is_kept_comes_back(folder, index):
    """Names, places and labels, in order, to whoever asks for the same."""
    assert cache().get(INFO) is None
    cache().put(INFO, index)
    assert index == cache().get(INFO)
    assert 1 == len([each for each in folder.rglob("*") if each.is_file()])


@pytest.mark.parametrize(
    ("other", "info"),
    [
        ({"reader": ZipReader()}, INFO),
        ({"fields": Fields(label="cls")}, INFO),
        ({"fields": Fields(image="cls")}, INFO),
        ({}, INFO._replace(token="another")),
        ({}, INFO._replace(size=1001)),
        ({}, INFO._replace(path="shards/b.tar")),
    ],
)
@pytest.mark.usefixtures("folder")
def test_everything_that_it_depends_on(other, info):
    """Another reader, field, key, size or token finds nothing."""
    cache().put(INFO, INDEX)
    assert cache(**other).get(info) is None


@pytest.mark.parametrize("token", ["", "1000"])
def test_a_token_that_is_no_more_than_the_size(folder, token):
    """Nothing is kept where a change of the same length would not be seen."""
    cache().put(INFO._replace(token=token), INDEX)
    assert cache().get(INFO._replace(token=token)) is None
    assert not folder.exists()


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_a_broken_file(folder, size):
    """It is read as if it were not there, and written anew."""
    cache().put(INFO, INDEX)
    (path,) = folder.rglob("*.npz")
    path.write_bytes(path.read_bytes()[:size])
    assert cache().get(INFO) is None
    cache().put(INFO, INDEX)
    assert INDEX == cache().get(INFO)


def test_a_folder_that_cannot_be(tmp_path, monkeypatch):
    """Then nothing is kept, and nothing fails."""
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER, str(tmp_path / "file"))
    cache().put(INFO, INDEX)
    assert cache().get(INFO) is None


def test_switched_off(monkeypatch):
    """An empty name: nothing is kept."""
    monkeypatch.setenv(FOLDER, "")
    cache().put(INFO, INDEX)
    assert cache().get(INFO) is None
