"""A dataset of a real store goes to another process as a graph, without credentials or reading."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import classes, examples

import tfstream

READ = """
import sys
import tfstream

data = tfstream.from_graph(open(sys.argv[1], "rb").read())
print(tfstream.spec_of(data).digest)
for images, labels in data:
    print(images.numpy()[:, 0, 0, 0].astype(int).tolist(), labels.numpy().tolist())
"""


def environment(place):
    """Variables by which another process finds the store through the proxy, and may read it."""
    keys = place.credentials
    if place.store == "s3":
        return {
            "AWS_ENDPOINT_URL": place.proxy.endpoint,
            "AWS_ACCESS_KEY_ID": keys["access_key_id"],
            "AWS_SECRET_ACCESS_KEY": keys["secret_access_key"],
        }
    return {
        "LAKECTL_SERVER_ENDPOINT_URL": place.proxy.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": keys["access_key_id"],
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": keys["secret_access_key"],
    }


def in_a_process(file, **variables):
    """What became of `READ` in a fresh Python."""
    return subprocess.run(
        [sys.executable, "-c", READ, str(file)],
        env={**os.environ, **variables},
        cwd=Path(tfstream.__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def same(images, labels):
    """A stage of a user's."""
    return images, labels


@pytest.mark.slow
def test_a_graph_goes_to_another_process(place, tmp_path):
    """
    Writing it makes no request, and no key is in it.

    The other process reads the same examples in the same order, with its own keys; each
    object once.
    """
    place.put(classes(2))
    data = place.open("train/**")
    place.proxy.clear()
    graph = tfstream.to_graph(data.map(same))
    assert [] == list(place.proxy.requests)
    for value in place.credentials.values():
        assert str(value).encode() not in graph
    (tmp_path / "graph").write_bytes(graph)
    done = in_a_process(tmp_path / "graph", **environment(place))
    assert 0 == done.returncode, done.stderr
    assert 8 == len(place.reads())
    digest, *batches = done.stdout.splitlines()
    assert data.spec.digest == digest
    expected = [
        f"{images.numpy()[:, 0, 0, 0].astype(int).tolist()} {labels.numpy().tolist()}"
        for images, labels in data
    ]
    assert expected == batches


@pytest.mark.slow
def test_a_process_without_keys(lakefs_place, tmp_path):
    """There the same graph is refused, naming the server: nothing is asked without a right to."""
    lakefs_place.put(classes(2))
    graph = tfstream.to_graph(lakefs_place.open("train/**"))
    (tmp_path / "graph").write_bytes(graph)
    lakefs_place.proxy.clear()
    done = in_a_process(tmp_path / "graph")
    assert "NotPortableError: lakefs://" in done.stderr
    assert "is at a server that the graph names" in done.stderr
    assert [] == list(lakefs_place.proxy.requests)


def test_in_the_same_process(place):
    """There the dataset that came back reads with the credentials that made it."""
    place.put(classes(2))
    data = place.open("train/**")
    kept = tfstream.from_graph(tfstream.to_graph(data), allow_local=True)
    assert sorted(examples(data)) == sorted(examples(kept))
    assert 16 == data.stats().objects
