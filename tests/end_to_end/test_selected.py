"""`keys=` and `since=` from the call to the examples, in this and another process."""

from __future__ import annotations

import itertools
import json

import pytest
import tensorflow as tf
from places import BRIEF, classes, elsewhere, examples, picture

import tfstream
from tfstream.testing.proxy import Fault

KEYS = ["train/2/3.png", "train/0/1.png", "train/1/0.png", "train/0/0.png", "train/2/0.png"]
IN_ORDER = [(103, 2), (1, 0), (50, 1), (0, 0), (100, 2)]


def tagged(place, tag):
    """The place, whose newest commit has the tag."""
    place.server.request("POST", f"/repositories/{place.name}/tags", {"id": tag, "ref": "main"})
    return place


@pytest.mark.slow
def test_keys_in_their_order(place):
    """Without shuffle examples come in the order of the list, with the labels of all classes."""
    place.put(classes())
    assert IN_ORDER == examples(place.open("train/**", keys=KEYS, shuffle=False))
    assert KEYS == place.open("train/**", keys=KEYS).file_paths
    assert sorted(IN_ORDER) == sorted(examples(place.open("train/**", keys=KEYS)))


@pytest.mark.slow
def test_keys_in_an_object(place):
    """The same from an object; its bytes are read once, when the dataset is made."""
    place.put({**classes(), "lists/train.csv": "\n".join(["key", *KEYS]).encode()})
    data = place.open("train/**", keys="lists/train.csv", shuffle=False)
    assert IN_ORDER == examples(data)
    assert "lists/train.csv" == data.spec.keys
    listed = place.open("train/**", keys=KEYS, shuffle=False)
    assert listed.spec.manifest == data.spec.manifest


@pytest.mark.slow
def test_a_list_that_changed(s3_place):
    """Where there are no commits, another list is another listing: the spec does not load."""
    s3_place.put({**classes(), "train.txt": "\n".join(KEYS).encode()})
    spec = s3_place.open("train/**", keys="train.txt").spec
    s3_place.upload("train.txt", "\n".join(reversed(KEYS)).encode())
    with pytest.raises(tfstream.ObjectChangedError, match=r"s3://.*train"):
        tfstream.load(spec, credentials=s3_place.credentials, options=BRIEF)


@pytest.mark.slow
def test_entering_and_resuming(lakefs_place, tmp_path):
    """`at`, a checkpoint in mid-epoch, splits and shards are of the chosen records alone."""
    lakefs_place.put(classes())
    common = {"keys": KEYS, "batch_size": 1}
    data = lakefs_place.open("train/**", seed=5, **common)
    order = examples(data)
    assert order[2:] == examples(data.at(step=2))
    steps = iter(data.epochs(1))
    list(itertools.islice(steps, 2))
    saved = tf.train.Checkpoint(steps).write(str(tmp_path / "mid"))
    resumed = iter(data.epochs(1))
    tf.train.Checkpoint(resumed).read(saved)
    assert order[2:] == examples(resumed)
    parts = [examples(data.shard(2, index)) for index in range(2)]
    assert sorted(IN_ORDER) == sorted(itertools.chain(*parts))
    both = lakefs_place.open(
        "train/**", validation_split=0.4, subset="both", shuffle=False, **common
    )
    assert [IN_ORDER[:3], IN_ORDER[3:]] == [examples(part) for part in both]


@pytest.mark.slow
def test_since(lakefs_place):
    """Only what was added or changed is read; what was removed is in `stats`."""
    lakefs_place.put(classes())
    tagged(lakefs_place, "v1")
    lakefs_place.remove("train/0/0.png")
    lakefs_place.put({"train/1/0.png": picture(200), "train/2/9.png": picture(201)})
    data = lakefs_place.open("train/**", since="v1", shuffle=False)
    assert [(200, 1), (201, 2)] == examples(data)
    assert ("0", "1", "2") == tuple(data.class_names)
    assert 1 == data.stats().left_out["removed"]
    assert 2 == data.stats().objects
    source = json.loads(data.spec.to_json())["source"]
    assert ("v1", 64) == (source["since_ref"], len(source["since"]))
    first = lakefs_place.open("train/**", since=source["since"], shuffle=False)
    assert first.spec.digest == data.spec.digest  # a tag is only another name of it


def test_since_without_commits(tmp_path):
    """Other sources say who has it."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'since': only from_lakefs"):
        tfstream.from_url(tmp_path, since="v1")


def test_faults_of_the_diff(lakefs_place):
    """A page of the diff is tried again; one that does not come is an error, no short list."""
    lakefs_place.put(classes(2, 2))
    tagged(lakefs_place, "v1")
    lakefs_place.put({"train/1/9.png": picture(201)})

    def match(request):
        return "/diff/" in request.target and "type=two_dot" in request.target

    faults = [Fault("reset", match=match), Fault("cut", match=match, after=40)]
    lakefs_place.proxy.add(*faults)
    data = lakefs_place.open("train/**", since="v1")
    assert ["train/1/9.png"] == data.file_paths
    assert 2 == data.stats().retries
    lakefs_place.proxy.add(Fault("status", match=match, times=None))
    with pytest.raises(tfstream.RetriesExhaustedError, match=r"compare lakefs://.* with v1 \("):
        lakefs_place.open("train/**", since="v1")


@pytest.mark.slow
def test_another_process(lakefs_place, monkeypatch):
    """Specs with keys, a list of keys and `since` give it equal examples, whatever is newer."""
    lakefs_place.put({**classes(), "train.txt": "\n".join(KEYS).encode()})
    tagged(lakefs_place, "v1")
    lakefs_place.put({"train/0/1.png": picture(200), "train/2/9.png": picture(201)})
    asked = [
        {"keys": KEYS},
        {"keys": "train.txt"},
        {"since": "v1"},
        {"since": "v1", "keys": KEYS, "shuffle": False},
    ]
    found = [
        lakefs_place.open("train/**", endpoint=lakefs_place.server.endpoint, **each)
        for each in asked
    ]
    lakefs_place.put({"train/0/1.png": picture(1), "train.txt": b"train/0/2.png"})
    tags = f"/repositories/{lakefs_place.name}/tags"
    lakefs_place.server.request("DELETE", f"{tags}/v1")
    tagged(lakefs_place, "v1")
    here = [[list(example) for example in examples(data)] for data in found]
    assert [[200, 0]] == here[3]
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", lakefs_place.server.access_key_id)
    secret = lakefs_place.server.secret_access_key
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", secret)
    assert here == elsewhere([data.spec.to_json() for data in found])
