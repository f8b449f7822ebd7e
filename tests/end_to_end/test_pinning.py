"""What a dataset is pinned to: later changes, refs, and the spec on another machine."""

from __future__ import annotations

import json

import pytest
from places import BRIEF, classes, elsewhere, examples, expected, picture

import tfstream
from tfstream import DatasetSpec, ObjectChangedError, ObjectNotFoundError


@pytest.mark.slow
def test_later_commits_change_nothing(lakefs_place):
    """Changed, removed and new objects of a later commit are not seen, by it or by its spec."""
    lakefs_place.put(classes())
    data = lakefs_place.open("train/**")
    lakefs_place.remove("train/0/0.png")
    lakefs_place.put({"train/1/0.png": picture(200), "train/2/9.png": picture(201)})
    assert expected() == sorted(examples(data))
    again = tfstream.load(data.spec.to_json(), credentials=lakefs_place.credentials, options=BRIEF)
    assert data.commit == again.commit != lakefs_place.commit
    assert expected() == sorted(examples(again))
    assert 200 in dict(examples(lakefs_place.open("train/**")))


def test_what_is_not_committed_is_not_read(lakefs_place):
    """Uncommitted objects are left out, and one warning names the branch and the first of them."""
    lakefs_place.put(classes())
    lakefs_place.upload("train/2/9.png", picture(200))
    lakefs_place.remove("train/0/0.png")
    with pytest.warns(tfstream.UncommittedWarning, match="branch main .*train/0/0.png") as told:
        data = lakefs_place.open("train/**")
    assert [__file__.replace("test_pinning", "places")] == [each.filename for each in told]
    assert expected() == sorted(examples(data))


def test_nothing_is_committed(lakefs_place):
    """Where nothing matches because nobody committed it, the error says that."""
    lakefs_place.upload("train/2/9.png", picture(200))
    with pytest.raises(
        ObjectNotFoundError, match=r"no objects at all; branch main .*train/2/9\.png.* Commit"
    ):
        lakefs_place.open("train/**")


@pytest.mark.parametrize("ref", ["v1", "main~1", "{commit}", "{short}", "main@"])
def test_every_kind_of_ref(lakefs_place, ref):
    """Tag, expression and commit id are pinned to their commit, without a warning."""
    lakefs_place.put(classes(2))
    first = lakefs_place.commit
    lakefs_place.server.request(
        "POST", f"/repositories/{lakefs_place.name}/tags", {"id": "v1", "ref": "main"}
    )
    lakefs_place.put({"train/0/8.png": picture(8)})
    lakefs_place.upload("train/0/9.png", picture(9))
    data = lakefs_place.open("train/**", ref=ref.format(commit=first, short=first[:12]))
    newest = ref == "main@"  # the branch without what is uncommitted
    assert (lakefs_place.commit if newest else first) == data.commit
    assert (9 if newest else 8) == len(data.file_paths)


@pytest.mark.slow
def test_the_spec_in_another_process(lakefs_place, clean_environment, monkeypatch):
    """Another process with its own LAKECTL_* gives the same examples in the same order."""
    lakefs_place.put(classes())
    given = lakefs_place.open("train/**", seed=3, endpoint=lakefs_place.server.endpoint)
    variables = {
        "LAKECTL_SERVER_ENDPOINT_URL": lakefs_place.server.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": lakefs_place.server.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": lakefs_place.server.secret_access_key,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = lakefs_place.open("train/**", seed=3, endpoint=None, credentials=None)
    assert [lakefs_place.server.endpoint, None] == [
        json.loads(data.spec.to_json())["source"]["endpoint"] for data in (given, found)
    ]
    assert given.spec.digest == found.spec.digest
    lakefs_place.put({"train/0/9.png": picture(9)})  # what came later is not seen there either
    expectation = [[list(example) for example in examples(data)] for data in (given, found)]
    assert expectation[0] == expectation[1]
    specs = [data.spec.to_json() for data in (given, found)]
    assert expectation == elsewhere(specs)


@pytest.mark.slow
def test_a_bucket_read_before_it_changed(s3_place):
    """The spec of a bucket that has not changed loads, with the same examples in the same order."""
    s3_place.put(classes())
    data = s3_place.open("train/**")
    again = loaded(s3_place, data.spec.to_json())
    assert examples(data) == examples(again)


@pytest.mark.parametrize(
    ("change", "error"),
    [("overwritten", ObjectChangedError), ("deleted", ObjectNotFoundError)],
)
def test_an_object_of_a_bucket_that_changed(s3_place, change, error):
    """Reading an object that is not the pinned one any more is an error with its key."""
    s3_place.put(classes(2))
    data = s3_place.open("train/**")
    if change == "overwritten":
        s3_place.upload("train/1/2.png", picture(77))
    else:
        s3_place.remove("train/1/2.png")
    with pytest.raises(error, match=f"s3://{s3_place.name}/train/1/2.png") as raised:
        examples(data)
    assert "train/1/2.png" == raised.value.path
    assert error.__name__ in data.stats().errors


def test_an_object_that_came_later_is_not_read(s3_place):
    """A dataset of a bucket keeps to what was listed when it was made."""
    s3_place.put(classes(2))
    data = s3_place.open("train/**")
    s3_place.upload("train/1/9.png", picture(99))
    assert expected(2) == sorted(examples(data))


@pytest.mark.parametrize("change", ["overwritten", "deleted", "added"])
def test_the_spec_of_a_bucket_that_changed(s3_place, change):
    """A spec whose listing is another one now does not load, and the error says what to do."""
    s3_place.put(classes(2))
    spec = s3_place.open("train/**").spec.to_json()
    if change == "deleted":
        s3_place.remove("train/1/2.png")
    else:
        key = "train/1/2.png" if change == "overwritten" else "train/1/9.png"
        s3_place.upload(key, picture(77))
    with pytest.raises(
        ObjectChangedError, match=rf"s3://{s3_place.name}.*[Mm]ake the dataset again"
    ):
        loaded(s3_place, spec)


def loaded(place, spec):
    """The dataset of a spec, listed afresh."""
    return tfstream.load(DatasetSpec.from_json(spec), credentials=place.credentials, options=BRIEF)
