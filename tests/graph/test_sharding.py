"""Sharing out: `shard`, input contexts and strategies, each reading only its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from numbered import COUNT, folder_of, numbers, streamed

import tfstream


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures."""
    return folder_of(tmp_path_factory.mktemp("sharding") / "numbers")


@pytest.mark.parametrize("batch_size", [None, 4, 5])
@pytest.mark.parametrize("start", [None, (1, 10)])
def test_shard_is_that_of_tf_data(folder, batch_size, start):
    """Every so many-th element of an epoch, from the index on."""
    for index in range(3):
        data = streamed(folder, batch_size=batch_size, shuffle=True, position=start).epochs(1)
        expected = numbers(tf.data.Dataset.shard(data, 3, index))
        assert numbers(data.shard(3, index)) == expected


def test_a_shard_of_a_shard(folder):
    """Is shared out further, as in tf.data."""
    half = streamed(folder, num_shards=2, shard_index=1)
    assert numbers(half.shard(3, 2)) == numbers(tf.data.Dataset.shard(half, 3, 2))
    assert half.shard(3, 2).spec.shard == tfstream.spec.Shard(num_shards=6, index=5)


@pytest.mark.parametrize("remainder", ["drop", "pad"])
def test_a_shard_of_equal_shards(folder, remainder):
    """Their last run is theirs: tf.data takes from what they give."""
    half = streamed(folder, num_shards=2, shard_index=1, remainder=remainder)
    assert numbers(half.shard(3, 2)) == [numbers(half)[2]]


def test_only_its_own_are_read(folder):
    """A worker asks for its records and no others."""
    data = streamed(folder)
    assert len(numbers(data.shard(3, 1))) == 2
    assert data.stats().objects == COUNT // 3


def test_one_of_one_is_the_same(folder):
    """The only worker has all of it."""
    data = streamed(folder)
    assert data.shard(1, 0) is data


@pytest.mark.parametrize(("num_shards", "index"), [(2, 2), (0, 0), (2, -1)])
def test_no_such_worker(folder, num_shards, index):
    """An index that is none is an error, here, in arguments and in `load`."""
    data = streamed(folder)
    with pytest.raises(ValueError, match=r"`index`|`num_shards`"):
        data.shard(num_shards, index)
    with pytest.raises(ValueError, match=r"`shard_index`|`num_shards`"):
        streamed(folder, num_shards=num_shards, shard_index=index)
    with pytest.raises(ValueError, match=r"`shard_index`|`num_shards`"):
        tfstream.load(data.spec, num_shards=num_shards, shard_index=index)


def test_tensorflow_does_not_shard_a_shard(folder):
    """A worker's own part is not shared out a second time."""
    policy = tf.data.experimental.AutoShardPolicy
    data = streamed(folder)
    found = [
        each.options().experimental_distribute.auto_shard_policy
        for each in (data, data.shard(2, 1))
    ]
    assert found == [policy.DATA, policy.OFF]


def test_an_input_context_is_honoured(folder):
    """`distribute_datasets_from_function` gives each record once."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    data = streamed(folder)
    distributed = strategy.distribute_datasets_from_function(
        lambda context: data.shard(context.num_input_pipelines, context.input_pipeline_id)
    )
    found = [label for _, labels in distributed for label in labels.numpy().tolist()]
    assert sorted(found) == list(range(COUNT))
