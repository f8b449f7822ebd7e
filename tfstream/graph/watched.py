"""
What a service's workers make, or an error where it stops because the dispatcher is gone.

```
the dispatcher answers -> what the workers make -> the end  |
                                                            | interleave -> look, at each tick
ticks, one a second                                         |
```

TensorFlow's client waits for a dispatcher for ever, in C++, where neither Python nor a signal
reaches it: for an element, for the end of an epoch, for the next epoch. So here an interleave
takes a tick where no element is there, and each tick looks for the dispatcher.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow as tf

from tfstream.errors import TfstreamError
from tfstream.graph import op
from tfstream.graph.service import reach, unsharded

_LOOK = "tfstream.look"
_ELEMENT, _TICK, _END = range(3)
_THERE = 0.0
"""Instead of the time since when the dispatcher has not been there."""
_TICK_SECONDS = 1.0
_REACH_SECONDS = 1.0
"""For a connection to it: so long the next element may have to wait, too, if its host is silent."""


@tf.autograph.experimental.do_not_convert
def watched(service: tf.data.Dataset, address: str, seconds: float) -> tf.data.Dataset:
    """
    The same elements in the same order.

    `TfstreamError` where, for so many seconds, neither an element came nor a dispatcher was at
    `address`. Under `tf.config.experimental.enable_op_determinism` only before the first
    element: TensorFlow then takes nothing by what is there.
    """
    spec = service.element_spec

    def element(*parts: Any) -> Any:
        value = tf.nest.pack_sequence_as(spec, tf.nest.flatten(parts))
        return tf.constant(_ELEMENT), tf.experimental.Optional.from_value(value)

    def empty(kind: int) -> Any:
        return lambda _: (tf.constant(kind), tf.experimental.Optional.empty(spec))

    def step(since: tf.Tensor, each: Any) -> tuple[tf.Tensor, Any]:
        waits = each[0] == _TICK
        return tf.cond(waits, lambda: _look(address, seconds, since), _there), each

    made = _answering(address, seconds).flat_map(lambda _: service).map(element)
    elements = made.concatenate(_one().map(empty(_END)))
    either = _either(elements, _ticks().map(empty(_TICK)))
    found = either.scan(_there(), step).take_while(lambda kind, _: kind != _END)
    found = found.filter(lambda kind, _: kind == _ELEMENT).map(lambda _, each: each.get_value())
    if service.cardinality() == tf.data.INFINITE_CARDINALITY:
        found = found.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    return found.with_options(unsharded())


def _either(first: tf.data.Dataset, second: tf.data.Dataset) -> tf.data.Dataset:
    """
    Elements of the first as long as some are ready, else of the second.

    As an op, because `interleave` takes its buffer's size from the block's length. That is so
    long because, where TensorFlow insists on an order, only the first is to come.
    """
    both = tf.data.Dataset.from_tensors(first).concatenate(tf.data.Dataset.from_tensors(second))
    same = tf.function(lambda each: each)
    spec = first.element_spec
    either = tf.raw_ops.ParallelInterleaveDatasetV4(
        input_dataset=tf.data.experimental.to_variant(both),
        other_arguments=[],
        cycle_length=2,
        block_length=2**62,
        buffer_output_elements=1,
        prefetch_input_elements=0,
        num_parallel_calls=2,
        f=same.get_concrete_function(tf.TensorSpec([], tf.variant)),
        output_types=[tf.int32, tf.variant],
        output_shapes=[[], []],
        deterministic="false",
    )
    return tf.data.experimental.from_variant(either, spec)


def _answering(address: str, seconds: float) -> tf.data.Dataset:
    """One element, when the dispatcher answers: TensorFlow cannot be stopped looking for it."""

    def step(since: tf.Tensor, _: Any) -> tuple[tf.Tensor, tf.Tensor]:
        now = _look(address, seconds, since)
        return now, now

    looks = _one().concatenate(_ticks()).scan(_there(), step)
    return looks.filter(lambda since: since == _THERE).take(1)


def _one() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(tf.constant(0, tf.int64))


def _ticks() -> tf.data.Dataset:
    """One a second, without a thread or a call that the end of an iterator would wait for."""
    slow = tf.raw_ops.SleepDataset(
        input_dataset=tf.data.experimental.to_variant(tf.data.Dataset.counter()),
        sleep_microseconds=round(1e6 * _TICK_SECONDS),
        output_types=[tf.int64],
        output_shapes=[tf.TensorShape([])],
    )
    return tf.data.experimental.from_variant(slow, tf.TensorSpec([], tf.int64))


def _there() -> tf.Tensor:
    return tf.constant(_THERE, tf.float64)


def _look(address: str, seconds: float, since: tf.Tensor) -> tf.Tensor:
    """Since when the dispatcher has not been there, if it is not there."""
    limit = tf.constant(seconds, tf.float64)
    (found,) = op.call(_LOOK, [tf.constant(address), limit, since], [tf.float64])
    return tf.ensure_shape(found, [])


def _looked(address: bytes, seconds: Any, since: Any) -> Any:
    now = time.monotonic()
    try:
        reach(address.decode(), seconds=_REACH_SECONDS)
    except TfstreamError as error:
        if since != _THERE and now - since >= seconds:
            raise TfstreamError(
                f"no dispatcher at grpc://{address.decode()} for {seconds:g} seconds, and nothing "
                f"came from workers meanwhile: {error.__cause__}. `dispatcher_timeout` is how "
                "long to wait. With `tfstream dispatcher --work-dir DIR --fault-tolerant`, one "
                "that is started again in time goes on with the epoch"
            ) from error
        return np.float64(now if since == _THERE else since)
    return np.float64(_THERE)


op.register(_LOOK, _looked)
