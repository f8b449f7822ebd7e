"""The order of records: laws that hold for every seed, size, position and number of workers."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from small_specs import order_of, spec_of

from tfstream.graph.order import records_of
from tfstream.spec import Order, Position, Shard, subset_of

few = settings(max_examples=10, deadline=None)
seeds = st.one_of(st.integers(), st.sampled_from([-1, 2**31, 2**64, -(2**200)]))
sizes = st.integers(min_value=1, max_value=60)
batches = st.one_of(st.none(), st.integers(min_value=1, max_value=7))
splits = st.floats(min_value=0.01, max_value=0.99)


def records_at(order: Order, records: int, epoch: int = 0) -> list[int]:
    """All records of an epoch at once."""
    count = subset_of(order, records).size
    if not count:
        return []
    places = tf.range(count, dtype=tf.int64)
    return records_of(order, records, tf.constant(epoch, tf.int64), places).numpy().tolist()


@settings(max_examples=100, deadline=None)
@given(seed=seeds, records=sizes, epoch=st.integers(min_value=0, max_value=2**31 - 1))
def test_every_record_comes_once_an_epoch(seed, records, epoch):
    """For any integer as seed and any epoch, the order is a permutation of the records."""
    assert sorted(records_at(Order(seed=seed), records, epoch)) == list(range(records))


def test_a_million_records_come_once_an_epoch():
    """The permutation is one for large datasets too."""
    found = records_at(Order(seed=3), 1_000_000)
    assert len(set(found)) == 1_000_000
    assert (min(found), max(found)) == (0, 999_999)


def test_each_epoch_has_an_order_of_its_own():
    """2,000 epochs of 100 records have 2,000 orders: more than the 256 that plain seeds give."""
    order, places = Order(seed=1), tf.range(100, dtype=tf.int64)
    epochs = tf.data.Dataset.range(2000).map(lambda n: records_of(order, 100, n, places))
    assert len({each.tobytes() for each in epochs.as_numpy_iterator()}) == 2000


def test_records_are_as_likely_anywhere():
    """Over 2,000 epochs each of 20 records has the first place between 50 and 150 times."""
    order, first = Order(seed=1), tf.constant([0], tf.int64)
    epochs = tf.data.Dataset.range(2000).map(lambda n: records_of(order, 20, n, first)[0])
    counts = Counter(epochs.as_numpy_iterator())
    assert min(counts.values()) > 50
    assert max(counts.values()) < 150
    assert len(counts) == 20


@few
@given(seed=seeds, records=sizes)
def test_the_same_seed_gives_the_same_order(seed, records):
    """Equal orders give equal records."""
    assert records_at(Order(seed=seed), records, 5) == records_at(Order(seed=seed), records, 5)


def test_another_seed_gives_another_order():
    """Seeds that differ in sign or only in high bits differ in order."""
    given_seeds = [0, 1, -1, 2**32, 2**32 + 1, 2**64, -(2**64), 2**200]
    assert len({tuple(records_at(Order(seed=seed), 50)) for seed in given_seeds}) == 8


def test_the_order_of_version_1_stays():
    """What a spec means never changes: these orders stand in experiments that people repeat."""
    assert records_at(Order(seed=0), 10) == GOLDEN[0]
    assert records_at(Order(seed=-7), 10, epoch=3) == GOLDEN[1]
    split = Order(seed=5, validation_split=0.3, subset="validation")
    assert records_at(split, 10, epoch=1) == GOLDEN[2]


@few
@given(records=sizes, epoch=st.integers(min_value=0, max_value=100))
def test_without_shuffle_the_order_is_the_manifests(records, epoch):
    """Unshuffled epochs are all alike."""
    assert records_at(Order(shuffle=False), records, epoch) == list(range(records))


@few
@given(seed=seeds, records=sizes, batch=batches, data=st.data())
def test_any_start_gives_the_rest_of_the_uninterrupted_order(seed, records, batch, data):
    """Entering at (epoch, record) skips exactly what came before, and the next epoch is whole."""
    epoch = data.draw(st.integers(min_value=0, max_value=2))
    record = data.draw(st.integers(min_value=0, max_value=records - 1))
    spec = spec_of(order=Order(seed=seed), batch_size=batch)
    whole = order_of(spec, records, epochs=epoch + 2)
    start = spec.replace(start=Position(epoch=epoch, record=record))
    assert order_of(start, records, epochs=2) == [whole[epoch][record:], whole[epoch + 1]]


@few
@given(seed=seeds, records=sizes, batch=batches, workers=st.integers(min_value=1, max_value=4))
def test_workers_have_disjoint_parts_that_are_complete(seed, records, batch, workers):
    """`uneven`: together the workers have each record once, in runs of a batch by turns."""
    spec = spec_of(order=Order(seed=seed), batch_size=batch)
    (alone,), size = order_of(spec, records), batch or 1
    runs = [alone[at : at + size] for at in range(0, records, size)]
    for index in range(workers):
        mine = spec.replace(shard=Shard(num_shards=workers, index=index))
        assert order_of(mine, records) == [list(chain.from_iterable(runs[index::workers]))]


@few
@given(records=sizes, batch=batches, workers=st.integers(min_value=1, max_value=5))
def test_drop_gives_all_workers_as_many_and_none_twice(records, batch, workers):
    """`drop`: the last run is left out where not all of it is there."""
    spec, size = spec_of(batch_size=batch), batch or 1
    parts = [
        order_of(spec.replace(shard=Shard(num_shards=workers, index=k, remainder="drop")), records)
        for k in range(workers)
    ]
    seen = [row for part in parts for row in part[0]]
    whole = records // (size * workers) * size
    assert [len(part[0]) for part in parts] == [whole] * workers
    assert len(set(seen)) == len(seen)


@few
@given(records=sizes, batch=batches, workers=st.integers(min_value=1, max_value=5))
def test_pad_gives_all_workers_as_many_and_misses_none(records, batch, workers):
    """`pad`: the last run is filled up from the epoch's beginning."""
    spec, size = spec_of(batch_size=batch), batch or 1
    parts = [
        order_of(spec.replace(shard=Shard(num_shards=workers, index=k, remainder="pad")), records)
        for k in range(workers)
    ]
    whole = -(-records // (size * workers)) * size
    assert [len(part[0]) for part in parts] == [whole] * workers
    assert {row for part in parts for row in part[0]} == set(range(records))


@few
@given(
    records=sizes,
    batch=batches,
    runs=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=4),
    last=st.integers(1, 4),
)
def test_any_sequence_of_worlds_reads_each_record_once(records, batch, runs, last):
    """Stopping after any step and going on with any other number of workers loses nothing."""
    spec, size = spec_of(batch_size=batch), batch or 1
    seen, record = [], 0
    for workers, steps in [*runs, (last, records)]:
        if record >= records:
            break
        for index in range(workers):
            shard = Shard(num_shards=workers, index=index)
            part = spec.replace(shard=shard, start=Position(record=record))
            seen += order_of(part, records)[0][: steps * size]
        record += steps * size * workers
    assert sorted(seen) == list(range(records))


@settings(max_examples=100, deadline=None)
@given(seed=seeds, records=sizes, split=splits, shuffle_split=st.booleans())
def test_training_and_validation_are_disjoint_and_complete(seed, records, split, shuffle_split):
    """The two subsets share no record, miss none, and have Keras' sizes, in every epoch."""
    parts = {}
    for subset in ("training", "validation"):
        order = Order(seed=seed, validation_split=split, subset=subset, shuffle_split=shuffle_split)
        parts[subset] = records_at(order, records, epoch=2)
        assert sorted(parts[subset]) == sorted(records_at(order, records, epoch=9))
    assert sorted(parts["training"] + parts["validation"]) == list(range(records))
    assert len(parts["validation"]) == int(split * records)


def test_an_unshuffled_split_takes_the_end():
    """Without `shuffle_split` the validation part is the end of the manifest, as in Keras."""
    order = Order(shuffle=False, validation_split=0.3, subset="validation", shuffle_split=False)
    assert records_at(order, 10) == [7, 8, 9]


GOLDEN = (
    [5, 9, 6, 3, 1, 4, 8, 2, 7, 0],
    [5, 2, 4, 6, 8, 1, 9, 7, 3, 0],
    [3, 4, 6],
)
