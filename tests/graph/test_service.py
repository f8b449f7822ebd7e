"""tf.data service, with a dispatcher and workers that are processes of their own."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice

import pytest
import tensorflow as tf
from cluster import BATCH, COUNT, Cluster, Store, batches_of, data_of, fill, numbers_of

import tfstream
from tfstream.testing.proxy import Fault

pytestmark = pytest.mark.slow
STEPS = COUNT // BATCH
EACH_ONCE = list(range(COUNT))


@pytest.fixture(scope="module")
def bucket(s3_server):
    """The pictures. Read only."""
    return fill(s3_server)


@pytest.fixture(scope="module")
def stores(s3_server, bucket):
    """How the trainer and two workers reach it: each through a proxy of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(Store(s3_server, bucket)) for _ in range(3)]


@pytest.fixture(scope="module")
def cluster(stores):
    """A dispatcher and two workers."""
    with Cluster() as cluster:
        workers = [cluster.worker(store) for store in stores[1:]]
        assert all("worker of" in worker.line() for worker in workers)
        yield cluster


@pytest.fixture
def trainer(stores, monkeypatch):
    """The trainer's store; nothing has been read yet."""
    for name, value in stores[0].environment.items():
        monkeypatch.setenv(name, value)
    for store in stores:
        store.proxy.clear()
    return stores[0]


def in_threads(*datasets, count=None):
    """The first batches of several datasets whose iterators may wait for each other."""
    with ThreadPoolExecutor(len(datasets)) as threads:
        return list(threads.map(lambda each: batches_of(islice(each, count)), datasets))


def all_of(data, epochs):
    """Every batch of so many epochs, as they are without the service."""
    return [tuple(batch) for epoch in range(epochs) for batch in batches_of(data.at(epoch=epoch))]


def test_each_record_once(cluster, trainer):
    """DYNAMIC: each iteration has the batches of the next epoch, as without the service."""
    data = data_of(trainer)
    far = tfstream.distribute(data, cluster.url)
    assert (data.element_spec, len(data)) == (far.element_spec, len(far))
    for epoch in range(2):
        assert sorted(batches_of(data.at(epoch=epoch))) == sorted(batches_of(far))


def test_each_worker_reads_its_own_records(cluster, stores, trainer):
    """DYNAMIC: the trainer reads nothing, and no two workers read the same object."""
    data = data_of(trainer)
    for store in stores[1:]:  # so slow that the other, found a second later, gets some, too
        store.proxy.add(Fault("delay", match=".png", seconds=0.5, times=None))
    far = tfstream.distribute(data, cluster.url)
    assert EACH_ONCE == sorted(numbers_of(far))
    shares = [Counter(store.read) for store in stores]
    assert [] == list(shares[0])
    assert all(shares[1:])
    assert EACH_ONCE == sorted((shares[1] + shares[2]).elements())
    assert 0 == data.stats().objects


def test_numbered_epochs(cluster, trainer):
    """DYNAMIC: several epochs in one iteration have each record so many times."""
    far = tfstream.distribute(data_of(trainer).epochs(3), cluster.url)
    assert dict.fromkeys(EACH_ONCE, 3) == Counter(numbers_of(far))


def test_entered_in_the_middle(cluster, trainer):
    """DYNAMIC: entered in the middle, it has the rest of that epoch, then whole ones."""
    data = data_of(trainer).at(epoch=5, step=30)
    far = tfstream.distribute(data, cluster.url)
    assert sorted(batches_of(data)) == sorted(batches_of(far))
    assert EACH_ONCE == sorted(numbers_of(far))


def test_off(cluster, trainer):
    """OFF: each worker makes the whole epoch."""
    far = tfstream.distribute(data_of(trainer), cluster.url, mode="off")
    assert dict.fromkeys(EACH_ONCE, 2) == Counter(numbers_of(far))


def test_derived(cluster, trainer):
    """What comes after a stream without end runs in the workers, each chunk in one of them."""
    data = data_of(trainer)
    shifted = data.epochs().map(lambda images: images + 1000)
    far = tfstream.distribute(shifted, cluster.url).take(2 * STEPS)
    found = Counter(tuple(number - 1000 for number in batch) for batch in batches_of(far))
    assert {1} == set(found.values())
    assert set(found) <= set(all_of(data, epochs=8))


def test_seeded_functions(cluster, trainer):
    """What `map_with_seed` makes is the same on a worker as here."""
    data = data_of(trainer).map_with_seed(
        lambda images, seed: images + 1000.0 * tf.cast(seed[0] % 64, tf.float32)
    )
    far = tfstream.distribute(data, cluster.url)
    assert sorted(batches_of(data)) == sorted(batches_of(far))


def test_one_job_for_several_trainers(cluster, trainer):
    """Trainers with one job name share an epoch: each batch goes to one of them."""
    data = data_of(trainer).epochs(1)
    far = [tfstream.distribute(data, cluster.url, job_name="shared") for _ in range(2)]
    parts = in_threads(*far)
    assert EACH_ONCE == sorted(number for part in parts for batch in part for number in batch)


def test_coordinated_reads(cluster, trainer):
    """Consumers get as many batches each, in turn, and no batch comes twice."""
    data = data_of(trainer).epochs()
    far = [
        tfstream.distribute(
            data, cluster.url, job_name="rounds", num_consumers=2, consumer_index=index
        )
        for index in range(2)
    ]
    parts = in_threads(*far, count=8)
    assert [8, 8] == [len(part) for part in parts]
    found = {tuple(batch) for part in parts for batch in part}
    assert 16 == len(found)
    assert found <= set(all_of(data_of(trainer), epochs=8))


def test_cross_trainer_cache(cluster, trainer):
    """Trainers with names of their own get the same batches, which are made once."""
    data = data_of(trainer).epochs()
    one, two = (
        tfstream.distribute(data, cluster.url, job_name="cache", cross_trainer_cache=name)
        for name in ("one", "two")
    )
    first, second = (set(map(tuple, batches_of(each.take(STEPS)))) for each in (one, two))
    assert len(first & second) > STEPS // 2  # the workers' turns differ, their batches do not


@pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning")  # Keras', for any data
def test_model_fit(cluster, trainer):
    """Keras trains on it, epoch by epoch, without a warning."""
    far = tfstream.distribute(data_of(trainer, labels="inferred"), cluster.url)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(far, epochs=2, verbose=0)
    assert 2 == len(history.history["loss"])


@pytest.mark.parametrize("epochs", [0, None], ids=["counted by nobody", "numbered"])
def test_what_is_distributed_does_not_travel(cluster, trainer, epochs):
    """`to_graph` names `distribute`, and says what to pass on instead."""
    data = data_of(trainer)
    far = tfstream.distribute(data if epochs == 0 else data.epochs(epochs), cluster.url)
    for dataset in (far, far.map(lambda images: images / 255)):
        with pytest.raises(tfstream.NotPortableError) as told:
            tfstream.to_graph(dataset)
        assert str(told.value) == (
            "what tfstream.distribute gives cannot travel: it is made by the workers of a tf.data "
            "service. Pass on the dataset that you gave to distribute, and call distribute where "
            "it is used"
        )


def test_an_error_of_a_worker(cluster, stores, trainer):
    """What a worker cannot read is a tfstream error of the trainer, with the key."""
    far = tfstream.distribute(data_of(trainer), cluster.url)
    for store in stores[1:]:
        store.proxy.add(Fault("status", match="/007.png", status=404, times=None))
    with pytest.raises(tfstream.ObjectNotFoundError, match=r"007\.png"):
        numbers_of(far)
