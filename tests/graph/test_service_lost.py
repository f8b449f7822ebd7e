"""What is lost and what comes twice when a worker of a tf.data service is killed in mid-epoch."""

from __future__ import annotations

import signal
import socket
from collections import Counter
from contextlib import ExitStack

import keras
import pytest
import tensorflow as tf
from cluster import BATCH, CHUNK, COUNT, Cluster, Store, data_of, fill, numbers_of

import tfstream
from tfstream.testing.proxy import Fault

pytestmark = pytest.mark.slow
EACH_ONCE = set(range(COUNT))
IN_HAND = 4
"""Chunks: two in calls of the op, one that was made, one that waits for a call."""


@pytest.fixture(scope="module")
def bucket(s3_server):
    """The pictures. Read only."""
    return fill(s3_server)


@pytest.fixture
def stores(s3_server, bucket, monkeypatch):
    """How the trainer and two workers reach it; slowly, so that an epoch takes a while."""
    with ExitStack() as stack:
        stores = [stack.enter_context(Store(s3_server, bucket)) for _ in range(3)]
        for name, value in stores[0].environment.items():
            monkeypatch.setenv(name, value)
        for store in stores[1:]:
            store.proxy.add(Fault("delay", match=".png", seconds=0.3, times=None))
        yield stores


def port():
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Workers:
    """A worker for each store, each at an address of its own that it keeps."""

    def __init__(self, stores):
        self.stores = stores
        self.ports = [port() for _ in stores]
        self.addresses = [f"127.0.0.1:{each}" for each in self.ports]

    def start(self, cluster, index):
        """Start one; again, if it was killed."""
        options = ("--port", self.ports[index], "--address", self.addresses[index])
        worker = cluster.worker(self.stores[index], *options)
        assert worker.line()
        return worker

    def iterated(self, cluster, dataset, *, again):
        """How often each number comes when the second worker is killed as it reads."""
        _, lost = [self.start(cluster, index) for index in (0, 1)]
        iterator = iter(dataset)
        first = numbers_of([next(iterator)])
        self.stores[1].proxy.wait_for(20)  # not more from now on: it may have read its share
        lost.ended(signal.SIGKILL)
        if again:
            self.start(cluster, 1)
        return Counter(first + numbers_of(iterator))


@pytest.fixture
def workers(stores):
    """Two, which read slowly."""
    return Workers(stores[1:])


def test_dynamic(stores, workers):
    """
    DYNAMIC, at most once: nothing comes twice, and only what the worker had in hand is lost.

    The epoch ends when the worker is there again: TensorFlow waits for its word.
    """
    with Cluster() as cluster:
        far = tfstream.distribute(data_of(stores[0]), cluster.url)
        found = workers.iterated(cluster, far, again=True)
    assert {1} == set(found.values())
    missing = EACH_ONCE - set(found)
    assert 0 < len(missing) <= IN_HAND * CHUNK


def test_without_end(stores, workers):
    """A stream without end goes on with the workers that are left, and waits for none."""
    with Cluster() as cluster:
        far = tfstream.distribute(data_of(stores[0]).epochs(), cluster.url)
        found = workers.iterated(cluster, far.take(2 * COUNT // BATCH), again=False)
    assert 2 * COUNT == found.total()


def test_off(stores, workers):
    """OFF, at least once: the other worker makes all of it."""
    with Cluster() as cluster:
        far = tfstream.distribute(data_of(stores[0]), cluster.url, mode="off")
        found = workers.iterated(cluster, far, again=True)
    assert EACH_ONCE == set(found)
    assert set(found.values()) <= {1, 2, 3}
    assert 2 in found.values()


def test_fixed(stores, workers):
    """FIXED: each worker has its share; one that is started again starts it again."""
    with Cluster("--workers", ",".join(workers.addresses)) as cluster:
        far = tfstream.distribute(data_of(stores[0]), cluster.url, mode="fixed")
        found = workers.iterated(cluster, far, again=True)
    share = set(stores[2].read)
    assert COUNT // 2 == len(share)
    assert EACH_ONCE - share == set(stores[1].read)
    assert EACH_ONCE == set(found)
    assert {number for number, times in found.items() if times > 1} <= share


GONE = r"no dispatcher at grpc://\S+ for 1 seconds, and nothing came from workers"


@pytest.mark.parametrize(
    ("mode", "epochs"),
    [("dynamic", None), ("dynamic", 1), ("fixed", 2), ("off", 1)],
    ids=["stream", "dynamic", "fixed", "off"],
)
def test_the_dispatcher_is_gone(stores, workers, mode, epochs):
    """What its workers still have comes, and then an error in time, where TensorFlow hangs."""
    options = ("--workers", workers.addresses[0]) if mode == "fixed" else ()
    with Cluster(*options) as cluster:
        workers.start(cluster, 0)
        data = data_of(stores[0]).epochs(epochs)
        far = tfstream.distribute(data, cluster.url, mode=mode, dispatcher_timeout=1)
        iterator = iter(far)
        found = numbers_of([next(iterator)])
        cluster.stop_dispatcher()
        with pytest.raises(tfstream.TfstreamError, match=GONE):
            found.extend(number for batch in iterator for number in numbers_of([batch]))
        if mode != "dynamic":  # they have no questions to the dispatcher before the end
            assert dict.fromkeys(EACH_ONCE, epochs) == Counter(found)


def test_the_dispatcher_is_gone_between_epochs(stores):
    """The next iteration is that error, too."""
    with Cluster() as cluster:
        assert cluster.worker(stores[0]).line()
        far = tfstream.distribute(data_of(stores[0]), cluster.url, dispatcher_timeout=1)
        assert sorted(EACH_ONCE) == sorted(numbers_of(far))
        cluster.stop_dispatcher()
        with pytest.raises(tfstream.TfstreamError, match=GONE):
            numbers_of(far)


@pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning")  # Keras', for any data
def test_the_dispatcher_is_gone_in_fit(stores):
    """Keras ends with TensorFlow's error of the same words."""
    with Cluster() as cluster:
        assert cluster.worker(stores[0]).line()
        data = data_of(stores[0], labels="inferred").epochs()
        far = tfstream.distribute(data, cluster.url, dispatcher_timeout=1)
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        kill = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: cluster.stop_dispatcher())
        with pytest.raises(tf.errors.OpError, match=GONE):
            model.fit(far, epochs=50, steps_per_epoch=COUNT // BATCH, verbose=0, callbacks=[kill])


def test_the_dispatcher_comes_back(stores, tmp_path):
    """A fault-tolerant dispatcher that is started again goes on with the epoch it was in."""
    place = port()
    options = ("--port", place, "--work-dir", tmp_path, "--fault-tolerant")
    with Cluster(*options) as cluster:
        assert cluster.worker(stores[1]).line()
        iterator = iter(tfstream.distribute(data_of(stores[0]), cluster.url))
        found = numbers_of([next(iterator)])
        cluster.stop_dispatcher()
        with Cluster(*options):
            found += numbers_of(iterator)
    assert sorted(EACH_ONCE) == sorted(found)


def test_sigterm(stores, workers):
    """A worker that is told to end in mid-epoch does, with code 0, and the epoch goes on after."""
    with Cluster() as cluster:
        first, other = (workers.start(cluster, index) for index in (0, 1))
        iterator = iter(tfstream.distribute(data_of(stores[0]).epochs(), cluster.url))
        assert BATCH == len(numbers_of([next(iterator)]))
        assert 0 == other.ended(signal.SIGTERM)
        assert BATCH == len(numbers_of([next(iterator)]))
        assert first.poll() is None
