"""Orders that are entered in the middle, again and again, by any number of workers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numbered import batches_of, folder_of, numbers, skipped, streamed
from small_specs import order_of, spec_of

from tfstream.graph.order import records_of
from tfstream.graph.windows import Windows
from tfstream.spec import DatasetSpec, Order, Position, Shard

BAD = {3, 9, 10, 21}
MANY = 10_000_000

runs = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), max_size=4)
"""(workers, steps) of each, until it is stopped."""
batches = st.one_of(st.none(), st.integers(1, 7))
several = settings(max_examples=25, deadline=None)


def parts(spec: DatasetSpec, records: int, worlds: list[tuple[int, int]]) -> list[int]:
    """What all workers of all runs get of one epoch; a last run by one worker ends it."""
    size, record, found = spec.batch_size or 1, 0, []
    for workers, steps in [*worlds, (1, records)]:
        if record >= records:
            break
        for index in range(workers):
            shard = Shard(num_shards=workers, index=index)
            part = spec.replace(shard=shard, start=Position(epoch=3, record=record))
            found += order_of(part, records)[0][: steps * size]
        record += steps * size * workers
    return found


@several
@given(seed=st.integers(), records=st.integers(1, 60), batch=batches, worlds=runs)
def test_any_sequence_of_worlds_over_files(seed, records, batch, worlds):
    """Shuffled by any seed, each record comes once an epoch, whoever goes on."""
    found = parts(spec_of(order=Order(seed=seed), batch_size=batch), records, worlds)
    assert sorted(found) == list(range(records))


@several
@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    seed=st.integers(),
    window=st.integers(1, 30),
    batch=batches,
    worlds=runs,
)
def test_any_sequence_of_worlds_over_shards(counts, seed, window, batch, worlds):
    """So it does where records lie in shards that are mixed window by window."""
    places = parts(spec_of(order=Order(shuffle=False), batch_size=batch), sum(counts), worlds)
    order = Windows(Order(seed=seed, window_bytes=window), np.array(counts, np.int64), 1)
    found = [order.records(3, np.array([place])).item() for place in places]
    assert sorted(found) == list(range(sum(counts)))


@several
@given(
    seed=st.integers(),
    left=st.integers(320, 600),  # so that each worker has some
    workers=st.integers(1, 5),
    batch=st.integers(1, 64),
    data=st.data(),
)
def test_ten_million_records_are_entered_anywhere(seed, left, workers, batch, data):
    """A worker's rest of an epoch is every so many-th batch of it, as arithmetic says."""
    index, first = data.draw(st.integers(0, workers - 1)), MANY - left
    shard, start = Shard(num_shards=workers, index=index), Position(epoch=1, record=first)
    order = Order(seed=seed)
    spec = spec_of(order=order, batch_size=batch, shard=shard, start=start)
    ends = [*range(first, MANY, batch), MANY]
    mine = [place for run in list(pairwise(ends))[index::workers] for place in range(*run)]
    expected = records_of(order, MANY, tf.constant(1, tf.int64), tf.constant(mine, tf.int64))
    assert expected.numpy().tolist() == order_of(spec, MANY)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures, those in BAD being bad."""
    return folder_of(tmp_path_factory.mktemp("entered") / "numbers", bad=BAD)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 99), batch=st.one_of(st.none(), st.integers(5, 9)), data=st.data())
def test_the_rest_without_bad_records(folder, seed, batch, data):
    """With `skip`, `at` gives what the uninterrupted run gives after so many steps."""
    way = {"shuffle": True, "seed": seed, "batch_size": batch, "on_error": "skip"}
    whole = streamed(folder, **way)
    epochs = batches_of(whole, epochs=2)
    steps = [each for epoch in epochs for each in epoch]
    assume(batch is None or not any(set(each) <= BAD for each in steps))  # that is an error
    epoch = data.draw(st.integers(0, 1))
    step = data.draw(st.integers(0, len(epochs[0]) - 1))
    before = steps[: epoch * len(epochs[0]) + step]
    gone = sum(not set(each) <= BAD for each in before)
    expected = numbers(whole.epochs(2))
    assert skipped(whole, BAD, epochs=2) == expected
    assert expected[gone:] == numbers(whole.at(epoch=epoch, step=step).epochs(2 - epoch))
