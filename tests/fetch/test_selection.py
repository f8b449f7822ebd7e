"""`keys` and `since`: which of all data, in which order, and what is said about the rest."""

from __future__ import annotations

import gzip
import io
import logging
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfstream.errors import ObjectNotFoundError, RefNotFoundError
from tfstream.fetch.opening import Wanted, pinned
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.given import ListLabels, MappingLabels
from tfstream.labels.images import ImageLabels
from tfstream.options import ReadOptions
from tfstream.sources.fsspec import FsspecSource
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.local import LocalSource
from tfstream.testing.images import encode, noise

OPTIONS = ReadOptions(attempts=1, backoff=0)
KEYS = ("cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "dog/4.jpg", "emu/5.jpg")


def chosen(files, keys, pattern="**", **wanted):
    """What is found in the folder /data of a filesystem."""
    source = FsspecSource(root="mine://data", pattern=pattern)
    return pinned(Wanted(source, keys=keys, **wanted), files.credentials, OPTIONS)


def paths(found):
    return list(found.manifest.objects.paths)


@pytest.fixture
def animals(files):
    """Five images in three class folders."""
    files.put_all(*KEYS)
    return files


class TestKeys:
    """A list of keys is what is streamed, in its order."""

    def test_their_order(self, animals):
        """It is the record order, class folders or not; class numbers are those of all data."""
        keys = ("emu/5.jpg", "cat/2.jpg", "dog/3.jpg")
        assert list(keys) == paths(chosen(animals, keys))
        found = chosen(animals, keys, labels=DirectoryLabels())
        assert list(keys) == paths(found)
        assert [2, 0, 1] == found.manifest.labels.tolist()
        assert ("cat", "dog", "emu") == found.class_names

    def test_few_classes(self, animals):
        """A list without a class, or of only one, still has the numbers of all data's classes."""
        found = chosen(animals, ("emu/5.jpg",), labels=DirectoryLabels())
        assert [2] == found.manifest.labels.tolist()
        assert ("cat", "dog", "emu") == found.class_names

    def test_class_names(self, animals):
        """A key of a class that `class_names` does not have is left out and counted."""
        wanted = {"labels": DirectoryLabels(), "class_names": ("emu", "cat")}
        found = chosen(animals, ("cat/1.jpg", "dog/3.jpg", "emu/5.jpg"), **wanted)
        assert ["cat/1.jpg", "emu/5.jpg"] == paths(found)
        assert [1, 0] == found.manifest.labels.tolist()
        assert {"not in a class folder of class_names": 1} == (
            found.reading.counts.snapshot().left_out
        )
        with pytest.raises(ObjectNotFoundError, match=r"nothing is left to read .*class_names"):
            chosen(animals, ("dog/3.jpg",), **wanted)

    def test_given_labels(self, animals):
        """A list of labels goes with the list of keys, a mapping has these keys."""
        keys = ("dog/4.jpg", "cat/1.jpg")
        found = chosen(animals, keys, labels=ListLabels(values=(7, 5)))
        assert [7, 5] == found.manifest.labels.tolist()
        mapping = MappingLabels(values={"cat/1.jpg": 5, "dog/4.jpg": 7})
        assert [7, 5] == chosen(animals, keys, labels=mapping).manifest.labels.tolist()

    def test_another_order_is_another_manifest(self, animals):
        """The digest covers which and in which order."""
        orders = [("cat/1.jpg", "cat/2.jpg"), ("cat/2.jpg", "cat/1.jpg"), None]
        assert 3 == len({chosen(animals, keys).manifest.digest for keys in orders})

    def test_names_that_are_no_image(self, files):
        """A key that is named is data, whatever its extension."""
        files.put_all("a.bin", "b.txt", data=encode(noise(), "JPEG"))
        assert ["b.txt", "a.bin"] == paths(chosen(files, ("b.txt", "a.bin")))

    def test_ignore(self, animals):
        """`ignore` leaves out of what is named, but not all."""
        keys = ("emu/5.jpg", "cat/1.jpg", "dog/3.jpg")
        found = chosen(animals, keys, ignore=("cat/**",))
        assert ["emu/5.jpg", "dog/3.jpg"] == paths(found)
        with pytest.raises(ObjectNotFoundError, match="ignore= leaves out all 2 keys"):
            chosen(animals, ("cat/1.jpg", "cat/2.jpg"), ignore=("cat/**",))

    def test_missing_keys(self, animals):
        """Keys that are not there are named, with what is near the first."""
        keys = ("cat/1.jpg", *(f"cat/0{number}.jpg" for number in range(5)))
        with pytest.raises(ObjectNotFoundError) as caught:
            chosen(animals, keys)
        assert "cat/00.jpg" == caught.value.path
        words = "5 of 6 that are not there, or are hidden or links: 'cat/00.jpg', 'cat/01.jpg', "
        assert words + "'cat/02.jpg', …" in str(caught.value)
        assert "cat/1.jpg" in str(caught.value).partition("…")[2]

    def test_keys_that_the_pattern_does_not_match(self, animals):
        """They are an error that names them, also where the object exists."""
        with pytest.raises(
            ValueError, match=r"1 of 2 that the pattern does not match: 'dog/3.jpg'"
        ):
            chosen(animals, ("cat/1.jpg", "dog/3.jpg"), "cat/*.jpg")
        with pytest.raises(ValueError, match=r"does not match: 'dog/3.jpg'"):
            chosen(animals, ("cat/1.jpg", "dog/3.jpg"), "cat")
        assert ["cat/1.jpg"] == paths(chosen(animals, ("cat/1.jpg",), "cat/1.jpg"))

    def test_masks(self, files):
        """Images are chosen; each has its mask, and the other masks are not said to be alone."""
        files.put_all(*(f"images/{name}.jpg" for name in "abc"))
        files.put_all(*(f"masks/{name}.png" for name in "abcd"))
        keys, labels = ("images/c.jpg", "images/a.jpg"), ImageLabels("masks/*.png")
        found = chosen(files, keys, "images/*.jpg", labels=labels)
        assert ["masks/c.png", "masks/a.png"] == list(found.manifest.partners.paths)
        assert {"mask without an image": 1} == found.reading.counts.snapshot().left_out

    def test_idx(self, files):
        """One file of an IDX pair takes the other with it."""
        numbers = bytes((0, 0, 8, 1, 0, 0, 0, 2, 5, 6))
        for part in "abc":
            files.put_all(f"{part}-images-idx1-ubyte.gz", data=gzip.compress(numbers))
            files.put_all(f"{part}-labels-idx1-ubyte.gz", data=gzip.compress(numbers))
        found = chosen(
            files,
            ("c-labels-idx1-ubyte.gz", "a-images-idx1-ubyte.gz"),
            labels=DirectoryLabels(),
        )
        assert ["c-images-idx1-ubyte.gz", "a-images-idx1-ubyte.gz"] == paths(found)
        assert 4 == found.manifest.count

    def test_records_in_archives(self, tmp_path):
        """They are named as files in a folder; the archive's own key means all in it."""
        for name in "ab":
            with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
                for number in range(3):
                    archive.writestr(f"{'cat' if number else 'dog'}/{number}.jpg", b"data")
        wanted = Wanted(
            LocalSource(root=str(tmp_path), pattern="*.zip"),
            labels=DirectoryLabels(),
            keys=("b.zip/cat/2.jpg", "a.zip", "b.zip/dog/0.jpg"),
        )
        found = pinned(wanted, None, OPTIONS)
        inside = ["a.zip/cat/1.jpg", "a.zip/cat/2.jpg", "a.zip/dog/0.jpg"]
        assert ["b.zip/cat/2.jpg", *inside, "b.zip/dog/0.jpg"] == paths(found)
        assert [0, 0, 0, 1, 1] == found.manifest.labels.tolist()
        with pytest.raises(ObjectNotFoundError, match=r"not there.*'b.zip/9.jpg'"):
            pinned(wanted._replace(keys=("a.zip", "b.zip/9.jpg")), None, OPTIONS)


def zipped(folders):
    """A zip with a file in each of these folders."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for folder in folders:
            archive.writestr(f"{folder}/1.jpg", b"data")
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """24 images in class folders, named so that no order is that of their numbers."""
    root = tmp_path_factory.mktemp("many")
    for number in range(24):
        path = root / f"{'cab'[number % 3]}" / f"{number * 7 % 24}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    return root


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_subset_in_any_order(folder, data):
    """Whichever keys in whichever order: the records are exactly those, labelled as in all data."""
    every = sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*.jpg"))
    keys = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    wanted = Wanted(LocalSource(root=str(folder)), labels=DirectoryLabels(), keys=tuple(keys))
    found = pinned(wanted, None, OPTIONS)
    assert keys == paths(found)
    assert ["abc".index(key[0]) for key in keys] == found.manifest.labels.tolist()


class TestKeysInAnObject:
    """A text or CSV object in the same place has the keys."""

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("list.txt", "dog/3.jpg\ncat/1.jpg\n"),
            ("list", "\ufeffdog/3.jpg\r\n\r\ncat/1.jpg"),
            ("list.csv", "dog/3.jpg\ncat/1.jpg\n"),
            ("list.csv", "dog/3.jpg,1\r\ncat/1.jpg,0\r\n"),
            ("LIST.CSV", 'label,Path\n1,dog/3.jpg\n\n0,"cat/1.jpg"\n'),
            ("list.csv", "key\ndog/3.jpg\ncat/1.jpg\n"),
            ("list.csv", "no, file ,label\n5,dog/3.jpg,1\n6,cat/1.jpg,0\n"),
        ],
    )
    def test_forms(self, animals, name, text):
        """One key a line; of a CSV the column key, file or path, else the first one."""
        animals.pipe(f"/data/lists/{name}", text.encode())
        assert ["dog/3.jpg", "cat/1.jpg"] == paths(chosen(animals, f"lists/{name}", "*/*.jpg"))

    def test_long_lists(self, tmp_path):
        """It may have more keys than a spec, and keys with any character that is no line break."""
        names = [f"{number:05}.jpg" for number in range(10_500, 0, -1)]
        names[7] = " a,b # %20 é.jpg"
        for name in names:
            (tmp_path / name).touch()
        (tmp_path / "list.txt").write_text("\n".join(names), "utf-8")
        found = pinned(Wanted(LocalSource(root=str(tmp_path)), keys="list.txt"), None, OPTIONS)
        assert names == paths(found)

    @pytest.mark.parametrize(
        ("name", "data", "words"),
        [
            ("l.txt", b"", "it has no keys"),
            ("l.csv", b"key\n", "it has no keys"),
            ("l.txt", b"a\nb\na\nc\nb\n", "it has 2 keys more than once: 'a', 'b'"),
            ("l.txt", gzip.compress(b"cat/1.jpg"), "it is no UTF-8 text"),
            ("l.csv", b"label,key\n0,\n", "a row without a key: \\['0', ''\\]"),
            ("l.csv", b"label,key\n0\n", "a row without a key: \\['0'\\]"),
            ("l.csv", b'"cat/1.jpg', "unexpected end of data"),
        ],
    )
    def test_what_is_no_list(self, animals, name, data, words):
        """The error has the object's URL."""
        animals.pipe(f"/data/{name}", data)
        with pytest.raises(ValueError, match=rf"mine://data/{name}, the list for keys=: .*{words}"):
            chosen(animals, name)

    def test_no_such_object(self, animals):
        """The error names what is near."""
        with pytest.raises(
            ObjectNotFoundError, match=r"no object mine://data/cat/l.txt.*cat/1.jpg"
        ):
            chosen(animals, "cat/l.txt")


class Repository:
    """A lakeFS repository with a tag, and what came after it."""

    def __init__(self, server, name):
        self.server, self.name = server, name

    def put(self, *keys, data=b"data"):
        for key in keys:
            self.server.upload(self.name, "main", key, data)

    def remove(self, key):
        self.server.request(
            "DELETE", f"/repositories/{self.name}/branches/main/objects", query={"path": key}
        )

    def commit(self, tag=None):
        commit = self.server.commit(self.name, "main", "step")
        if tag:
            tags = f"/repositories/{self.name}/tags"
            self.server.request("POST", tags, {"id": tag, "ref": "main"})
        return commit

    def source(self, pattern="**", ref="main", since="v1"):
        return LakeFSSource(
            repository=self.name,
            ref=ref,
            pattern=pattern,
            endpoint=self.server.endpoint,
            since_ref=since,
        )

    def found(self, pattern="**", ref="main", since="v1", **wanted):
        source = self.source(pattern, ref, since)
        return pinned(Wanted(source, **wanted), self.server.credentials, OPTIONS)


@pytest.fixture
def repository(lakefs_server, lakefs_repository):
    """`v1` has the five animals; later one is changed, one removed, and two are new."""
    place = Repository(lakefs_server, lakefs_repository)
    place.put(*KEYS, "list.txt")
    place.first = place.commit("v1")
    place.put("cat/2.jpg", data=b"changed, and longer")
    place.put("dog/3.jpg")  # as it was
    place.put("cat/0.jpg", "emu/6.jpg", "emu/.hidden.jpg", "other.txt")
    place.remove("dog/4.jpg")
    place.remove("list.txt")
    place.last = place.commit()
    return place


NEW = ["cat/0.jpg", "cat/2.jpg", "emu/6.jpg"]


class TestSince:
    """What was added or changed since another commit of lakeFS."""

    def test_what_is_new(self, repository, caplog):
        """Added and changed objects; removed ones are counted and named, unchanged ones are not."""
        with caplog.at_level(logging.WARNING, "tfstream"):
            found = repository.found(labels=DirectoryLabels())
        assert NEW == paths(found)
        assert 1 == found.reading.counts.snapshot().left_out["removed"]
        told = [each for each in caplog.messages if "removed" in each]
        assert [f"since v1 ({repository.first[:12]}): 'dog/4.jpg'"] == [
            each.partition("1 removed ")[2] for each in told
        ]

    def test_classes_are_those_of_all(self, repository):
        """A class without anything new keeps its number: a model knows the others by theirs."""
        found = repository.found(labels=DirectoryLabels())
        assert ("cat", "dog", "emu") == found.class_names
        assert [0, 0, 2] == found.manifest.labels.tolist()

    def test_sizes_and_tokens_are_the_listings(self, repository):
        """An object that is new has the row that it has in a dataset of everything."""
        every = {each.path: each for each in repository.found(since=None).manifest.objects}
        assert [every[key] for key in NEW] == list(repository.found().manifest.objects)

    def test_both_refs_are_pinned(self, repository):
        """The spec has two commit ids, and the refs as labels; later commits change nothing."""
        found = repository.found()
        assert (repository.last, repository.first) == (found.source.commit, found.source.since)
        assert ("main", "v1") == (found.source.ref, found.source.since_ref)
        repository.put("emu/9.jpg")
        repository.remove("cat/0.jpg")
        repository.commit()
        again = pinned(Wanted(found.source), repository.server.credentials, OPTIONS)
        assert found.manifest.digest == again.manifest.digest
        assert ["emu/9.jpg"] == [
            path for path in paths(repository.found()) if path not in paths(found)
        ]

    @pytest.mark.parametrize("since", ["main~1", "{first}", "{short}"])
    def test_any_ref(self, repository, since):
        """A tag, an expression, a whole or short commit id."""
        since = since.format(first=repository.first, short=repository.first[:12])
        assert NEW == paths(repository.found(since=since))

    def test_backwards(self, repository):
        """From the newer to the older commit, what only the older one has counts as added."""
        found = repository.found(ref="v1", since="main")
        assert ["cat/2.jpg", "dog/4.jpg"] == paths(found)

    def test_branches_that_went_apart(self, repository):
        """The two commits are compared as they are, not with what both came from."""
        server, base = repository.server, f"/repositories/{repository.name}"
        server.request("POST", f"{base}/tags", {"id": "v2", "ref": "main"})
        server.request("PUT", f"{base}/branches/main/hard_reset", query={"ref": "v1"})
        repository.put("cat/2.jpg", data=b"another change")
        repository.put("emu/6.jpg")
        repository.commit()
        assert ["cat/0.jpg", "cat/2.jpg"] == paths(repository.found(ref="v2", since="main"))
        assert ["cat/2.jpg", "dog/4.jpg"] == paths(repository.found(ref="main", since="v2"))

    def test_pattern_and_ignore(self, repository):
        """They hold for what is new and for what was removed."""
        found = repository.found("cat/**", ignore=("cat/0.jpg",))
        assert ["cat/2.jpg"] == paths(found)
        assert {"ignored": 1} == found.reading.counts.snapshot().left_out
        gone = repository.found(ignore=("dog/**",)).reading.counts.snapshot().left_out
        assert "removed" not in gone

    def test_keys(self, repository):
        """Of the keys, in their order, those that are new."""
        keys = ("emu/6.jpg", "cat/1.jpg", "cat/2.jpg")
        assert ["emu/6.jpg", "cat/2.jpg"] == paths(repository.found(keys=keys))

    def test_new_metadata_is_a_change(self, repository):
        """Labels may be there. The same bytes uploaded again are none, as lakeFS has it."""
        path = f"/repositories/{repository.name}/branches/main/objects/stat/user_metadata"
        before = repository.last
        repository.server.request(
            "PUT", path, {"set": {"class": "hen"}}, query={"path": "emu/5.jpg"}
        )
        repository.put("cat/1.jpg")
        repository.commit()
        assert ["emu/5.jpg"] == paths(repository.found(since=before))

    def test_archives(self, repository):
        """An archive that changed is new as a whole; its classes are those of all archives."""
        for name, folders in (("a", "hat"), ("b", "hub")):
            repository.put(f"{name}.zip", data=zipped(folders))
        repository.commit("v2")
        repository.put("b.zip", data=zipped("tub"))
        repository.commit()
        found = repository.found("*.zip", since="v2", labels=DirectoryLabels())
        assert ["b.zip/b/1.jpg", "b.zip/t/1.jpg", "b.zip/u/1.jpg"] == paths(found)
        assert tuple("abhtu") == found.class_names
        assert [1, 3, 4] == found.manifest.labels.tolist()

    def test_nothing_new(self, repository):
        """An empty diff is an error that says which commits, and what was removed."""
        first = repository.first[:12]
        with pytest.raises(ObjectNotFoundError) as caught:
            repository.found("dog/**")
        assert f"/dog/** since v1 ({first}); 1 removed: 'dog/4.jpg'" in str(caught.value)
        with pytest.raises(ObjectNotFoundError, match=r"since main .*which is the same commit"):
            repository.found(since="main")
        with pytest.raises(ObjectNotFoundError, match=r"not selected: 'cat/0.jpg', "):
            repository.found("cat/*", keys=("cat/1.jpg",))

    def test_an_unknown_ref(self, repository):
        """The error names the ref and those near it."""
        with pytest.raises(RefNotFoundError, match=r"no branch, tag or commit 'v11'.*v1"):
            repository.found(since="v11")

    def test_many_changes(self, repository, monkeypatch):
        """A diff of several pages is taken whole."""
        monkeypatch.setattr("tfstream.sources.lakefs_store.PAGE", 2)
        assert NEW == paths(repository.found())

    def test_what_no_spec_can_be(self):
        """Refs are checked as they are given."""
        for since in ("", "a/b", "main$"):
            with pytest.raises(ValueError, match=r"since_ref|uncommitted"):
                LakeFSSource(repository="photos", ref="main", since_ref=since)
