"""Elements of a service, and what becomes of them without its dispatcher; here no service."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

import tfstream
from tfstream.graph import watched as module
from tfstream.graph.errors import raising
from tfstream.graph.watched import watched

ROOT = Path(__file__).parents[2]
NUMBERS = tf.data.Dataset.range(100)


@pytest.fixture
def dispatcher():
    """Something that can be connected to."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        yield listening


def address_of(listening):
    """Its `host:port`."""
    return f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def ticking(monkeypatch):
    """Ticks come fast."""
    monkeypatch.setattr(module, "_TICK_SECONDS", 0.02)


STRUCTURES = {
    "one": lambda n: n,
    "tuple of one": lambda n: (n,),
    "tuple": lambda n: (n, {"b": tf.cast(n, tf.float32), "a": (n, n + 1)}),
    "dict": lambda n: {"b": n, "a": tf.zeros([n])},
    "ragged": lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n), [n]),
    "sparse": lambda n: tf.sparse.from_dense(tf.fill([2], n)),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_same_elements(dispatcher, ticking, name):
    """All of them, in their order and with their structure, each time."""
    data = NUMBERS.map(STRUCTURES[name])
    found = watched(data, address_of(dispatcher), 5)
    gc.collect()  # what only Python held
    assert data.element_spec == found.element_spec
    assert [str(each) for each in data] == [str(each) for each in found]
    assert 100 == sum(1 for _ in found)


def test_an_endless_one(dispatcher):
    """What has no end is known to have none."""
    found = watched(NUMBERS.repeat(), address_of(dispatcher), 5)
    assert tf.data.INFINITE_CARDINALITY == found.cardinality()
    assert [98, 99, 0] == list(found.skip(98).take(3).as_numpy_iterator())


def test_elements_need_no_dispatcher(dispatcher, ticking):
    """While elements come, nobody looks for it."""
    iterator = iter(watched(NUMBERS, address_of(dispatcher), 1e-6))
    assert 0 == next(iterator)
    dispatcher.close()
    assert list(range(1, 100)) == [int(each) for each in iterator]


@pytest.mark.parametrize("begun", [False, True], ids=["at the start", "later"])
def test_no_dispatcher(dispatcher, ticking, begun):
    """Without elements, its absence is an error that says what to do, and the iterator ends."""
    silent = tf.data.Dataset.from_tensors(0).concatenate(
        tf.data.Dataset.range(2**62).filter(lambda _: False).map(lambda _: 0)
    )
    iterator = raising(iter(watched(silent, address_of(dispatcher), 0.1)))
    if begun:
        assert 0 == next(iterator)
    dispatcher.close()
    with pytest.raises(tfstream.TfstreamError, match=r"for 0\.1 seconds, and nothing") as told:
        next(iterator)
    assert "--fault-tolerant" in str(told.value)


def test_it_may_come_back(dispatcher, ticking):
    """One that is there again in time is no error, and the wait starts over."""
    place = dispatcher.getsockname()
    dispatcher.close()
    states = []

    def look(since):
        states.append(float(module._looked(address, 60, since)))
        return states[-1]

    address = f"{place[0]}:{place[1]}".encode()
    first = look(0.0)
    assert first > 0
    assert first == look(first)
    with socket.create_server(place):
        assert 0.0 == look(first)


PROGRAM = """
import tensorflow as tf
from tfstream.graph import watched

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
Optional = tf.experimental.Optional
elements = tf.data.Dataset.range(50).map(lambda n: (tf.constant(0), Optional.from_value(n)))
ticks = elements.map(lambda _, each: (tf.constant(1), each))
print(*(int(kind) for kind, _ in watched._either(elements, ticks)))
"""


@pytest.mark.slow
def test_where_tensorflow_insists_on_an_order():
    """No element then waits for a tick."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 50 * [0] + 50 * [1] == list(map(int, done.stdout.split())), done.stderr
