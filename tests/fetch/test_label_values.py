"""Labels made of values: where each record's value is found, and what pins them."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from tfstream.decoders.image import ImageDecoder
from tfstream.errors import ObjectChangedError, ObjectNotFoundError, SpecError
from tfstream.fetch.manifest import form_of
from tfstream.fetch.opening import Wanted, opened, pinned
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.metadata import MetadataLabels
from tfstream.labels.regex import RegexLabels
from tfstream.labels.table import TableLabels
from tfstream.options import ReadOptions
from tfstream.sources.fsspec import FsspecSource
from tfstream.spec import DatasetSpec

OPTIONS = ReadOptions(attempts=1)
TABLE = TableLabels("labels.csv", key="file", label="class")


def put_table(files, *rows, path="labels.csv"):
    files.pipe(f"/data/{path}", "\n".join(["file,class", *rows]).encode())


def found_in(files, pattern="**", labels=TABLE, **wanted):
    """What is found in the folder /data of a filesystem."""
    source = FsspecSource(root="mine://data", pattern=pattern)
    return pinned(Wanted(source, labels=labels, **wanted), files.credentials, OPTIONS)


def rows(found):
    return list(zip(found.manifest.objects.paths, found.manifest.labels.tolist(), strict=True))


def spec_of(found, **fields):
    form = form_of(found.manifest)
    return DatasetSpec(
        **{
            "source": found.source,
            "decoder": ImageDecoder(),
            "manifest": found.manifest.digest,
            "records": found.manifest.count,
            "reader": found.reader,
            "labels": found.labels,
            "label_mode": form,
            "class_names": found.class_names,
            **fields,
        }
    )


@pytest.fixture
def pets(files):
    """Three pictures and their table."""
    files.put_all("img/b.jpg", "img/a.jpg", "img/x/c.jpg")
    put_table(files, "img/x/c.jpg,dog", "img/a.jpg,cat", "img/b.jpg,dog")
    return files


class TestTables:
    """An object beside the data."""

    def test_labels(self, pets):
        """Records go by key, not by class."""
        found = found_in(pets)
        assert [("img/a.jpg", 0), ("img/b.jpg", 1), ("img/x/c.jpg", 1)] == rows(found)
        assert ("cat", "dog") == found.class_names

    def test_the_table_is_read_once_and_is_no_record(self, pets, caplog):
        """It is neither counted as left out nor told of."""
        found = found_in(pets)
        assert ["/data/labels.csv"] == pets.reads
        assert {} == found.reading.counts.snapshot().left_out
        assert "" == caplog.text

    def test_names_after_the_prefix(self, pets):
        """A table may name records by what comes after the pattern's literal part."""
        put_table(pets, "a.jpg,cat", "b.jpg,dog", "x/c.jpg,dog")
        assert [0, 1, 1] == found_in(pets, "img/**").manifest.labels.tolist()

    def test_names_within_archives(self, files):
        """Or by what they are called in their archive."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name in ("cat/1.jpg", "2.jpg"):
                archive.writestr(name, b"data")
        files.pipe("/data/s/a.zip", file.getvalue())
        expected = [("s/a.zip/2.jpg", 0), ("s/a.zip/cat/1.jpg", 1)]
        for before in ("s/a.zip/", "a.zip/", ""):
            put_table(files, f"{before}cat/1.jpg,y", f"{before}2.jpg,x")
            assert expected == rows(found_in(files, "s/*.zip"))

    def test_a_record_without_a_row(self, pets):
        """It is named, and how many there are; an empty label is none."""
        put_table(pets, "img/a.jpg,cat", "img/b.jpg,")
        with pytest.raises(ValueError, match="2 of 3") as error:
            found_in(pets)
        assert "mine://data/**: 2 of 3 records have no row, or an empty label" in str(error.value)
        assert "in the table 'labels.csv': 'img/b.jpg', 'img/x/c.jpg'" in str(error.value)

    def test_a_row_for_what_is_ignored(self, pets):
        """What `ignore` leaves out may have its row."""
        assert [0, 1] == found_in(pets, ignore=("img/b.jpg",)).manifest.labels.tolist()
        with pytest.raises(ValueError, match=r"1 rows that fit no record: 'img/x/c\.jpg'"):
            found_in(pets, "img/*.jpg")

    def test_no_table(self, pets):
        """A missing table says what there is near it."""
        labels = TableLabels("label.csv", key="file", label="class")
        with pytest.raises(ObjectNotFoundError, match=r"no table mine://data/label\.csv"):
            found_in(pets, labels=labels)

    def test_classes_of_all_data(self, pets):
        """A list of few keys has the class numbers of everything, in the list's order."""
        found = found_in(pets, keys=("img/x/c.jpg", "img/b.jpg"))
        assert [("img/x/c.jpg", 1), ("img/b.jpg", 1)] == rows(found)
        assert ("cat", "dog") == found.class_names

    def test_only_what_is_selected_needs_a_row(self, pets):
        """`keys` may name those that have labels."""
        put_table(pets, "img/a.jpg,cat")
        assert [("img/a.jpg", 0)] == rows(found_in(pets, keys=("img/a.jpg",)))

    def test_a_subset(self, pets):
        """Records of other classes are left out and counted."""
        found = found_in(pets, class_names=("dog",))
        assert [("img/b.jpg", 0), ("img/x/c.jpg", 0)] == rows(found)
        assert {"not of a class of class_names": 1} == found.reading.counts.snapshot().left_out

    def test_forms(self, pets):
        """Numbers are float32; lists become rows of 0 and 1."""
        put_table(pets, "img/a.jpg,0.5", "img/b.jpg,2", "img/x/c.jpg,-1")
        found = found_in(pets)
        assert ([0.5, 2.0, -1.0], np.float32) == (
            found.manifest.labels.tolist(),
            found.manifest.labels.dtype,
        )
        assert found.class_names is None
        put_table(pets, "img/a.jpg,x;y", "img/b.jpg,", "img/x/c.jpg,x")
        sets = TableLabels("labels.csv", key="file", label="class", separator=";")
        assert [[1, 1], [0, 0], [1, 0]] == found_in(pets, labels=sets).manifest.labels.tolist()


class TestPins:
    """A changed table is a changed dataset."""

    @pytest.mark.parametrize(
        "changed",
        [
            ["img/x/c.jpg,cat", "img/a.jpg,cat", "img/b.jpg,dog"],
            ["img/x/c.jpg,dog", "img/a.jpg,hat", "img/b.jpg,dog"],
            ["img/x/c.jpg,0.5", "img/a.jpg,0", "img/b.jpg,1"],
            ["img/a.jpg,cat", "img/b.jpg,dog"],
            ["img/x/c.jpg,dog", "img/a.jpg,cat", "img/b.jpg,dog", "img/d.jpg,dog"],
        ],
    )
    def test_another_table(self, pets, changed):
        """Other labels, names, kinds or rows: the spec does not open any more."""
        spec = spec_of(found_in(pets))
        assert [0, 1, 1] == opened(spec, pets.credentials, OPTIONS).manifest.labels.tolist()
        put_table(pets, *changed)
        with pytest.raises(ObjectChangedError, match=r"mine://data/\*\*"):
            opened(spec, pets.credentials, OPTIONS)

    def test_the_same_labels_in_another_table(self, pets):
        """What counts is what it says: the order of its rows is nothing."""
        spec = spec_of(found_in(pets))
        put_table(pets, "img/a.jpg,cat", "img/b.jpg,dog", "img/x/c.jpg,dog")
        assert [0, 1, 1] == opened(spec, pets.credentials, OPTIONS).manifest.labels.tolist()

    def test_a_form_that_the_spec_does_not_have(self, pets):
        """A graph is made for the form in the spec, so another one is refused."""
        spec = spec_of(found_in(pets))
        for form, names in (("float", None), ("multi_hot", ("cat", "dog"))):
            other = spec.replace(label_mode=form, class_names=names, manifest=None)
            with pytest.raises(SpecError, match=r"\$\.label_mode: the labels are int, not"):
                opened(other, pets.credentials, OPTIONS)


class TestOthers:
    """Values that are not in a table."""

    def test_a_regular_expression(self, files):
        """It is searched after the prefix; folders make no order."""
        files.put_all("img/z/cat_1.jpg", "img/dog_2.jpg")
        found = found_in(files, "img/**", RegexLabels(r"(?:^|/)([a-z]+)_"))
        assert [("img/dog_2.jpg", 1), ("img/z/cat_1.jpg", 0)] == rows(found)

    def test_a_key_that_does_not_match(self, files):
        """It is named with the pattern."""
        files.put_all("img/cat_1.jpg", "img/2.jpg")
        with pytest.raises(ValueError, match=r"1 of 2 records have nothing .* finds: 'img/2\.jpg'"):
            found_in(files, "img/**", RegexLabels(r"^([a-z]+)_"))

    def test_metadata_of_other_stores(self, files):
        """They list none, which is said before anything is listed."""
        files.put_all("1.jpg")
        with pytest.raises(ValueError, match=r"MetadataLabels is for lakeFS.*fsspec sources"):
            found_in(files, labels=MetadataLabels("class"))
        assert [] == files.lists

    def test_idx(self, files):
        """IDX files have labels of their own."""
        files.put_all("a-images-idx3-ubyte", data=b"\0\0\x08\x03" + b"\0\0\0\1" * 3 + b"\7")
        with pytest.raises(ValueError, match="labels of IDX records are in IDX files"):
            found_in(files, labels=RegexLabels("(a)"))

    def test_folders_stay_as_they_are(self, files):
        """The digest of a dataset with class folders is that of earlier versions."""
        files.put_all("a/1.jpg", "b/2.jpg")
        found = found_in(files, labels=DirectoryLabels())
        expected = "sha256:dbc4edeb8a83540bf69ceabd456c875dfd177a1142cf6140a18ce5a390e72de1"
        assert expected == found.manifest.digest
