"""The order over shards that cannot be entered at random: the same laws as for files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tfstream.graph.windows import Windows
from tfstream.spec import Order, subset_of

several = settings(max_examples=40, deadline=None)
shards = st.lists(st.integers(min_value=0, max_value=12), min_size=1, max_size=8).filter(any)
windows = st.integers(min_value=1, max_value=40)
seeds = st.integers()


def order_of(order: Order, counts: list[int], epoch: int = 0) -> list[int]:
    """All records of an epoch; a record is one byte, so `window_bytes` are records."""
    total = subset_of(order, sum(counts)).size
    place = Windows(order, np.array(counts, np.int64), 1)
    return place.records(epoch, np.arange(total)).tolist()


def shard_rows(counts: list[int], records: list[int]) -> list[int]:
    """The shard that each record lies in."""
    return np.repeat(np.arange(len(counts)), counts)[records].tolist()


@several
@given(counts=shards, seed=seeds, window=windows, epoch=st.integers(0, 2**31 - 1))
def test_every_record_comes_once_an_epoch(counts, seed, window, epoch):
    """For any sizes of shards, empty ones too, and any window."""
    found = order_of(Order(seed=seed, window_bytes=window), counts, epoch)
    assert sorted(found) == list(range(sum(counts)))


@several
@given(counts=shards, seed=seeds, window=windows, data=st.data())
def test_any_positions_give_the_same_records(counts, seed, window, data):
    """Asking for some positions, in another process or epoch by epoch, gives what all give."""
    order, total = Order(seed=seed, window_bytes=window), sum(counts)
    wanted = data.draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=10))
    place = Windows(order, np.array(counts, np.int64), 1)
    for epoch in (4, 0, 4):
        whole = order_of(order, counts, epoch)
        found = place.records(epoch, np.array(wanted, np.int64)).tolist()
        assert found == [whole[at] for at in wanted]


@several
@given(counts=shards, seed=seeds, window=windows)
def test_a_shard_is_needed_in_one_stretch(counts, seed, window):
    """A shard is in one window only, so between its first and last record come few bytes."""
    rows = shard_rows(counts, order_of(Order(seed=seed, window_bytes=window), counts))
    for row in set(rows):
        stretch = rows[rows.index(row) : len(rows) - rows[::-1].index(row)]
        assert len(stretch) <= max(window, counts[row])


@several
@given(counts=shards, window=windows)
def test_without_shuffle_the_order_is_the_shards(counts, window):
    """Shard by shard, each from its beginning."""
    assert order_of(Order(shuffle=False, window_bytes=window), counts, 3) == list(
        range(sum(counts))
    )


@several
@given(
    counts=shards,
    seed=seeds,
    window=windows,
    split=st.floats(min_value=0.01, max_value=0.99),
    shuffle_split=st.booleans(),
)
def test_training_and_validation_are_disjoint_and_complete(
    counts, seed, window, split, shuffle_split
):
    """The subsets share no record, miss none, stay the same, and have Keras' sizes."""
    parts = {}
    for subset in ("training", "validation"):
        order = Order(
            seed=seed,
            window_bytes=window,
            validation_split=split,
            subset=subset,
            shuffle_split=shuffle_split,
        )
        parts[subset] = order_of(order, counts, 0)
        assert sorted(order_of(order, counts, 1)) == sorted(parts[subset])
    assert sorted(parts["training"] + parts["validation"]) == list(range(sum(counts)))
    assert len(parts["validation"]) == int(split * sum(counts))


def test_an_unshuffled_split_takes_the_end():
    """The validation part is the last records of the last shards."""
    order = Order(shuffle=False, validation_split=0.5, subset="validation", shuffle_split=False)
    assert order_of(order, [3, 0, 4, 1]) == [4, 5, 6, 7]


def test_a_shuffled_split_takes_from_every_shard():
    """Each shard gives its share, so that one of ten classes in ten shards is in both parts."""
    order = Order(seed=2, validation_split=0.2, subset="validation")
    rows = shard_rows([10, 10, 10], order_of(order, [10, 10, 10]))
    assert sorted(rows) == [0, 0, 1, 1, 2, 2]


def test_each_epoch_has_an_order_of_its_own():
    """Shards and the records in a window come in another order each time."""
    order = Order(seed=0, window_bytes=6)
    orders = {tuple(order_of(order, [3, 3, 3, 3], epoch)) for epoch in range(100)}
    assert len(orders) == 100


def test_records_of_a_window_are_mixed():
    """Neighbours come from different shards of the window."""
    rows = shard_rows([50, 50], order_of(Order(seed=1), [50, 50]))
    assert sum(a != b for a, b in pairwise(rows)) > 25


def test_the_order_of_version_1_stays():
    """What a spec means never changes."""
    assert order_of(Order(seed=9, window_bytes=7), [4, 0, 3, 5], epoch=2) == GOLDEN


GOLDEN = [9, 7, 11, 8, 10, 6, 4, 1, 0, 2, 5, 3]
