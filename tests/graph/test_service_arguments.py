"""What `tfstream.distribute` refuses before it asks anybody."""

from __future__ import annotations

import re
import socket

import pytest
import tensorflow as tf

import tfstream

NOBODY = "grpc://127.0.0.1:1"


@pytest.fixture(scope="module")
def data(digits):
    """A dataset."""
    return tfstream.from_url(digits, image_size=(8, 8), batch_size=4, verbose=False)


@pytest.mark.parametrize(
    "service", ["grpc://host", "host", "http://host:1", "grpc://:1", "", "h:x"]
)
def test_addresses(data, service):
    """A service is a host and a port."""
    with pytest.raises(ValueError, match=re.escape(f"`grpc://host:port`, received: {service!r}")):
        tfstream.distribute(data, service)


def test_no_dispatcher(data):
    """Where nobody listens is said at once, not after TensorFlow's hour."""
    for dataset in (data, data.epochs().map(lambda images, _: images)):
        with pytest.raises(tfstream.TfstreamError, match=re.escape(f"no dispatcher at {NOBODY}: ")):
            tfstream.distribute(dataset, NOBODY)


def test_an_address_that_is_silent(data, monkeypatch):
    """A host that answers nothing is given up after a time."""
    monkeypatch.setattr("tfstream.graph.service._REACH_SECONDS", 0.1)

    def connect(address, timeout):
        assert (("dispatcher", 5050), 5.0) == (address, timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(tfstream.TfstreamError, match="grpc://dispatcher:5050: timed out"):
        tfstream.distribute(data, "grpc://dispatcher:5050")


def test_modes(data):
    """An unknown mode is refused with the list of those that there are."""
    with pytest.raises(ValueError, match="off, fixed, dynamic, received: 'data'"):
        tfstream.distribute(data, NOBODY, mode="data")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), None, "5"])
def test_times(data, seconds):
    """How long to wait for a dispatcher is a number of seconds."""
    with pytest.raises(ValueError, match=f"is a number of seconds. Received: {seconds!r}"):
        tfstream.distribute(data, NOBODY, dispatcher_timeout=seconds)


@pytest.mark.parametrize(
    "shared",
    [{"num_consumers": 2, "consumer_index": 0}, {"cross_trainer_cache": "one"}],
    ids=["coordinated", "cached"],
)
def test_what_needs_no_end(data, shared):
    """Coordinated reads and the cache take a dataset without end."""
    for dataset in (data, data.epochs(3)):
        with pytest.raises(ValueError, match=re.escape("distribute data.epochs()")):
            tfstream.distribute(dataset, NOBODY, job_name="job", **shared)


def test_what_needs_numbers(data):
    """A job of several trainers takes numbered epochs."""
    with pytest.raises(ValueError, match=re.escape("data.epochs(), or data.epochs(n)")):
        tfstream.distribute(data, NOBODY, job_name="job")


def test_derived_datasets(data):
    """What is derived has to be of one stream without end, and cannot be shared out as fixed."""

    def images(image, _):
        return image

    for finite in (data, data.epochs(2)):
        with pytest.raises(ValueError, match=re.escape("distribute data.epochs().map(...)")):
            tfstream.distribute(finite.map(images), NOBODY)
    endless = data.epochs()
    with pytest.raises(ValueError, match="shares out a StreamDataset alone"):
        tfstream.distribute(endless.map(images), NOBODY, mode="fixed")
    with pytest.raises(ValueError, match="2 streams each in its own way"):
        tfstream.distribute(tf.data.Dataset.zip(endless, endless), NOBODY)
