"""lakeFS: the contract, refs and commits, what is said about what is missing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from tfstream.errors import ObjectGoneError, ObjectNotFoundError, RefNotFoundError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.lakefs import LakeFSSource, parse_lakefs_url
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.sources import SourceTests, found, one

LONGEST = "é" * 500 + "/" + "x" * 23  # 1,024 bytes, lakeFS' most


class TestLakeFSSource(SourceTests):
    """A lakeFS repository keeps the contract of every source, for every odd key."""

    odd_keys = (*ODD_KEYS, LONGEST)
    pages_are_bounded = True
    keeps_what_was_listed = True

    @pytest.fixture(autouse=True)
    def location(self, lakefs_server, lakefs_repository):
        self.server, self.repository = lakefs_server, lakefs_repository
        self.credentials = lakefs_server.credentials
        self.branch = f"/repositories/{lakefs_repository}/branches/main"

    def source(self):
        return LakeFSSource(repository=self.repository, ref="main", endpoint=self.server.endpoint)

    def missing_source(self):
        return replace(self.source(), repository="no-such-repository")

    def put(self, path, data):
        self.server.upload(self.repository, "main", path, data)

    def put_all(self, objects):
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(self.put, *zip(*objects.items(), strict=True)))
        self.seal()

    def remove(self, path):
        self.server.request("DELETE", f"{self.branch}/objects?path={quote(path, safe='')}")

    def seal(self):
        self.server.request(
            "POST", f"{self.branch}/commits", {"message": "step", "allow_empty": True}
        )


@pytest.fixture
def repository(lakefs_server, lakefs_repository):
    """A repository with `train/a.jpg` and `train/b.jpg` committed on `main`."""
    for name in ("a", "b"):
        lakefs_server.upload(lakefs_repository, "main", f"train/{name}.jpg", name.encode())
    lakefs_server.commit(lakefs_repository, "main", "two")
    return lakefs_repository


@pytest.fixture
def open_at(lakefs_server, repository):
    """Opens that repository, or another one, at a ref."""

    def opened(ref="main", **fields):
        fields = {"repository": repository, "endpoint": lakefs_server.endpoint, **fields}
        return LakeFSSource(ref=ref, **fields).open(lakefs_server.credentials, ReadOptions())

    return opened


@pytest.fixture
def head(lakefs_server, repository):
    """The id of the commit of `main`."""
    return lakefs_server.request("GET", f"/repositories/{repository}/commits/main")["id"]


# Refs


def test_every_form_of_a_ref_is_pinned_to_its_commit(lakefs_server, repository, open_at, head):
    """Branch, tag, whole and short commit id and expressions mean what lakeFS says."""
    tags = f"/repositories/{repository}/tags"
    lakefs_server.request("POST", tags, {"id": "v1+2.3", "ref": "main"})
    parent = lakefs_server.request("GET", f"/repositories/{repository}/commits/main~1")["id"]
    expected = dict.fromkeys(["main", "main@", "v1+2.3", head, head[:12], "main~0"], head)
    expected |= dict.fromkeys(["main~1", "main^1", "v1+2.3~"], parent)
    assert expected == {ref: open_at(ref).pin().commit for ref in expected}


def test_pinning_keeps_the_ref_as_a_label(open_at, head):
    """A pinned source still says which branch it was, and its URLs name the commit."""
    store = open_at("main")
    pinned = store.pin()
    assert ("main", head) == (pinned.ref, pinned.commit)
    assert pinned.url("x y").endswith(f"/{head}/x y")
    assert store.source.url("x y").endswith("/main/x y")


def test_a_store_stays_at_its_commit(lakefs_server, repository, open_at, head):
    """What is committed after the pin is not listed, and what it replaced is still read."""
    store = open_at("main")
    pinned = store.pin()
    lakefs_server.upload(repository, "main", "train/a.jpg", b"newer")
    lakefs_server.upload(repository, "main", "train/c.jpg", b"c")
    lakefs_server.commit(repository, "main", "moved")
    assert ["train/a.jpg", "train/b.jpg"] == [info.path for info in found(store)]
    assert b"a" == store.get(one(store, "train/a.jpg"))
    assert pinned == store.pin()
    assert pinned.commit != open_at("main").pin().commit


def test_a_store_that_was_not_pinned_pins_itself(open_at):
    """Listing first and pinning later gives one and the same commit."""
    store = open_at("main")
    listed = found(store)
    assert listed == found(open_at("main", commit=store.pin().commit))


def test_a_given_commit_is_checked(open_at):
    """An id that no commit has is an error when it is pinned, and when it is listed."""
    store = open_at("main", commit="f" * 64)
    with pytest.raises(RefNotFoundError, match="ffff"):
        store.pin()
    with pytest.raises(RefNotFoundError, match="ffff"):
        store.list_page("")


@pytest.mark.parametrize("ref", ["mian", "main~99", "main~x", "main^9", "..", "a b", "é", "f" * 64])
def test_an_unknown_ref_names_those_near_it(lakefs_server, repository, open_at, ref):
    """A ref that does not exist, or cannot, is final and the error says what there is."""
    tags = f"/repositories/{repository}/tags"
    lakefs_server.request("POST", tags, {"id": "maintenance-1.0", "ref": "main"})
    with pytest.raises(RefNotFoundError, match=r"(near it|there are): .*main") as error:
        open_at(ref).pin()
    assert repr(ref) in str(error.value)


@pytest.mark.parametrize("wanted", ["no-such", "not_legal", ".."])
def test_an_unknown_repository_names_those_that_exist(lakefs_repository, open_at, wanted):
    """A repository that does not exist, or cannot, is an error that names others."""
    with pytest.raises(ObjectNotFoundError, match=r"there are: \w+") as error:
        open_at("main", repository=wanted).pin()
    assert repr(wanted) in str(error.value)
    similar = lakefs_repository[:-1]
    with pytest.raises(ObjectNotFoundError, match=f"near it: .*{lakefs_repository}"):
        open_at("main", repository=similar).pin()


# What is listed


def test_markers_and_symlinks_are_listed_as_such(lakefs_server, repository, open_at):
    """A zero-byte key that ends in a slash is a directory, lakectl's symlink a symlink."""
    lakefs_server.upload(repository, "main", "empty/", b"")
    lakefs_server.upload(repository, "main", "full/", b"data")
    link = {"::lakefs::symlink-target": "a.jpg"}
    lakefs_server.upload(repository, "main", "train/link.jpg", b"", link)
    lakefs_server.upload(repository, "main", "train/other.jpg", b"", {"author": "me"})
    lakefs_server.commit(repository, "main", "kinds")
    kinds = {info.path: info.kind for info in open_at("main").list_page("").objects}
    expected = {"empty/": "directory", "full/": "object", "train/link.jpg": "symlink"}
    assert expected == {path: kinds[path] for path in expected}
    assert {"object"} == {kinds[path] for path in kinds.keys() - expected.keys()}


def test_uncommitted_objects_are_not_listed_but_noticed(lakefs_server, repository, open_at):
    """New, changed and removed objects that are not committed change nothing, and are told."""
    assert [] == list(open_at("main").notices("train/"))
    lakefs_server.upload(repository, "main", "train/c.jpg", b"c")
    store = open_at("main")
    assert ["train/a.jpg", "train/b.jpg"] == [info.path for info in found(store)]
    (notice,) = store.notices("train/")
    assert "branch main" in notice
    assert "train/c.jpg" in notice
    assert [] == list(store.notices("test/"))


def test_nothing_but_uncommitted_objects(lakefs_server, repository, open_at):
    """Where nothing matches, what was uploaded there and not committed is part of the answer."""
    lakefs_server.upload(repository, "main", "new/c.jpg", b"c")
    near = open_at("main").near("new/**/*.jpg")
    assert "branch main of" in near
    assert "such as new/c.jpg: they are not read. Commit them" in near
    assert "uncommitted" not in open_at("main").near("other/**")


@pytest.mark.parametrize("ref", ["main~1", "main@", "v1", "{head}"])
def test_only_a_branch_is_noticed(lakefs_server, repository, open_at, head, ref):
    """A ref that is no branch has no uncommitted objects."""
    lakefs_server.request("POST", f"/repositories/{repository}/tags", {"id": "v1", "ref": "main"})
    lakefs_server.upload(repository, "main", "train/c.jpg", b"c")
    assert [] == list(open_at(ref.format(head=head)).notices(""))


# What is missing


def test_a_key_that_the_commit_has_not_is_not_found(open_at, head):
    """The error has the key, the commit and what lakeFS said, on either way of reading."""
    store = open_at("main")
    store.pin()
    for attempt, key in [(1, "train/x.jpg"), (2, "train/x.jpg"), (1, "train//x.jpg")]:
        with pytest.raises(ObjectNotFoundError, match=f"{head}/{key}.*404") as error:
            store.get(ObjectInfo(key, 1, ""), attempt=attempt)
        assert key == error.value.path


@pytest.mark.parametrize("attempt", [1, 2])
def test_collected_garbage_is_gone(lakefs_server, repository, open_at, attempt):
    """An object whose data was deleted from the storage below lakeFS is `ObjectGoneError`."""
    store = open_at("main")
    info = one(store, "train/a.jpg")
    stat = f"/repositories/{repository}/refs/main/objects/stat?path=train%2Fa.jpg"
    address = lakefs_server.request("GET", stat)["physical_address"]
    Path(address.removeprefix("local://")).unlink()
    with pytest.raises(ObjectGoneError, match="garbage collection") as error:
        store.get(info, attempt=attempt)
    assert "train/a.jpg" == error.value.path


def test_near_names_what_is_in_the_deepest_folder(open_at):
    """Near a missing key are the first keys and folders of the folder above it."""
    store = open_at("main")
    assert "in train/ there are: train/a.jpg, train/b.jpg" == store.near("train/cat/*.jpg")
    assert "in the root there are: train/" == store.near("tran/a.jpg")
    assert "" == open_at("nope").near("train/a.jpg")


# Descriptions


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"repository": ""}, "repository"),
        ({"repository": "a/b"}, "repository"),
        ({"ref": ""}, "ref"),
        ({"ref": "a/b"}, "ref"),
        ({"ref": "main$"}, "uncommitted"),
        ({"commit": "abc"}, "64 hex"),
        ({"endpoint": "ftp://x"}, "endpoint"),
    ],
)
def test_a_source_that_cannot_be_is_refused(fields, message):
    """Every field is checked when the source is made, and the error names it."""
    with pytest.raises(ValueError, match=message):
        LakeFSSource(**{"repository": "photos", "ref": "main", **fields})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("lakefs://photos/main", ("photos", "main", "**")),
        ("lakefs://photos/main/", ("photos", "main", "**")),
        ("lakefs://photos/main~1/train/**/*.jpg", ("photos", "main~1", "train/**/*.jpg")),
        ("lakefs://photos/v1+2//a%20b?c#d\n", ("photos", "v1+2", "/a%20b?c#d\n")),
        ("LakeFS://photos/main/x", ("photos", "main", "x")),
    ],
)
def test_a_url_is_taken_apart_literally(url, expected):
    """Nothing of a lakefs:// URL is decoded or dropped."""
    assert expected == parse_lakefs_url(url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://photos/main", "starts with lakefs://"),
        ("lakefs:///main/x", "no repository"),
        ("lakefs://photos", "no branch, tag or commit"),
        ("lakefs://photos//x", "no branch, tag or commit"),
    ],
)
def test_a_url_without_a_part_says_which(url, message):
    """The error of an incomplete URL names the part that is missing."""
    with pytest.raises(ValueError, match=message):
        parse_lakefs_url(url)


def test_a_password_in_a_url_is_refused_unseen():
    """A user and password in a URL are refused without being shown."""
    with pytest.raises(ValueError, match="credentials=") as error:
        parse_lakefs_url("lakefs://me:hunter22@photos/main")
    assert "hunter22" not in str(error.value)
