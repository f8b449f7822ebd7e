"""RegexLabels: the label is a part of the key."""

from __future__ import annotations

import pytest

from tfstream.labels.regex import RegexLabels


def test_the_group_called_label():
    """It is the label, wherever it stands; else the first group is."""
    assert ["cat"] == RegexLabels(r"(\d)/(?P<label>[a-z]+)_").values(["0/cat_1.jpg"], prefix="")
    assert ["0"] == RegexLabels(r"(\d)/([a-z]+)_").values(["0/cat_1.jpg"], prefix="")


def test_what_is_searched():
    """The key after the prefix: `^` is its beginning, and folders are in it."""
    labels = RegexLabels(r"^([a-z]+)/")
    assert ["cat", None] == labels.values(["train/cat/1.jpg", "train/1.jpg"], prefix="train/")


def test_labels():
    """Texts are names, digits are numbers."""
    found = RegexLabels(r"([a-z]+)_").assign(["cat_1", "dog_1"], prefix="", class_names=None)
    assert (("cat", "dog"), [0, 1]) == (found.class_names, found.column.tolist())
    found = RegexLabels(r"_(\d+)").assign(["cat_3", "dog_1"], prefix="", class_names=None)
    assert [3, 1] == found.column.tolist()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", r"is no regular expression: missing \), unterminated subpattern.*Received: .*'\(a'"),
        (3, "is no regular expression"),
        (r"\d+", "must have a group that is the label"),
    ],
)
def test_a_bad_pattern(pattern, message):
    """It is refused when the labels are described."""
    with pytest.raises(ValueError, match=message):
        RegexLabels(pattern)
