"""Errors on their way out of the graph: iterating in Python raises tfstream's own classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import tensorflow as tf

from tfstream.errors import SpecError
from tfstream.fetch.stream import SAME_SIZE, UNEQUAL
from tfstream.graph import forked
from tfstream.graph.op import translated


def raising(iterator: Iterator[Any]) -> Iterator[Any]:
    """The same iterator, which TensorFlow can save and trace, raising tfstream's errors."""
    iterator.__class__ = _raising_class(type(iterator))
    forked.begun(iterator)
    return iterator


@lru_cache(maxsize=8)
def _raising_class(base: type) -> type:
    class StreamIterator(base):  # type: ignore[misc]
        """An iterator of tf.data whose errors are tfstream's."""

        def _next_internal(self) -> Any:
            forked.at_work()
            try:
                return super()._next_internal()
            except tf.errors.OutOfRangeError:
                raise
            except tf.errors.OpError as error:
                ours = _clear(error)
                raise ours from ours.__cause__  # such as what the last attempt failed by

        def _restore_from_tensors(self, restored_tensors: Any) -> Any:
            try:
                return super()._restore_from_tensors(restored_tensors)
            except tf.errors.OpError as error:
                ours = translated(error)
                raise (_other_form(error) if ours is error else ours) from error

    return StreamIterator


def _clear(error: tf.errors.OpError) -> Exception:
    if _TENSORFLOWS not in str(error.message):
        return translated(error)
    return SpecError(
        f"{UNEQUAL}. {SAME_SIZE}. TensorFlow says: "
        + str(error.message)[str(error.message).index(_TENSORFLOWS) :].partition("\n")[0],
        where="$.resize",
    )


def _other_form(error: tf.errors.OpError) -> SpecError:
    return SpecError(
        "the checkpoint is of an iterator of another form: of a dataset with another batch_size, "
        "on_error, image_size or labels, of epochs() or not, or by another version of tfstream. "
        "Make the dataset as it was when it was saved. TensorFlow says: "
        + str(error.message).partition("\n")[0]
    )


_TENSORFLOWS = "Cannot batch tensors with different shapes"
