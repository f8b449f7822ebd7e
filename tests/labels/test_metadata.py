"""MetadataLabels: from the listing of a real lakeFS server."""

from __future__ import annotations

import pytest

from tfstream.fetch.opening import Wanted, pinned
from tfstream.labels.metadata import MetadataLabels
from tfstream.options import ReadOptions
from tfstream.sources.lakefs import LakeFSSource

LABELS = MetadataLabels("class")


@pytest.fixture
def pets(lakefs_server, lakefs_repository):
    """Three objects with metadata, committed."""
    for key, name in [("img/b.jpg", "dog"), ("img/a.jpg", "cat"), ("img/c.jpg", "dog")]:
        put(lakefs_server, lakefs_repository, key, {"class": name, "Other": "x"})
    lakefs_server.commit(lakefs_repository, "main", "pets")
    return lakefs_repository


def put(server, repository, key, metadata):
    server.upload(repository, "main", key, key.encode(), metadata)


def found_in(server, repository, labels=LABELS, ref="main"):
    source = LakeFSSource(repository=repository, ref=ref, endpoint=server.endpoint)
    return pinned(Wanted(source, labels=labels), server.credentials, ReadOptions(attempts=1))


def test_labels(lakefs_server, pets):
    """The value is the name of the class; records go by key."""
    found = found_in(lakefs_server, pets)
    assert ["img/a.jpg", "img/b.jpg", "img/c.jpg"] == list(found.manifest.objects.paths)
    assert (("cat", "dog"), [0, 1, 1]) == (found.class_names, found.manifest.labels.tolist())


def test_an_object_without_it(lakefs_server, pets):
    """It is named; names of metadata are exact."""
    put(lakefs_server, pets, "img/d.jpg", {"klass": "dog"})
    lakefs_server.commit(pets, "main", "another")
    with pytest.raises(ValueError, match=r"1 of 4 records have no metadata 'class': 'img/d\.jpg'"):
        found_in(lakefs_server, pets)


def test_no_request_for_an_object(lakefs_server, pets, monkeypatch):
    """One commit, one page: nothing is asked of an object."""
    from tfstream.sources.lakefs_api import LakeFSApi

    asked, send = [], LakeFSApi.send

    def noted(self, path, *others, **more):
        asked.append(path.partition("?")[0].rpartition("/")[2])
        return send(self, path, *others, **more)

    monkeypatch.setattr(LakeFSApi, "send", noted)
    found_in(lakefs_server, pets)
    assert "ls" == asked[-1]
    assert 1 == asked.count("ls")
    assert 2 == len(asked)


def test_only_where_it_is_asked_for(lakefs_server, pets):
    """Other listings carry no metadata, and neither does the store that reads."""
    found = found_in(lakefs_server, pets)
    page = found.reading.store.list_page("img/")
    assert [None] * 3 == [info.metadata for info in page.objects]
    page = found.reading.store.with_metadata("class").list_page("img/")
    assert ["cat", "dog", "dog"] == [info.metadata for info in page.objects]


def test_the_commit_keeps_them(lakefs_server, pets):
    """Metadata that changes later changes nothing of a dataset that is pinned."""
    before = found_in(lakefs_server, pets)
    put(lakefs_server, pets, "img/a.jpg", {"class": "bird"})
    lakefs_server.commit(pets, "main", "a bird")
    again = found_in(lakefs_server, pets, ref=before.source.commit)
    assert before.manifest.digest == again.manifest.digest
    assert ("bird", "dog") == found_in(lakefs_server, pets).class_names


def test_no_name():
    """Metadata has a name."""
    with pytest.raises(ValueError, match="`key` of MetadataLabels must name a value"):
        MetadataLabels("")
