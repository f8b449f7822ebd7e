"""Which spec a dataset comes from."""

from __future__ import annotations

import pytest
import tensorflow as tf

import tfstream

SMALL = {"image_size": (8, 8), "batch_size": 5, "verbose": False}


@pytest.fixture(scope="module")
def stream(digits):
    """A dataset of a folder."""
    return tfstream.from_url(digits, **SMALL)


@pytest.fixture(scope="module")
def half(digits):
    """Another one, of the same folder."""
    return tfstream.from_url(digits, **SMALL, validation_split=0.5, subset="validation")


def test_a_derived_dataset(stream):
    """However far the dataset was derived, the spec is that of its source."""
    derived = stream.map(lambda images, labels: images).unbatch().batch(3).prefetch(1)
    assert stream.spec == tfstream.spec_of(stream) == tfstream.spec_of(derived)


def test_a_dataset_of_something_else():
    """A dataset without a stream in it has no spec."""
    assert tfstream.spec_of(tf.data.Dataset.range(3).map(tf.identity)) is None


def test_mixed_with_other_datasets(stream):
    """One stream and others that are none: the stream's spec; so of a stream that comes twice."""
    numbered = tf.data.Dataset.zip(stream, tf.data.Dataset.range(9))
    assert stream.spec == tfstream.spec_of(numbered)
    assert stream.spec == tfstream.spec_of(stream.concatenate(stream.take(1)))


@pytest.mark.parametrize(
    "mixed",
    [
        lambda one, two: tf.data.Dataset.zip((one, two)),
        lambda one, two: one.concatenate(two),
        lambda one, two: tf.data.Dataset.sample_from_datasets([one, two]),
        lambda one, two: again(tf.data.Dataset.zip((one, two))),
    ],
    ids=["zip", "concatenate", "sample", "graph"],
)
def test_several_streams(stream, half, mixed):
    """Of several specs none is the dataset's: the error names them."""
    with pytest.raises(ValueError, match=r"2 specs: .*\(all, sha256:.*\(validation, sha256:"):
        tfstream.spec_of(mixed(stream, half))


def again(dataset):
    """The dataset, through its bytes."""
    return tfstream.from_graph(tfstream.to_graph(dataset), allow_local=True)


def test_after_a_journey(stream):
    """What came as a graph has the spec of what left, and so has what is derived from it."""
    kept = again(stream.map(lambda images, labels: images))
    assert stream.spec == tfstream.spec_of(kept) == tfstream.spec_of(kept.batch(2))
