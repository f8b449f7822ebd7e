"""Every odd but legal key, from the pattern to the pixels, on lakeFS and S3."""

from __future__ import annotations

import pytest
from places import examples, picture, values

from tfstream.sources.pattern import escape, hidden
from tfstream.testing.odd_keys import ODD_KEYS

VALUES = {key: number + 1 for number, key in enumerate(ODD_KEYS)}

ALONE = (  # where a pattern, a URL or a path would go wrong first; each takes half a second
    *("1", "10", "e", "...", " leading and trailing ", "percent%20encoded.jpg"),
    *("question?mark=1&b=2.jpg", "star*star.jpg", "set[1].jpg", "/leading slash.jpg"),
)


@pytest.fixture(scope="module", params=["lakefs", "s3"])
def odd(request, make_place):
    """A place with a picture under every odd key; its content tells which."""
    place = make_place(request.param)
    place.put({key: picture(VALUES[key]) for key in place.odd_keys})
    return place


@pytest.mark.slow
def test_all_at_once(odd):
    """A pattern for all reads each picture from its own key, and leaves out what is hidden."""
    data = odd.open("**/*.jpg", labels=None, shuffle=False)
    named = [key for key in odd.odd_keys if key.endswith(".jpg")]
    wanted = sorted((key for key in named if not hidden(key, "**/*.jpg")), key=str.encode)
    assert wanted == data.file_paths
    assert [VALUES[key] for key in wanted] == values(data)
    assert len(named) - len(wanted) == data.stats().left_out["hidden"]
    assert {"café.jpg", "cafe\u0301.jpg", "double//slash.jpg", "tab\tin.jpg"} <= set(wanted)


@pytest.mark.slow
def test_each_alone(odd):
    """An object's key as the pattern is that object alone, also beside a folder of its name."""
    found = {}
    for key in ALONE:
        data = odd.open(escape(key), labels=None)
        found[tuple(data.file_paths)] = values(data)
    assert {(key,): [VALUES[key]] for key in ALONE} == found


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("e/", ["e/y.jpg"]),
        ("e/*", ["e/y.jpg"]),
        ("double/**/*.jpg", ["double//slash.jpg"]),
        ("dots/**/*.jpg", ["dots/../up.jpg", "dots/./here.jpg"]),
        (".hidden/.*.jpg", [".hidden/.file.jpg"]),
    ],
)
def test_folders_beside_objects(odd, pattern, keys):
    """A folder is what is below it, not the object of its name; dots and slashes are only text."""
    data = odd.open(pattern, labels=None, shuffle=False)
    assert keys == data.file_paths
    assert [VALUES[key] for key in keys] == values(data)


def test_classes_named_oddly(place):
    """Folders with odd names are classes; `1` beside `10` are two of them."""
    folders = ["1", "10", "a b", "c+d%20", "e#f?g", "\u00e9", "e\u0301"]
    place.put({f"t/{name}/x.png": picture(VALUES["1"] + at) for at, name in enumerate(folders)})
    data = place.open("t/**", shuffle=False)
    assert sorted(folders, key=str.encode) == data.class_names
    assert [f"t/{name}/x.png" for name in data.class_names] == data.file_paths
    expected = [(VALUES["1"] + folders.index(name), at) for at, name in enumerate(data.class_names)]
    assert expected == examples(data)
