"""Pages of a diff: what lakeFS says, and what it cannot have meant."""

from __future__ import annotations

import pytest

from tfstream.sources.lakefs_diff import Change, changes_of


def page(*kinds, more=False, offset=""):
    """An answer of lakeFS with a change of each kind."""
    results = [
        {"path": f"{place}.jpg", "path_type": "object", "type": kind, "size_bytes": 4}
        for place, kind in enumerate(kinds)
    ]
    return {"results": results, "pagination": {"has_more": more, "next_offset": offset}}


def test_changes():
    """Each key with what became of it."""
    found = changes_of(page("added", "removed", "changed"), None)
    assert [Change("0.jpg", "added"), Change("1.jpg", "removed"), Change("2.jpg", "changed")] == (
        found.changes
    )
    assert found.after is None


def test_more():
    """Where there is more, it is asked for after the last key."""
    assert "0.jpg" == changes_of(page("added", more=True, offset="0.jpg"), None).after


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"results": None, "pagination": {"has_more": False, "next_offset": ""}},
        {"results": [{"path": "a"}], "pagination": {"has_more": False, "next_offset": ""}},
        page("added") | {"pagination": None},
        page("conflict"),
        page("prefix_changed"),
        page("added", more=True, offset=""),
        page("added", more=True, offset="before"),
    ],
)
def test_what_is_no_page(content):
    """Other fields, a kind that no two-dot diff has, and a page that leads nowhere."""
    assert changes_of(content, "before") is None
