"""Columns: every key comes back as it was, and rows are made when asked for."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfstream.fetch.columns import Objects, Texts, encoded
from tfstream.sources.base import ObjectInfo

KEYS = [
    "a b.jpg",
    "",
    "ä/e\u0301.jpg",
    "日本/🎉",
    "tab\tnew\nline",
    os.fsdecode(b"not \xff\xfe utf-8"),
]
keys = st.lists(st.binary(max_size=20).map(os.fsdecode) | st.text(st.characters(codec="utf-8")))


@given(keys)
def test_texts(keys):
    """A column of keys gives each back, file names that are not UTF-8 too."""
    column = Texts.of(map(encoded, keys))
    assert len(keys) == len(column)
    assert keys == list(column)
    assert keys == [column[row] for row in range(len(keys))]
    assert keys[1:-1] == column[1:-1]
    assert keys[::-1] == [column[-1 - row] for row in range(len(keys))]


@pytest.mark.parametrize("row", [3, -4])
def test_no_such_row(row):
    """A row that is not there is an error, not an empty text."""
    with pytest.raises(IndexError, match="of 3"):
        Texts.of([b"a", b"b", b"c"])[row]


def test_objects():
    """Listed objects come back with size and token."""
    infos = [ObjectInfo(key, size, f"etag {size}") for size, key in enumerate(KEYS, 2**40)]
    column = Objects.of(infos)
    assert infos == list(column)
    assert infos[2:4] == column[2:4]
    assert KEYS == list(column.paths)


def test_no_objects():
    """Nothing is a column too."""
    assert [] == list(Objects.of([]))
