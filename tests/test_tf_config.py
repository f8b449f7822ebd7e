"""`num_shards="auto"`: which worker this process is, by the variable that tf.distribute reads."""

from __future__ import annotations

import json

import pytest

import tfstream
from tfstream.arguments import Arguments
from tfstream.spec import Shard

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"], "evaluator": ["e:1"]}


def config(kind: str, index: int | str, cluster: dict | None = None) -> str:
    """The variable of one task."""
    return json.dumps({"cluster": cluster or CLUSTER, "task": {"type": kind, "index": index}})


def found(monkeypatch, text: str) -> tuple[int, int | None]:
    """(num_shards, shard_index) of a process with it."""
    monkeypatch.setenv("TF_CONFIG", text)
    arguments = Arguments(num_shards="auto")
    return arguments.num_shards, arguments.shard_index


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (config("chief", 0), (3, 0)),
        (config("worker", 0), (3, 1)),
        (config("worker", "1"), (3, 2)),
        (config("worker", 1, {"worker": ["a:1", "b:1"]}), (2, 1)),
        (config("worker", 0, {"worker": ["a:1"]}), (1, 0)),
        (config("worker", 1, {"worker": {"0": "a:1", "1": "b:1"}}), (2, 1)),
        ("{}", (1, 0)),
        ("", (1, 0)),
    ],
)
def test_the_place_of_each_worker(monkeypatch, text, expected):
    """The chief comes first, and nobody else trains; without a cluster there is one worker."""
    assert expected == found(monkeypatch, text)


def test_the_variable_is_not_set(monkeypatch):
    """Then this is the only worker."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert (1, 0) == (Arguments(num_shards="auto").num_shards, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{'cluster'", r"TF_CONFIG is no JSON: .*\"\{'cluster'\""),
        ("[1]", r"TF_CONFIG: it must be a JSON object, not \[1\]"),
        ('{"cluster": "a:1"}', "TF_CONFIG: cluster must be a JSON object"),
        ('{"cluster": {"worker": "a:1"}}', r"TF_CONFIG: cluster\.worker must be a list"),
        (config("ps", 0), "a task of the type 'ps' does not train"),
        (config("evaluator", 0), "a task of the type 'evaluator' does not train"),
        (json.dumps({"cluster": CLUSTER}), "a task of the type None does not train"),
        (config("worker", 2), "the cluster has 2 of the type 'worker', and no 2"),
        (config("worker", -1), "and no -1"),
        (config("chief", 0, {"worker": ["b:1"]}), "the cluster has 0 of the type 'chief'"),
    ],
)
def test_a_variable_that_does_not_say_it(monkeypatch, text, words):
    """It is an error that shows what is wrong in it, never the wrong part of the data."""
    with pytest.raises(ValueError, match=words):
        found(monkeypatch, text)


def test_the_index_is_not_given_too(monkeypatch):
    """One of the two would be ignored."""
    with pytest.raises(ValueError, match=r"leave out `shard_index`\. Received: shard_index=0"):
        Arguments(num_shards="auto", shard_index=0)


def test_datasets_of_a_worker(monkeypatch, digits):
    """`from_url` and `load` take it alike, and the spec has what it came to."""
    monkeypatch.setenv("TF_CONFIG", config("worker", 0))
    given = tfstream.from_url(digits, verbose=False, batch_size=2, num_shards="auto")
    alone = tfstream.from_url(digits, verbose=False, batch_size=2)
    loaded = tfstream.load(alone.spec, num_shards="auto")
    assert Shard(num_shards=3, index=1) == given.spec.shard == loaded.spec.shard
    monkeypatch.delenv("TF_CONFIG")
    assert tfstream.load(given.spec, num_shards="auto").spec.shard is None
