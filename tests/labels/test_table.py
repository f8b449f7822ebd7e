"""TableLabels: one meaning for every format, and rows that fit."""

from __future__ import annotations

import csv
import io
import json
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tfstream.errors import MissingDependencyError
from tfstream.labels.table import Named, TableLabels

ENDS = ["csv", "tsv", "jsonl", "ndjson", "parquet"]
ROWS = [{"file": "a.jpg", "class": "cat"}, {"file": "b, c\t.jpg", "class": 'the "dog"'}]
every_format = pytest.mark.parametrize("end", ENDS)


def written(rows, end):
    """The rows as a file of a format, by its own library."""
    if end == "parquet":
        file = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(rows), file)
        return file.getvalue()
    if end in ("jsonl", "ndjson"):
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t" if end == "tsv" else ",")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def table(end="csv", **choices):
    return TableLabels(f"labels.{end}", **{"key": "file", "label": "class", **choices})


def values(rows, records, end="csv", **choices):
    """What each record has."""
    return table(end, **choices).values(written(rows, end), [Named(records)])


@every_format
def test_rows(end):
    """Each record has the label of its row, in whatever order."""
    assert ['the "dog"', "cat"] == values(ROWS, ["b, c\t.jpg", "a.jpg"], end)


@every_format
def test_no_row(end):
    """A record without a row has None."""
    assert ["cat", None] == values(ROWS, ["a.jpg", "x.jpg"], end, extra="ignore")


@every_format
def test_no_such_column(end):
    """It is named, and those that there are."""
    for choices in ({"key": "name"}, {"label": "name"}):
        with pytest.raises(ValueError, match=r"no column 'name'; its columns: \['file', 'class'\]"):
            values(ROWS, ["a.jpg"], end, **choices)


@every_format
def test_no_table(end):
    """Bytes that are no such table are a ValueError that names it."""
    for data in (b"\xff\xfe\x00", b'{"a', b"", b"PAR1"):
        with pytest.raises(ValueError, match=f"the table 'labels.{end}': "):
            table(end).values(data, [Named(["a.jpg"])])


@given(st.data())
def test_any_bytes(data):
    """They are a table or a ValueError, whatever they are."""
    end = data.draw(st.sampled_from(ENDS))
    whole = written(ROWS, end)
    junk = data.draw(st.binary(max_size=20))
    at = data.draw(st.integers(0, len(whole)))
    try:
        table(end, extra="ignore").values(whole[:at] + junk, [Named(["a.jpg"])])
    except ValueError as error:
        assert "labels." in str(error)  # noqa: PT017


def test_lines():
    """A byte order mark, empty lines and CRLF mean nothing; a row of another length is an error."""
    data = b"\xef\xbb\xbffile,class\r\n\r\na.jpg,cat\r\n"
    assert ["cat"] == table().values(data, [Named(["a.jpg"])])
    with pytest.raises(ValueError, match="line 3 has 3 values, the first one 2"):
        table().values(b"file,class\na.jpg,cat\nb.jpg,dog,1\n", [Named(["a.jpg"])])
    with pytest.raises(ValueError, match="line 2 is no JSON"):
        table("jsonl").values(b'{"file": "a", "class": 1}\n{"fi\n', [Named(["a"])])
    with pytest.raises(ValueError, match=r"line 1 is no JSON object: \[1\]"):
        table("jsonl").values(b"[1]\n", [Named(["a"])])
    with pytest.raises(ValueError, match="two columns 'class'"):
        table().values(b"file,class,class\na,b,c\n", [Named(["a"])])
    with pytest.raises(ValueError, match="it has no rows"):
        table().values(b"file,class\n", [Named(["a"])])


def test_types():
    """jsonl and Parquet have numbers and lists; csv has texts."""
    rows = [{"file": "a", "class": 1}, {"file": "b", "class": 2}]
    assert [1, 2] == values(rows, ["a", "b"], "parquet")
    assert ["1", "2"] == values(rows, ["a", "b"], "csv")
    assert (True, False) == (table("tsv").from_text, table("parquet").from_text)
    lists = [{"file": "a", "class": ["x"]}, {"file": "b", "class": []}]
    for end in ("jsonl", "parquet"):
        assert [["x"], []] == values(lists, ["a", "b"], end)


def test_separator():
    """A text is cut into labels; spaces around them go, and an empty text has none."""
    rows = [{"file": "a", "class": "x| y"}, {"file": "b", "class": ""}]
    assert [["x", "y"], []] == values(rows, ["a", "b"], separator="|")
    with pytest.raises(ValueError, match="`separator` is for texts, but 'a' has 3"):
        values([{"file": "a", "class": 3}], ["a"], "jsonl", separator="|")


@every_format
def test_columns(end):
    """Several columns of 0 and 1 are classes in their order, also where nothing is a 1."""
    rows = [{"file": "a", "z": 1, "x": 0, "y": 0}, {"file": "b", "z": 1, "x": 0, "y": 1}]
    labels = table(end, label=["z", "x", "y"])
    found = labels.values(written(rows, end), [Named(["a", "b"])])
    assert [["z"], ["z", "y"]] == found
    labelled = labels.labelled(found, ["a", "b"], None)
    assert ("z", "x", "y") == labelled.class_names
    assert [[1, 0, 0], [1, 0, 1]] == labelled.column.tolist()
    assert [[0], [1]] == labels.labelled(found, ["a", "b"], ["y"]).column.tolist()


def test_columns_of_other_values():
    """A value that is neither 0 nor 1 is named; truths are."""
    rows = [{"file": "a", "x": "True", "y": 1.0}, {"file": "b", "x": "False", "y": 0.5}]
    with pytest.raises(ValueError, match=r"column 'y' has '0\.5' for 'b', neither 0 nor 1"):
        values(rows, ["a", "b"], label=["x", "y"])
    assert [["x", "y"]] == values(rows[:1], ["a"], label=["x", "y"])


class TestRowsThatFit:
    """Rows are for records, one each."""

    def test_twice(self):
        """Two rows for one key are an error, also where they agree."""
        with pytest.raises(ValueError, match=r"1 keys more than once: 'a\.jpg'"):
            values([ROWS[0], ROWS[0]], ["a.jpg"])

    def test_extra(self):
        """Rows that fit no record are named, unless they are to be ignored."""
        with pytest.raises(ValueError, match=r"1 rows that fit no record: 'b, .*extra=\"ignore\""):
            values(ROWS, ["a.jpg"])
        assert ["cat"] == values(ROWS, ["a.jpg"], extra="ignore")

    def test_left_out_on_purpose(self):
        """A row may be for what `ignore` left out."""
        named = Named(["a.jpg"], frozenset({"b, c\t.jpg"}))
        assert ["cat"] == table().values(written(ROWS, "csv"), [named])

    def test_none_fits(self):
        """A table of other names is told by an example of both, also with extra="ignore"."""
        for extra in ("error", "ignore"):
            with pytest.raises(ValueError, match=r"fits no record: it has rows for 'a\.jpg'.*'a'"):
                values(ROWS, ["a", "b"], extra=extra)

    def test_ways(self):
        """The first way in which a record is named is the way of all rows."""
        ways = [Named(["x/a.jpg", "x/b, c\t.jpg"]), Named(["a.jpg", "b, c\t.jpg"])]
        assert ["cat", 'the "dog"'] == table().values(written(ROWS, "csv"), ways)
        mixed = [{**ROWS[0], "file": "x/a.jpg"}, ROWS[1]]
        with pytest.raises(ValueError, match=r"1 rows that fit no record: 'b, c"):
            table().values(written(mixed, "csv"), ways)

    def test_a_name_of_several_records(self):
        """Within archives a name may come twice: then it is no name."""
        with pytest.raises(ValueError, match=r"names within archives, and several .* 'a\.jpg'"):
            table(extra="ignore").values(written(ROWS, "csv"), [Named(["a.jpg", "a.jpg"])])

    def test_no_key(self):
        """A row without a key, or with a number for it, is an error."""
        with pytest.raises(ValueError, match="column 'file' has '', which is no key"):
            values([ROWS[0], {"file": "", "class": "x"}], ["a.jpg"])
        with pytest.raises(ValueError, match="column 'file' has 3, which is no key"):
            values([{"file": 3, "class": "x"}], ["a.jpg"], "parquet")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"extra": "drop"}, "`extra` argument must be one of 'error', 'ignore'"),
        ({"label": [1]}, "`label` must be a list of strings"),
        ({"label": []}, "must name columns"),
        ({"key": ""}, "must name columns"),
        ({"separator": ""}, "`separator` of TableLabels"),
        ({"label": ["a", "b"], "separator": "|"}, "`separator` of TableLabels"),
        ({"kind": "x"}, "`kind` argument"),
    ],
)
def test_descriptions_that_cannot_be(choices, message):
    """They are refused at once."""
    with pytest.raises(ValueError, match=message):
        table(**choices)


def test_other_formats():
    """The error says which there are."""
    with pytest.raises(ValueError, match=r"\.csv, \.jsonl, \.parquet, \.tsv, \.ndjson.*'l\.xlsx'"):
        TableLabels("l.xlsx", key="file", label="class")


def test_without_pyarrow(monkeypatch):
    """Only Parquet needs it, and the error is the pip line."""
    data = written(ROWS, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert ["cat", 'the "dog"'] == values(ROWS, ["a.jpg", "b, c\t.jpg"])
    with pytest.raises(MissingDependencyError, match=r'pip install "tfstream\[parquet\]"'):
        table("parquet").values(data, [Named(["a.jpg"])])
