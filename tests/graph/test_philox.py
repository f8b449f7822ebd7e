"""The number of an iteration, found again from what TensorFlow's own generator gave it."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfstream.graph import philox
from tfstream.graph.philox import epoch_of, nonces

epoch_dataset = tf.autograph.experimental.do_not_convert(philox.epoch_dataset)  # as `build` has it


def numbers(dataset: tf.data.Dataset) -> list[int]:
    """All elements."""
    return [int(each) for each in dataset.as_numpy_iterator()]


def test_iterations_are_numbered():
    """Each iteration of the dataset gives one number: 0, 1, 2, …"""
    dataset = epoch_dataset(0)
    assert [numbers(dataset) for _ in range(4)] == [[0], [1], [2], [3]]


def test_iterations_are_numbered_for_long():
    """Also past the 2,048 that are computed at a time, for the op itself."""
    assert numbers(epoch_dataset(0).repeat(2100)) == list(range(2100))


def test_numbers_begin_where_asked():
    """A dataset that was entered at epoch 7 goes on with 8."""
    dataset = epoch_dataset(7)
    assert [numbers(dataset) for _ in range(2)] == [[7], [8]]


def test_numbers_do_not_depend_on_the_global_seed():
    """`tf.random.set_seed` before or between changes nothing."""
    try:
        tf.random.set_seed(1)
        dataset = epoch_dataset(0)
        first = numbers(dataset)
        tf.random.set_seed(2)
        assert (first, numbers(dataset)) == ([0], [1])
        assert numbers(epoch_dataset(0)) == [0]
    finally:
        tf.random.set_seed(None)  # or other tests' random numbers are no longer random


@pytest.mark.parametrize("epoch", [0, 1, 2, 2047, 2048, 2049, 100_000])
def test_a_number_is_found_again(epoch):
    """`epoch_of` inverts the sequence far into it."""
    start = epoch // 2 * 2
    pair = nonces(tf.constant(start, tf.int64), 2)[epoch - start]
    assert int(epoch_of(tf.cast(pair, tf.int64))) == epoch


def test_a_restored_iterator_goes_on_counting(tmp_path):
    """
    A symbolic checkpoint of an iterator holds the generator's place.

    One that is not symbolic has the current number, but later ones are others: TensorFlow
    does not set the generator back. So `StreamDataset.epochs` is symbolic.
    """
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    dataset = epoch_dataset(0).repeat(6).with_options(options)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "checkpoint"))
    fresh = iter(epoch_dataset(0).repeat(6).with_options(options))
    tf.train.Checkpoint(iterator=fresh).read(path).assert_consumed()
    assert [int(each) for each in fresh] == [2, 3, 4, 5]
