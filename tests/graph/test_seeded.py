"""`map_with_seed`: a seed for each place, whoever gets there and however."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from numbered import COUNT, folder_of, streamed

import tfstream


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures, two of which are bad."""
    return folder_of(tmp_path_factory.mktemp("seeded") / "numbers", bad={0, 5})


def seeded(folder: Path, **arguments) -> tfstream.StreamDataset:
    """Elements of (first label, seed)."""
    given = {"on_error": "substitute", "shuffle": True, **arguments}
    return streamed(folder, **given).map_with_seed(lambda _, label, seed: (label, seed))


def seeds(data) -> list[tuple[int, ...]]:
    """Of each element."""
    return [tuple(seed.numpy().tolist()) for _, seed in data]


@pytest.mark.parametrize("batch_size", [None, 4, 20])
@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_each_place_has_a_seed(folder, batch_size, on_error):
    """No two batches, or single records, of two epochs have the same."""
    found = seeds(seeded(folder, batch_size=batch_size, on_error=on_error).epochs(2))
    assert len(set(found)) == len(found)
    assert len(found) == 2 * (len(found) // 2) > 1


def test_any_entry_gives_the_same(folder):
    """Entered in the middle, the rest has the seeds that it would have had."""
    data = seeded(folder)
    whole = seeds(data.epochs(2))
    assert seeds(data.at(epoch=1, step=2).epochs(1)) == whole[8:]
    assert seeds(data.with_read_options(tfstream.ReadOptions(max_in_flight=1))) == whole[:6]


def test_workers_have_the_seeds_of_their_batches(folder):
    """A batch has the same for any number of workers."""
    data = seeded(folder)
    parts = [seeds(data.shard(2, index).epochs(1)) for index in range(2)]
    assert seeds(data.epochs(1)) == [seed for pair in zip(*parts, strict=True) for seed in pair]


def test_functions_follow_each_other(folder):
    """Each has seeds of its own; autograph converts them."""

    def second(label, seed, other):
        if tf.reduce_all(seed == other):
            return label, seed, other
        return label, seed - other, other

    data = seeded(folder).map_with_seed(second)
    assert all(np.any(difference != 0) for _, difference, _ in data)
    assert data.spec == seeded(folder).spec


def test_a_checkpoint_goes_on_with_the_same(folder, tmp_path):
    """Random pixels too."""

    def flipped(image, label, seed):
        return image + tf.random.stateless_uniform(tf.shape(image), seed), label

    data = streamed(folder, on_error="skip").map_with_seed(flipped)
    iterator = iter(data)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "checkpoint"))
    restored = iter(data)
    tf.train.Checkpoint(iterator=restored).read(path)
    expected = [image.numpy().tobytes() for image, _ in iterator]
    assert len(expected) == COUNT // 4 - 1
    assert [image.numpy().tobytes() for image, _ in restored] == expected
