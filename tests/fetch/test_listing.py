"""From a pattern to objects: what is taken, what is left out, and what is said about it."""

from __future__ import annotations

import errno
import logging

import pytest

from tfstream.errors import (
    AccessDeniedError,
    ObjectChangedError,
    ObjectNotFoundError,
    RetriesExhaustedError,
)
from tfstream.fetch import ignoring
from tfstream.fetch.listing import listing_of, warn_unused
from tfstream.sources.base import ObjectInfo, Page


def is_jpeg(key):
    return key.endswith(".jpg")


def listed(reading, *, ignore=(), is_data=is_jpeg):
    return listing_of(
        reading.source,
        reading.store,
        ignore=ignore,
        options=reading.options,
        counts=reading.counts,
        is_data=is_data,
    )


def keys(listing):
    return [info.path for info in listing.objects]


class Fixed:
    """A store with pages that are given."""

    def __init__(self, *pages):
        self.pages = pages

    def list_page(self, prefix, after=None):
        at = after or 0
        return Page(self.pages[at], at + 1 if at + 1 < len(self.pages) else None)


@pytest.mark.parametrize(
    ("pattern", "expected", "prefix"),
    [
        ("**", ["cat/1.jpg", "cat/deep/2.jpg", "dog/3.jpg", "dog.jpg"], ""),
        ("*/*.jpg", ["cat/1.jpg", "dog/3.jpg"], ""),
        ("cat", ["cat/1.jpg", "cat/deep/2.jpg"], "cat/"),
        ("cat/", ["cat/1.jpg", "cat/deep/2.jpg"], "cat/"),
        ("cat/deep/2.jpg", ["cat/deep/2.jpg"], "cat/deep/"),
        ("dog.jpg", ["dog.jpg"], ""),
        ("dog", ["dog/3.jpg"], "dog/"),
        ("[cd]*/?.jpg", ["cat/1.jpg", "dog/3.jpg"], ""),
    ],
)
def test_patterns(files, pattern, expected, prefix):
    """Without a wildcard it is that object, or else that folder; the prefix ends at a slash."""
    files.put_all("cat/1.jpg", "cat/deep/2.jpg", "dog/3.jpg", "dog.jpg")
    listing = listed(files.reading(pattern))
    assert sorted(expected) == keys(listing)
    assert prefix == listing.prefix


def test_an_object_is_taken_as_it_is(files):
    """An object that is named is data, whatever it is called."""
    files.put_all("photo", "photo.txt")
    assert ["photo.txt"] == keys(listed(files.reading("photo.txt")))


def test_sorted_by_bytes(files):
    """Keys are in the order of their bytes, whatever order the store lists them in."""
    names = ["é.jpg", "z.jpg", "Z.jpg", "10.jpg", "9.jpg", "a/b.jpg", "a-b.jpg", "日.jpg"]
    files.put_all(*names)
    assert sorted(names, key=str.encode) == keys(listed(files.reading()))


def test_what_is_left_out(files, caplog):
    """All that is no data is counted by reason, and named once with one or two keys each."""
    files.put_all("a/1.jpg", "README.md", "a/labels.csv", "a/x.txt", ".git/2.jpg", "a/._1.jpg")
    reading = files.reading()
    with caplog.at_level(logging.WARNING, "tfstream"):
        listing = listed(reading, ignore=["a/x.*"])
    assert ["a/1.jpg"] == keys(listing)
    expected = {"not data": 2, "hidden": 2, "ignored": 1}
    assert expected == listing.left_out == reading.counts.snapshot().left_out
    assert [
        "mine://data/**: left out 2 hidden (.git/2.jpg, a/._1.jpg), 1 ignored (a/x.txt), "
        "2 not data (README.md, a/labels.csv)"
    ] == caplog.messages


def test_kinds_that_are_never_read(files, caplog):
    """Links, directory markers and devices are left out; markers are counted in silence."""
    reading = files.reading()
    kinds = ["symlink", "directory", "other", "object"]
    reading.store = Fixed([ObjectInfo(f"{kind}.jpg", 0, "", kind) for kind in kinds])
    listing = listed(reading)
    assert ["object.jpg"] == keys(listing)
    expected = {"symlink": 1, "directory marker": 1, "not a regular file": 1}
    assert expected == reading.counts.snapshot().left_out
    assert ["directory.jpg"] == listing.empty_folders
    assert len(caplog.messages) == 1
    assert "directory" not in caplog.messages[0]


def test_many_are_left_out(files, caplog):
    """Two of many are named, in one line whatever is in their names."""
    files.put_all("1.jpg", *(f"{number}\n.txt" for number in range(1500)))
    listed(files.reading())
    assert len(caplog.messages) == 1
    assert r"left out 1,500 not data ('0\n.txt', '1\n.txt', …)" in caplog.messages[0]


def test_nothing_is_left_out(files, caplog):
    """Where all is data, nothing is said, nor about what the pattern does not match."""
    files.put_all("a/1.jpg", "b/README.md")
    listing = listed(files.reading("a/*"))
    assert ["a/1.jpg"] == keys(listing)
    assert {} == listing.left_out
    assert [] == caplog.messages


def test_a_pattern_that_names_an_extension(files):
    """What the user asked for by extension is taken, data or not."""
    files.put_all("a/1.dat", "a/2.dat", "a/3.jpg")
    assert ["a/1.dat", "a/2.dat"] == keys(listed(files.reading("**/*.dat")))


def test_hidden_files_that_are_asked_for(files):
    """A pattern that spells the dot takes hidden files."""
    files.put_all(".cache/1.jpg", "2.jpg")
    assert [".cache/1.jpg"] == keys(listed(files.reading(".cache/*.jpg")))


def test_ignore(files):
    """`ignore` is matched against the whole key, as the pattern is."""
    files.put_all("a/1.jpg", "a/2.jpg", "b/1.jpg")
    assert ["a/2.jpg", "b/1.jpg"] == keys(listed(files.reading(), ignore=["a/1.jpg"]))
    assert ["a/2.jpg"] == keys(listed(files.reading(), ignore=["**/1.jpg"]))
    assert ["b/1.jpg"] == keys(listed(files.reading(), ignore=["a/**"]))


def test_ignore_by_name(files):
    """What errors print can be ignored: a URL, and a key whose wildcards are escaped."""
    files.put_all("a/scan[1].jpg", "a/scan1.jpg", "a/x.jpg", "a/y.jpg")
    found = listed(files.reading(), ignore=["a/scan[[]1].jpg", "mine://data/a/x.jpg"])
    assert [] == found.unused
    assert ["a/scan1.jpg", "a/y.jpg"] == keys(found)


def test_many_names_are_looked_up(files, monkeypatch):
    """Keys without a wildcard are not tried one after the other: a check may find thousands."""
    monkeypatch.setattr(ignoring, "matcher", lambda pattern: pytest.fail(f"tried: {pattern}"))
    files.put_all("a/1.jpg", "a/2.jpg")
    assert ["a/2.jpg"] == keys(listed(files.reading(), ignore=["a/1.jpg", "a/[?].jpg"]))


def test_ignore_that_matches_nothing(files, caplog):
    """A pattern of `ignore` that leaves nothing out is told with keys; one that does is not."""
    files.put_all("a/1.jpg", "a/.2.jpg")
    reading = files.reading()
    warn_unused(reading.source, listed(reading, ignore=["1.jpg", "a/.*"]))
    assert (
        "mine://data/**: ignore=['1.jpg'] matches nothing; there are keys such as a/1.jpg"
        == (caplog.messages[-1])
    )
    assert 2 == len(caplog.messages)  # and the hidden one that was left out


def test_braces(files):
    """Braces of a shell are no wildcards, and where they match nothing the error says so."""
    files.put_all("a/1.jpg")
    with pytest.raises(ObjectNotFoundError, match=r"braces stand for themselves: .*\*\.\[jp\]"):
        listed(files.reading("a/*.{jpg,png}"))


def test_nothing_matches_but_others_are_there(files):
    """The error names keys that are there, and their extensions."""
    files.put_all("a/1.png", "a/2.png", "a/b")
    with pytest.raises(ObjectNotFoundError) as error:
        listed(files.reading("a/*.jpg"))
    text = str(error.value)
    assert text.startswith("nothing matches mine://data/a/*.jpg; there are 'a/1.png'")
    assert "2 x .png, 1 x none" in text


def test_the_same_pattern_one_folder_deeper(files):
    """People write `*.jpg` and mean the folders below too."""
    files.put_all("a/1.jpg")
    with pytest.raises(ObjectNotFoundError, match=r"folders below too, write '\*\*/\*\.jpg'"):
        listed(files.reading("*.jpg"))


def test_nothing_but_what_is_left_out(files):
    """The error says what was left out and why."""
    files.put_all("a/README.md", "a/.1.jpg")
    with pytest.raises(ObjectNotFoundError) as error:
        listed(files.reading("a"))
    assert "left out 1 hidden (a/.1.jpg), 1 not data (a/README.md)" in str(error.value)


def test_nothing_is_there(files):
    """The error names what is near in the store."""
    files.put_all("train/cat/1.jpg")
    with pytest.raises(ObjectNotFoundError, match="in train/ there are: train/cat/"):
        listed(files.reading("train/dog/*"))


def test_pages_are_retried_one_by_one(files):
    """A page that fails is asked for again; those before it are not."""
    files.put_all(*(f"{number:05}.jpg" for number in range(2500)))
    reading = files.reading()
    store, asked = reading.store, []

    class Failing:
        def list_page(self, prefix, after=None):
            asked.append(after)
            if len(asked) == 2:
                files.meets = lambda path: (_ for _ in ()).throw(ConnectionResetError())
                try:
                    store._connection.call("ls", "", url="mine://data", fresh=True)
                finally:
                    files.meets = lambda path: None
            return store.list_page(prefix, after)

    reading.store = Failing()
    assert len(listed(reading).objects) == 2500
    assert asked[1] == asked[2]
    assert len(asked) == 4
    assert 1 == reading.counts.snapshot().errors["connection"].total


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionResetError(), RetriesExhaustedError),
        (PermissionError(errno.EACCES, "no"), AccessDeniedError),
    ],
)
def test_a_listing_that_breaks_off(files, error, expected):
    """A listing that cannot be finished is an error, never a shorter listing."""
    files.put_all("a/1.jpg", "b/2.jpg")

    def meets(path):
        if path.endswith("/b"):
            raise error

    files.meets = meets
    with pytest.raises(expected):
        listed(files.reading())


def test_pages_that_overlap(files):
    """An object that comes on two pages is one; if it was replaced between them, an error."""
    one, two = ObjectInfo("cat/1.jpg", 3, "x"), ObjectInfo("cat/2.jpg", 3, "y")
    reading = files.reading()
    reading.store = Fixed([one, two], [two])
    assert [one, two] == listed(reading).objects
    reading.store = Fixed([one, two], [two._replace(token="z")])
    with pytest.raises(ObjectChangedError, match=r"changed while it was listed: .*cat/2\.jpg"):
        listed(reading)
