"""
The order of records in shards that cannot be entered at random.

Shards are permuted, and the permuted list is cut into windows of as many shards as unpack
into `order.window_bytes`. A window's records are permuted among themselves. So every record
comes once, each shard is needed once an epoch, at most two windows are in use at a time, and
any position is found by prefix sums over the shards.

A split takes from each shard its share: the records are permuted by the seed, and the
validation part is the end, as for files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfstream.graph.order import epoch_key, permuted
from tfstream.spec import Order

Array = np.ndarray[Any, np.dtype[np.int64]]


class _Plan(NamedTuple):
    """
    One epoch.

    Fields:
        shards: Shard rows in this epoch's order.
        ends: How many positions there are up to and with each of them.
        windows: Index into `shards` where each window ends.
    """

    shards: Array
    ends: Array
    windows: Array


class Windows:
    """The order over shards with so many records of so many bytes each."""

    def __init__(self, order: Order, records: Array, record_bytes: int) -> None:
        self._order = order
        self._records = records
        self._bytes = records * record_bytes
        self._before = np.concatenate([[0], np.cumsum(records)])
        self._first, self._counts = _shares(order, self._before)
        self._plans: dict[int, _Plan] = {}

    def records(self, epoch: int, positions: Array) -> Array:
        """The records at these positions of an epoch, counted over all shards."""
        plan = self._plan(epoch)
        positions = self._mixed(plan, epoch, positions)
        place = np.searchsorted(plan.ends, positions, side="right")
        rows = plan.shards[place]
        within = positions - (plan.ends[place] - self._counts[rows]) + self._first[rows]
        return self._before[rows] + self._split(rows, within)

    def _plan(self, epoch: int) -> _Plan:
        plan = self._plans.get(epoch)
        if plan is None:
            shards = np.arange(len(self._records))
            if self._order.shuffle:
                shards = _permuted(shards, len(shards), self._order.seed, epoch)
            ends = np.cumsum(self._counts[shards])
            plan = _Plan(shards, ends, _cut(self._bytes[shards], self._order.window_bytes))
            self._plans = dict([*self._plans.items(), (epoch, plan)][-4:])
        return plan

    def _mixed(self, plan: _Plan, epoch: int, positions: Array) -> Array:
        if not self._order.shuffle:
            return positions
        ends = plan.ends[plan.windows - 1]
        mixed = np.empty_like(positions)
        windows = np.searchsorted(ends, positions, side="right")
        for window in np.unique(windows):
            here = windows == window
            start = int(ends[window - 1]) if window else 0
            count = int(ends[window]) - start
            seed = f"{self._order.seed}/window/{window}"
            mixed[here] = start + _permuted(positions[here] - start, count, seed, epoch)
        return mixed

    def _split(self, rows: Array, within: Array) -> Array:
        if self._order.subset is None or not self._order.shuffle_split:
            return within
        places = np.empty_like(within)
        for row in np.unique(rows):
            here = rows == row
            seed = f"{self._order.seed}/shard/{row}"
            places[here] = _permuted(within[here], int(self._records[row]), seed, -1)
        return places


def _shares(order: Order, before: Array) -> tuple[Array, Array]:
    """Of each shard: where the subset begins, and how many records it has."""
    records = np.diff(before)
    if order.validation_split is None:
        return np.zeros_like(records), records
    total = int(before[-1])
    validation = int(order.validation_split * total)
    if order.shuffle_split:  # each shard's share, rounded so that they add up
        shares = np.diff(before * validation // max(total, 1))
    else:  # the end of the manifest
        shares = np.diff(np.maximum(before - (total - validation), 0))
    training = records - shares
    if order.subset == "validation":
        return training, shares
    return np.zeros_like(records), training


def _cut(sizes: Array, most: int) -> Array:
    ends, used = [], 0
    for index, size in enumerate(sizes.tolist()):
        if used and used + size > most:
            ends.append(index)
            used = 0
        used += size
    return np.array([*ends, len(sizes)], np.int64)


def _permuted(index: Array, count: int, seed: int | str, epoch: int) -> Array:
    with tf.device("/CPU:0"):
        key = epoch_key(seed, epoch)
        result: Array = permuted(tf.constant(index, tf.int64), count, key).numpy()
    return result
