"""From values to labels: the form follows from what the values are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfstream.labels.values import ValueLabels, is_missing, read

names = st.text(min_size=1, max_size=5)


class Typed(ValueLabels):
    """Values that are what they are, as in a Parquet file."""

    from_text = False


def keys_of(values):
    return [f"{place}.jpg" for place in range(len(values))]


def labelled(values, class_names=None, *, labels=Typed, **choices):
    return labels(**choices).labelled(values, keys_of(values), class_names)


def from_text(values, class_names=None, **choices):
    return labelled(values, class_names, labels=ValueLabels, **choices)


@given(st.lists(names, min_size=1))
def test_texts(values):
    """Each text is the name of its class; names are sorted, and all are there."""
    found = labelled(values)
    assert np.int32 == found.column.dtype
    assert values == [found.class_names[label] for label in found.column]
    assert tuple(sorted(set(values))) == found.class_names


@given(st.lists(st.integers(0, 200), min_size=1))
def test_whole_numbers(values):
    """Whole numbers are the labels; every number up to the largest is a class."""
    found = labelled(values)
    assert np.int32 == found.column.dtype
    assert values == found.column.tolist()
    assert tuple(map(str, range(max(values) + 1))) == found.class_names


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers(values):
    """Other numbers are float32, and there are no classes."""
    found = labelled(values)
    assert np.float32 == found.column.dtype
    assert (values, None) == (found.column.tolist(), found.class_names)


@given(st.lists(st.lists(names, max_size=4), min_size=1).filter(any))
def test_lists(values):
    """A list of names is a vector with a 1 for each."""
    found = labelled(values)
    assert np.uint8 == found.column.dtype
    sets = [{found.class_names[at] for at in np.flatnonzero(row)} for row in found.column]
    assert [set(value) for value in values] == sets
    assert tuple(sorted(set().union(*values))) == found.class_names


def test_lists_of_whole_numbers():
    """They are the places of the ones."""
    found = labelled([[0, 2], [], [2]])
    assert [[1, 0, 1], [0, 0, 0], [0, 0, 1]] == found.column.tolist()
    assert ("0", "1", "2") == found.class_names


def test_whole_numbers_among_others():
    """JSON writes 2.0 as 2: in a column of numbers it is a number."""
    assert [0.5, 2.0] == labelled([0.5, 2]).column.tolist()


def test_truths_are_names():
    """As csv files of pandas have them."""
    assert ("False", "True") == labelled([True, False]).class_names


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3", "0", "-1"], [3, 0, -1]),
        (["3", "0.5", "1e3", "-.5", "+2."], [3.0, 0.5, 1000.0, -0.5, 2.0]),
        (["3", "x"], ["3", "x"]),
        (["01", "02", "10"], ["01", "02", "10"]),
        (["nan", "1"], ["nan", "1"]),
        (["1_000"], ["1_000"]),
        (["٣"], ["٣"]),
        ([["1", "2"], []], [[1, 2], []]),
        ([["1"], ["b"]], [["1"], ["b"]]),
        ([[], []], [[], []]),
    ],
)
def test_texts_that_mean_numbers(texts, expected):
    """All of them, or none: one other text makes all of them names."""
    found = read(texts)
    assert expected == found
    assert list(map(type, expected)) == list(map(type, found))


def test_only_texts_from_text_are_read():
    """Where a format has numbers, a text is none."""
    assert ("1", "2") == labelled(["1", "2"]).class_names
    assert ("0", "1", "2") == from_text(["1", "2"]).class_names


class TestKind:
    """`kind` says what values are, whatever they look like."""

    def test_classes(self):
        """Numbers are names of classes, which get numbers without gaps."""
        found = labelled([17, 5, 17], kind="class")
        assert (("17", "5"), [0, 1, 0]) == (found.class_names, found.column.tolist())
        assert ("007", "1.0") == from_text(["1.0", "007"], kind="class").class_names
        assert ("17", "5") == labelled([[17, 5]], kind="class").class_names

    def test_numbers(self):
        """Whole numbers are to be predicted, and so are texts."""
        assert [-5.0, 80.0] == labelled([-5, 80], kind="number").column.tolist()
        assert [-5.0, 0.5] == labelled(["-5", "0.5"], kind="number").column.tolist()

    def test_no_number(self):
        """What is none is named."""
        with pytest.raises(ValueError, match=r"label of '1\.jpg' is no number: 'x'"):
            from_text(["1", "x"], kind="number")
        with pytest.raises(ValueError, match=r"'0\.jpg' has several labels.*kind=\"number\""):
            labelled([[1, 2]], kind="number")

    def test_no_such_kind(self):
        """Anything else is refused when the labels are described."""
        with pytest.raises(ValueError, match="`kind` argument must be one of 'auto', 'class', 'n"):
            ValueLabels(kind="float")


class TestClassNames:
    """`class_names` is an order, or a subset."""

    def test_an_order(self):
        """The names' places are the labels."""
        assert [1, 0] == labelled(["a", "b"], ["b", "a"]).column.tolist()

    def test_a_subset(self):
        """A record of another class has no place."""
        found = labelled(["a", "b", "c"], ["c", "a"])
        assert [1, -1, 0] == found.column.tolist()
        assert "not of a class of class_names" == found.left_out

    def test_a_subset_of_lists(self):
        """A vector has places for these alone; its record stays."""
        found = labelled([["a", "b"], ["b"], ["c"]], ["c", "a"])
        assert [[0, 1], [0, 0], [1, 0]] == found.column.tolist()

    def test_a_name_of_no_record(self):
        """It is most likely misspelt: both lists are shown."""
        with pytest.raises(ValueError, match=r"Expected: \['a', 'b'\].*class_names=\['a', 'x'\]"):
            labelled(["a", "b"], ["a", "x"])

    def test_names_for_whole_numbers(self):
        """At least as many as there are numbers, as for IDX."""
        assert ("zero", "one", "two") == labelled([0, 1], ["zero", "one", "two"]).class_names
        with pytest.raises(ValueError, match="has 1 entries, but the labels go up to 1"):
            labelled([0, 1], ["zero"])

    def test_not_for_numbers(self):
        """Numbers to predict have no names."""
        with pytest.raises(ValueError, match=r"`class_names` is for classes.*0\.5 of '0\.jpg'"):
            labelled([0.5], ["a"])


class TestRefused:
    """What cannot be labels is named with its record."""

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (["a", 3], r"of several kinds: '0\.jpg' has 'a'; '1\.jpg' has 3"),
            ([["a"], "a"], r"of several kinds: '0\.jpg' has \['a'\]; '1\.jpg' has 'a'"),
            ([["a"], [3]], r"of several kinds: '0\.jpg' has 'a'; '1\.jpg' has 3"),
            ([{}], r"neither of text, whole number, number, list: '0\.jpg' has {}"),
            ([[0.5, 1.5]], r"a list of labels has names.*'0\.jpg' has 0\.5"),
            ([[], []], r"no record has any label in its list, such as '0\.jpg'"),
            ([1.0, float("inf"), 1e300], r"2 labels are no finite float32.*'1\.jpg', '2\.jpg'"),
            ([-1, 3], r"from -1 to 3.*kind=\"number\".*kind=\"class\""),
            ([30_000], r"from 30,000 to 30,000, but classes are numbered from 0 to at most 29,999"),
        ],
    )
    def test_values(self, values, message):
        """Several kinds, other things than labels, and numbers that are out of bounds."""
        with pytest.raises(ValueError, match=message):
            labelled(values)

    def test_a_name_for_every_record(self):
        """So many classes are most likely another column."""
        with pytest.raises(ValueError, match="30,001 different texts, more than 30,000 classes"):
            labelled([f"x{number}" for number in range(30_001)])


def test_missing():
    """No value, an empty text and not-a-number are missing; 0, an empty list and `nan` are not."""
    assert [True] * 3 == [is_missing(value) for value in (None, "", float("nan"))]
    assert [False] * 4 == [is_missing(value) for value in (0, 0.0, [], "nan")]
