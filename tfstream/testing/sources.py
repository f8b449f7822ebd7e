"""
`SourceTests`: what every source does, written once.

A source's test class subclasses it and says how its data gets there, behind the back of the
code under test:

```python
class TestLocal(SourceTests):
    odd_keys = tuple(key for key in ODD_KEYS if ...)     # what the store itself can hold

    @pytest.fixture(autouse=True)
    def location(self, tmp_path):
        self.root = tmp_path

    def source(self): return LocalSource(root=str(self.root))
    def put(self, path, data): ...
    def remove(self, path): ...
```

Each test runs over a fresh and empty location: make it in such an autouse fixture. To see
values in a failed assertion, `pytest.register_assert_rewrite("tfstream.testing")` in a
conftest before this module is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest

from tfstream.errors import (
    ObjectChangedError,
    ObjectGoneError,
    ObjectNotFoundError,
    RefNotFoundError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, ObjectInfo, Page, Source, Store
from tfstream.testing.odd_keys import ODD_KEYS


class SourceTests:
    """The contract of `Source` and `Store`; see the module's docstring."""

    credentials: Credentials | None = None
    """What `open` gets. No value in it may show up in any text."""
    options: ReadOptions = ReadOptions(attempts=1)
    odd_keys: ClassVar[Sequence[str]] = ODD_KEYS
    """Narrow it to what the store itself can hold, never to what its client can read."""
    pages_are_bounded: ClassVar[bool] = False
    """True where one page holds at most 1,000 objects: then 1,005 are put and listed."""
    keeps_what_was_listed: ClassVar[bool] = False
    """True where a pinned object can be read after its removal or change, as at a commit."""
    notices_same_size: ClassVar[bool] = True
    """False where an object changed within its size cannot be told from what was listed."""

    def source(self) -> Source:
        """The source under test over this test's location, not pinned."""
        raise NotImplementedError

    def missing_source(self) -> Source:
        """A source over a location (bucket, repository, folder) that does not exist."""
        raise NotImplementedError

    def put(self, path: str, data: bytes) -> None:
        """Store an object, or replace it, without the code under test."""
        raise NotImplementedError

    def remove(self, path: str) -> None:
        """Delete an object without the code under test."""
        raise NotImplementedError

    def seal(self) -> None:
        """Called after the puts and removals of a step: commit here, where there are commits."""

    def put_all(self, objects: Mapping[str, bytes]) -> None:
        """Store many objects and seal; override it where something is faster than a loop."""
        for path, data in objects.items():
            self.put(path, data)
        self.seal()

    def secrets(self) -> Sequence[str]:
        """Texts that may never be shown: by default every long text in `credentials`."""
        values = (self.credentials or {}).values()
        return [value for value in values if isinstance(value, str) and len(value) >= 4]

    def open(self) -> Store:
        """The store of the pinned source."""
        pinned = self.source().open(self.credentials, self.options).pin()
        return pinned.open(self.credentials, self.options)

    # Listing

    def test_everything_is_listed_once_with_its_size(self) -> None:
        """All pages together name every key exactly as it was put, once, with its size."""
        objects = {key: b"x" * number for number, key in enumerate(self.odd_keys)}
        self.put_all(objects)
        expected = sorted((key, len(data)) for key, data in objects.items())
        assert expected == sorted((info.path, info.size) for info in found(self.open()))

    def test_a_prefix_is_text(self) -> None:
        """A listing has exactly the keys that start with the prefix, across folders' names."""
        keys = ["test/a", "train/1/a", "train/10/x/y", "train/10/x/z", "train/2/b", "trainer.txt"]
        self.put_all(dict.fromkeys(keys, b"data"))
        store = self.open()
        for prefix in ["", "t", "tr", "train", "train/", "train/1", "train/1/", "train/10/x/"]:
            expected = [key for key in keys if key.startswith(prefix)]
            assert expected == sorted(info.path for info in found(store, prefix)), prefix

    def test_each_odd_key_is_found_as_its_own_prefix(self) -> None:
        """The object named exactly as the prefix is on the first page, whatever its name."""
        self.put_all(dict.fromkeys(self.odd_keys, b"data"))
        store = self.open()
        for key in self.odd_keys:
            assert key in [info.path for info in store.list_page(key).objects], key

    def test_nothing_under_a_prefix_is_an_empty_page(self) -> None:
        """A prefix that no key has is an empty page and the end, not an error."""
        self.put_all({"train/a": b"data"})
        store = self.open()
        for prefix in ["test/", "test", "train/a/", "train/b", "no/such/folder/"]:
            assert Page([], None) == as_lists(store.list_page(prefix)), prefix

    def test_an_empty_location_is_an_empty_page(self) -> None:
        """A location that exists and holds nothing is no error."""
        self.seal()
        assert [] == found(self.open())

    def test_a_missing_location_is_an_error(self) -> None:
        """A bucket, repository or folder that does not exist is never an empty listing."""

        def listing() -> Page:
            store = self.missing_source().open(self.credentials, self.options)
            return store.pin().open(self.credentials, self.options).list_page("")

        with pytest.raises((ObjectNotFoundError, RefNotFoundError)):
            listing()

    def test_pages_are_complete(self) -> None:
        """A listing of many objects loses none and repeats none, and its pages are bounded."""
        count = 1005 if self.pages_are_bounded else 105
        keys = [f"many/{number:04}" for number in range(count)]
        self.put_all(dict.fromkeys(keys, b"") | {"other": b""})
        pages = all_pages(self.open(), "many/")
        assert keys == sorted(info.path for page in pages for info in page.objects)
        if self.pages_are_bounded:
            assert 1000 >= max(len(page.objects) for page in pages)

    def test_two_listings_are_equal(self) -> None:
        """Listing again what has not changed gives the same objects, tokens and order."""
        self.put_all({"a/1": b"one", "a/2": b"two", "b": b"three"})
        assert found(self.open()) == found(self.open())

    def test_a_token_changes_with_its_content(self) -> None:
        """A replaced object has another token; its neighbour keeps its own."""
        self.put_all({"a": b"before", "b": b"stays"})
        before = {info.path: info.token for info in found(self.open())}
        self.put_all({"a": b"afterwards"})
        after = {info.path: info.token for info in found(self.open())}
        assert before["a"] != after["a"]
        assert before["b"] == after["b"]

    def test_pinning_again_changes_nothing(self) -> None:
        """A pinned source pins to itself."""
        self.put_all({"a": b"data"})
        pinned = self.source().open(self.credentials, self.options).pin()
        assert pinned == pinned.open(self.credentials, self.options).pin()

    # Reading

    def test_every_odd_key_is_read_exactly(self) -> None:
        """Each object's bytes come back under its own key, none under another's."""
        objects = {key: f"<{key}>".encode() for key in self.odd_keys}
        self.put_all(objects)
        store = self.open()
        for info in found(store):
            assert objects[info.path] == store.get(info), info.path
            assert objects[info.path][1:3] == store.get_range(info, start=1, length=2), info.path

    def test_every_byte_is_kept(self) -> None:
        """All 256 values and line ends of any kind are read as they were put."""
        data = bytes(range(256)) * 300 + b"\r\n\n\r\x00"
        self.put_all({"bytes": data})
        store = self.open()
        assert data == store.get(one(store, "bytes"))

    def test_an_empty_object_is_empty(self) -> None:
        """An object without content is read as no bytes, not as an error."""
        self.put_all({"empty": b""})
        store = self.open()
        info = one(store, "empty")
        assert (0, b"") == (info.size, store.get(info))
        assert b"" == store.get_range(info, start=0, length=10)

    def test_ranges(self) -> None:
        """A range has the bytes asked for, fewer only at the object's end."""
        data = b"0123456789"
        self.put_all({"digits": data})
        store = self.open()
        info = one(store, "digits")
        for start, length in [(0, 1), (0, 10), (3, 4), (9, 1), (8, 100), (10, 1), (50, 5), (4, 0)]:
            expected = data[start : start + length]
            assert expected == store.get_range(info, start=start, length=length), (start, length)

    def test_a_removed_object_is_an_error_or_kept(self) -> None:
        """An object that is gone since its listing is a named error; at a commit it is there."""
        self.put_all({"a": b"data", "b": b"stays"})
        store = self.open()
        info = one(store, "a")
        self.remove("a")
        self.seal()
        if self.keeps_what_was_listed:
            assert b"data" == store.get(info)
            return
        with pytest.raises((ObjectNotFoundError, ObjectGoneError)) as error:
            store.get(info)
        assert "a" == error.value.path

    def test_a_changed_object_is_an_error_or_kept(self) -> None:
        """An object replaced since its listing is a named error; at a commit it is the old one."""
        self.put_all({"a": b"before"})
        store = self.open()
        info = one(store, "a")
        self.put_all({"a": b"after!" if self.notices_same_size else b"afterwards"})
        if self.keeps_what_was_listed:
            assert b"before" == store.get(info)
            return
        with pytest.raises(ObjectChangedError) as error:
            store.get(info)
        assert "a" == error.value.path

    def test_many_threads(self) -> None:
        """Sixteen threads may list and read through one store at the same time."""
        objects = {f"{number}": f"data of {number}".encode() for number in range(16)}
        self.put_all(objects)
        store = self.open()

        def read(_: int) -> dict[str, bytes]:
            return {info.path: store.get(info) for info in found(store)}

        with ThreadPoolExecutor(16) as threads:
            assert all(objects == got for got in threads.map(read, range(16)))

    # Texts

    def test_texts_name_the_object_and_no_secret(self) -> None:
        """An object's URL ends with its key; no credential is in it or in any repr."""
        self.put_all({"a/b.jpg": b"data"})
        source = self.source()
        store = source.open(self.credentials, self.options)
        url = source.url("a/b.jpg")
        assert url.endswith("a/b.jpg")
        texts = [url, repr(source), str(source), repr(store), str(store), store.near("a/c.jpg")]
        texts += store.notices("a/")
        assert [] == [secret for secret in self.secrets() for text in texts if secret in text]

    def test_near_never_raises(self) -> None:
        """What is near a missing key is a text, also where there is nothing at all."""
        self.put_all({"train/cat/1.jpg": b"data"})
        assert isinstance(self.open().near("train/dog/1.jpg"), str)
        missing = self.missing_source().open(self.credentials, self.options)
        assert isinstance(missing.near("train/dog/*.jpg"), str)

    def test_closing_twice(self) -> None:
        """A store may be closed again."""
        self.put_all({"a": b"data"})
        store = self.open()
        found(store)
        store.close()
        store.close()


def all_pages(store: Store, prefix: str = "") -> list[Page]:
    """Every page of a listing."""
    pages = [store.list_page(prefix)]
    while pages[-1].after is not None:
        pages.append(store.list_page(prefix, pages[-1].after))
    return pages


def found(store: Store, prefix: str = "") -> list[ObjectInfo]:
    """Every listed object that can be read, in the order of the listing."""
    infos = [info for page in all_pages(store, prefix) for info in page.objects]
    return [info for info in infos if info.kind == "object"]


def one(store: Store, path: str) -> ObjectInfo:
    """The listed object of that key."""
    return next(info for info in found(store, path) if info.path == path)


def as_lists(page: Page) -> Page:
    """The page with its objects as a list, to compare."""
    return Page(list(page.objects), page.after)
