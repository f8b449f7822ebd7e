"""The manifest: its digest, and its saved form, which is not trusted."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfstream.errors import ObjectChangedError, SpecError
from tfstream.fetch.columns import Objects
from tfstream.fetch.manifest import Manifest
from tfstream.sources.base import ObjectInfo

names = st.binary(max_size=8).map(os.fsdecode)
objects = st.builds(ObjectInfo, names, st.integers(0, 2**50), names)


def labels_of(rows):
    """Any labels of so many rows: classes, numbers, sets, or none."""
    several = {"min_size": rows, "max_size": rows}
    classes = st.lists(st.integers(0, 2**31 - 1), **several)
    numbers = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), **several)
    sets = st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 1), min_size=width, max_size=width), **several
        )
    )
    kinds = [(classes, np.int32), (numbers, np.float32), *([(sets, np.uint8)] if rows else [])]
    columns = [
        values.map(lambda each, dtype=dtype: np.array(each, dtype)) for values, dtype in kinds
    ]
    return st.one_of(st.none(), *columns)


@st.composite
def manifests(draw):
    """Any manifest: of files or shards, with labels or partners or without."""
    rows = draw(st.lists(objects, max_size=5))
    kinds = draw(st.tuples(*[st.booleans()] * 2))
    numbers = st.lists(st.integers(0, 2**31 - 1), min_size=len(rows), max_size=len(rows))
    partners = st.lists(objects, min_size=len(rows), max_size=len(rows))
    return Manifest(
        Objects.of(rows),
        draw(labels_of(len(rows))),
        np.array(draw(numbers), np.int64) if kinds[0] else None,
        Objects.of(draw(partners)) if kinds[1] else None,
    )


def content(manifest):
    """All that is in a manifest, for comparison."""
    lists = [
        None if each is None else (each.dtype, each.shape, each.tobytes())
        for each in (manifest.labels, manifest.records)
    ]
    partners = None if manifest.partners is None else list(manifest.partners)
    return list(manifest.objects), *lists, partners


def saved(manifest):
    file = io.BytesIO()
    manifest.save(file)
    return file.getvalue()


def columns_of(manifest):
    with np.load(io.BytesIO(saved(manifest))) as data:
        return dict(data)


def loaded(columns):
    file = io.BytesIO()
    np.savez(file, **columns)
    return Manifest.load(io.BytesIO(file.getvalue()))


SHARDS = Manifest(
    Objects.of([ObjectInfo("a-images", 10, "1"), ObjectInfo("b-images", 20, "22")]),
    np.array([0, 1], np.int32),
    np.array([5, 7], np.int64),
    Objects.of([ObjectInfo("a-labels", 3, "3"), ObjectInfo("b-labels", 4, "4")]),
)


@given(manifests())
def test_saved_and_loaded(manifest):
    """What is loaded is what was saved, to the last byte of the digest."""
    again = Manifest.load(io.BytesIO(saved(manifest)))
    assert content(manifest) == content(again)
    assert manifest.digest == again.digest


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(manifests(), manifests())
def test_the_digest_tells_content_apart(one, other):
    """Digests are equal exactly where everything is."""
    assert (one.digest == other.digest) == (content(one) == content(other))


@given(st.lists(objects, min_size=1, max_size=4), st.data())
def test_any_change_changes_the_digest(rows, data):
    """Another key, size, token or order, one more row or one less: another digest."""
    at = data.draw(st.integers(0, len(rows) - 1))
    row = rows[at]
    changed = data.draw(
        st.sampled_from(
            [
                [*rows[:at], row._replace(path=row.path + "x"), *rows[at + 1 :]],
                [*rows[:at], row._replace(size=row.size + 1), *rows[at + 1 :]],
                [*rows[:at], row._replace(token=row.token + "x"), *rows[at + 1 :]],
                [*rows[:at], *rows[at + 1 :]],
                [*rows, row],
            ]
        )
    )
    assert Manifest(Objects.of(rows)).digest != Manifest(Objects.of(changed)).digest


def test_bytes_that_move_between_keys():
    """`ab` and `c` are not `a` and `bc`."""
    one, other = ([ObjectInfo(key, 1, "") for key in pair] for pair in (("ab", "c"), ("a", "bc")))
    assert Manifest(Objects.of(one)).digest != Manifest(Objects.of(other)).digest


def test_the_digest_stays():
    """The digest is in specs that exist: it must never change."""
    manifest = Manifest(Objects.of([ObjectInfo("a/1.jpg", 3, "x")]), np.array([0], np.int32))
    expected = "sha256:bde1788a60fc4e419a406d34f71c9784855f7f7a3109380ce6b36e47b08c6a96"
    assert expected == manifest.digest


def test_byte_order():
    """A machine that counts the other way round has the same digest."""
    swapped = Manifest(
        SHARDS.objects, SHARDS.labels.astype(">i4"), SHARDS.records.astype(">i8"), SHARDS.partners
    )
    assert SHARDS.digest == swapped.digest
    assert SHARDS.digest == Manifest.load(io.BytesIO(saved(swapped))).digest


def test_counts():
    """An object is a record, unless the shards say how many they have."""
    assert Manifest(SHARDS.objects).count == 2
    assert SHARDS.count == 12


def test_check():
    """Another listing than the pinned one is an error that names both and what to do."""
    SHARDS.check(SHARDS.digest, "s3://photos/**")
    SHARDS.check(None, "s3://photos/**")
    with pytest.raises(ObjectChangedError) as error:
        SHARDS.check("sha256:else", "s3://photos/**")
    for part in ("s3://photos/**", "12 records", SHARDS.digest, "sha256:else", "again"):
        assert part in str(error.value)


def test_a_newer_format():
    """A manifest of a newer tfstream is refused, naming both formats."""
    columns = columns_of(SHARDS) | {"format": np.array("tfstream.manifest.2")}
    with pytest.raises(SpecError, match=r"manifest\.1'.*manifest\.2'"):
        loaded(columns)


@pytest.mark.parametrize(
    "data", [b"", b"no archive", b"PK\x03\x04", saved(SHARDS)[:-30], saved(SHARDS)[:100]]
)
def test_no_manifest(data):
    """Any other file, and one that is cut, is refused."""
    with pytest.raises(SpecError, match="not a manifest"):
        Manifest.load(io.BytesIO(data))


def test_one_array():
    """NumPy's file of one array is no manifest."""
    file = io.BytesIO()
    np.save(file, np.arange(3))
    with pytest.raises(SpecError, match="one array"):
        Manifest.load(io.BytesIO(file.getvalue()))


def test_pickles_are_not_loaded():
    """An array of Python objects would run code: it is refused."""
    columns = columns_of(SHARDS) | {"sizes": np.array([print, print], object)}
    with pytest.raises(SpecError, match="not a manifest"):
        loaded(columns)


@pytest.mark.parametrize("name", sorted(columns_of(SHARDS).keys() - {"labels", "records"}))
def test_a_missing_column(name):
    """Each column of the objects and partners is needed."""
    columns = columns_of(SHARDS)
    del columns[name]
    with pytest.raises(SpecError):
        loaded(columns)


@pytest.mark.parametrize("name", sorted(columns_of(SHARDS).keys() - {"format"}))
@pytest.mark.parametrize(
    "change",
    [
        lambda column: column.astype(np.float64),
        lambda column: column.astype(np.uint64),
        lambda column: column.astype("S4"),
        lambda column: column[:-1],
        lambda column: np.append(column, column[-1:]),
        lambda column: column[np.newaxis],
        lambda column: column[0],
    ],
    ids=["float", "unsigned", "text", "short", "long", "rank 2", "rank 0"],
)
def test_a_column_that_does_not_fit(name, change):
    """A column of another dtype, length or rank is refused: it would give wrong rows."""
    columns = columns_of(SHARDS)
    columns[name] = change(columns[name])
    with pytest.raises(SpecError, match="broken manifest"):
        loaded(columns)


@pytest.mark.parametrize("ends", [[9, 16], [8, 15], [16, 8], [-1, 16], [8, 17], [20, 16]])
def test_ends_that_do_not_divide(ends):
    """Ends outside the buffer, or that go back, are refused; any that divide it are rows."""
    columns = columns_of(SHARDS) | {"path_ends": np.array(ends, np.int64)}
    if ends == [9, 16]:
        assert ["a-imagesb", "-images"] == list(loaded(columns).objects.paths)
        return
    with pytest.raises(SpecError, match="path"):
        loaded(columns)


@pytest.mark.parametrize("name", ["sizes", "labels", "records", "partner_sizes"])
def test_negative_numbers(name):
    """Sizes, labels and counts are not negative."""
    columns = columns_of(SHARDS)
    columns[name] = columns[name] - 100
    with pytest.raises(SpecError, match=name):
        loaded(columns)


@pytest.mark.parametrize(
    ("labels", "name", "column"),
    [
        (np.float32([1, 2]), "label_numbers", np.float64([1, 2])),
        (np.float32([1, 2]), "label_numbers", np.float32([1, np.nan])),
        (np.float32([1, 2]), "label_numbers", np.float32([1])),
        (np.uint8([[1], [0]]), "label_sets", np.uint8([1, 2])),
        (np.uint8([[1], [0]]), "label_sets", np.uint8([1, 0, 1])),
        (np.uint8([[1], [0]]), "label_sets", np.uint8([])),
        (np.uint8([[1], [0]]), "label_sets", np.float32([1, 0])),
    ],
)
def test_labels_that_do_not_fit(labels, name, column):
    """Numbers are finite float32; sets are 0 and 1, the same number for each row."""
    manifest = Manifest(SHARDS.objects, labels)
    assert name in columns_of(manifest)
    with pytest.raises(SpecError, match=name):
        loaded(columns_of(manifest) | {name: column})


def test_the_digest_tells_dtypes_apart():
    """Labels of the same bytes, one a class and the other a number, are others."""
    columns = [np.int32([1, 0]), np.int32([1, 0]).view(np.float32)]
    columns.append(columns[0].view(np.uint8).reshape(2, 4))
    assert 3 == len({Manifest(SHARDS.objects, labels).digest for labels in columns})


def test_an_unknown_column():
    """A column that this version does not know is not ignored."""
    with pytest.raises(SpecError, match="'extra'"):
        loaded(columns_of(SHARDS) | {"extra": np.arange(2)})


@given(st.data())
def test_any_damage(data):
    """A byte changed anywhere gives the same manifest, another valid one, or a SpecError."""
    file = bytearray(saved(SHARDS))
    at = data.draw(st.integers(0, len(file) - 1))
    file[at] = data.draw(st.integers(0, 255))
    try:
        manifest = Manifest.load(io.BytesIO(bytes(file)))
    except SpecError:
        return
    assert len(content(manifest)[0]) == len(manifest.objects)


MILLION = """
import io, os, sys, time
import numpy as np
from tfstream.fetch.columns import Objects, Texts
from tfstream.fetch.manifest import Manifest

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def column(pattern):
    return Texts.of(pattern % row for row in range(1_000_000))

if sys.argv[2] == "save":
    objects = Objects(
        column(b"train/class-%07d/photograph.jpg"), np.arange(1_000_000), column(b"%032d")
    )
    with open(sys.argv[1], "wb") as file:
        Manifest(objects, np.zeros(1_000_000, np.int32)).save(file)
else:
    before, start = resident(), time.monotonic()
    with open(sys.argv[1], "rb") as file:
        manifest = Manifest.load(file)
    seconds = time.monotonic() - start
    assert manifest.objects[999_999].path == "train/class-0999999/photograph.jpg"
    assert manifest.count == 1_000_000
    print(resident() - before, seconds)
"""


@pytest.mark.slow
def test_a_million_keys(tmp_path, record_property):
    """A manifest of 1,000,000 keys is loaded into at most 200 MB of memory."""
    for task in ("save", "load"):
        command = [sys.executable, "-c", MILLION, str(tmp_path / "manifest"), task]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    size, seconds = done.stdout.split()
    record_property("seconds", seconds)  # 2 are allowed; measured by the benchmark
    print(f"{int(size) / 1e6:.0f} MB, {float(seconds):.2f} s")
    assert int(size) <= 200_000_000
