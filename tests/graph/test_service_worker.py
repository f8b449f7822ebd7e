"""Workers that cannot do their work say so to the trainer: another version, a missing package."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster import COUNT, Cluster, Store, data_of, fill, numbers_of

import tfstream
from tfstream.graph.version import checked, signed

ODD = Path(__file__).with_name("odd_worker.py")


@pytest.fixture(scope="module")
def bucket(s3_server):
    """The pictures. Read only."""
    return fill(s3_server)


@pytest.fixture
def store(s3_server, bucket, monkeypatch):
    """How trainer and worker reach it."""
    with Store(s3_server, bucket) as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        yield store


def told(store, *odd):
    """The error that a trainer gets from a worker, perhaps an odd one."""
    with Cluster() as cluster:
        program = [ODD, *odd] if odd else ["-m", "tfstream"]
        assert "worker of" in cluster.worker(store, program=program).line()
        far = tfstream.distribute(data_of(store), cluster.url)
        with pytest.raises(tfstream.TfstreamError) as raised:
            numbers_of(far)
    return raised.value


@pytest.mark.slow
def test_another_version(store):
    """A worker of another minor release refuses the graph, and names both versions."""
    error = told(store, "--as", "9.1.0")
    assert isinstance(error, tfstream.NotPortableError)
    assert f"made by tfstream {tfstream.__version__}, and this process has" in str(error)
    assert "tfstream 9.1.0" in str(error)


@pytest.mark.slow
def test_another_patch(store):
    """A worker of another patch of the same minor release does its work."""
    major, minor, patch = tfstream.__version__.split(".")
    with Cluster() as cluster:
        other = ("--as", f"{major}.{minor}.{int(patch) + 1}")
        assert cluster.worker(store, program=[ODD, *other]).line()
        far = tfstream.distribute(data_of(store), cluster.url)
        assert list(range(COUNT)) == sorted(numbers_of(far))


@pytest.mark.slow
def test_a_missing_package(store):
    """A worker without what the store needs says the pip line."""
    error = told(store, "--without", "botocore")
    assert isinstance(error, tfstream.MissingDependencyError)
    assert 'pip install "tfstream[s3]"' in str(error)


@pytest.mark.slow
def test_no_credentials(store, s3_server, bucket):
    """A worker reads with the keys of its own environment: without any it is refused."""
    with Store(s3_server, bucket) as other:
        other.environment = {
            name: value for name, value in other.environment.items() if "KEY" not in name
        }
        other.environment["HOME"] = "/nonexistent"
        error = told(other)
    assert isinstance(error, tfstream.SourceError)


def test_a_graph_without_a_version():
    """What an op gets has the version; where it has none, that is another one."""
    assert b"name" == checked(signed("name").encode())
    with pytest.raises(tfstream.NotPortableError, match=r"made by tfstream \(unknown\)"):
        checked(b"name")
