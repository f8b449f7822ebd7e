"""
The only Python in a graph: stateless ops under fixed tokens, with all state in their inputs.

This file alone touches a private name of TensorFlow, the table that maps a `PyFuncStateless`
op's token to a function. Because the tokens are fixed, a graph that holds them runs in any
process that imported this file.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from traceback import clear_frames
from typing import Any

import tensorflow as tf

from tfstream import errors
from tfstream.errors import TfstreamError
from tfstream.fetch.lifetime import Inside
from tfstream.forks import Lock

_functions: dict[str, Callable[..., Any]] = {}
"""TensorFlow's table holds its functions weakly; this one keeps them alive."""

_raised: OrderedDict[str, TfstreamError] = OrderedDict()
_raised_lock = Lock()
_RAISED_KEPT = 64
"""Errors whose objects wait for their text to come out of the graph: many ops may fail at once."""


def register(token: str, function: Callable[..., Any]) -> None:
    """
    Let graphs call `function` by `token`.

    Errors:
        TfstreamError: this TensorFlow has no such table.
    """

    def call(*inputs: Any) -> Any:
        with Inside():
            try:
                return function(*inputs)
            except TfstreamError as error:
                _keep(error)
                raise _plain(type(error).__name__, str(error)) from None

    try:
        from tensorflow.python.ops import script_ops

        script_ops._py_funcs._funcs[token] = call
    except (ImportError, AttributeError) as error:
        raise TfstreamError(
            f"TensorFlow {tf.__version__} is not supported: it has no table of Python functions "
            "where tfstream looks for it; versions 2.16 to 2.21 do"
        ) from error
    _functions[token] = call


def call(token: str, inputs: Sequence[Any], dtypes: Sequence[tf.DType]) -> list[tf.Tensor]:
    """The op, in a graph or at once. Shapes are unknown; set them after."""
    outputs = tf.raw_ops.PyFuncStateless(input=list(inputs), token=token, Tout=list(dtypes))
    return list(outputs)


def translated(error: tf.errors.OpError) -> Exception:
    """
    The error of ours that `error` carries as text, or `error` itself.

    Ours begins with its class, and TensorFlow's own words before it have none: the first
    name is it, whatever names the key and the cause may hold.
    """
    found = _NAMED.search(str(error.message))
    if found is None:
        plain: Exception = error
        return plain
    return _found(found["name"], found["text"])


def _keep(error: TfstreamError) -> None:
    """Remember it without the frames that it came through: they hold the data of whole batches."""
    error.__traceback__ = None
    cause = error.__cause__
    while cause is not None:
        clear_frames(cause.__traceback__)
        cause = cause.__cause__
    with _raised_lock:
        _raised[_key(type(error).__name__, str(error))] = error
        while len(_raised) > _RAISED_KEPT:
            _raised.popitem(last=False)


def _found(name: str, text: str) -> TfstreamError:
    with _raised_lock:
        kept = _raised.get(_key(name, text))
    if kept is None:
        return _plain(name, text)
    again = copy(kept)  # for each raise its own: a traceback holds the frames of its user
    again.__cause__ = kept.__cause__
    return again


def _plain(name: str, text: str) -> TfstreamError:
    """An error that is all text: no cause, no attributes."""
    error: TfstreamError = getattr(errors, name, TfstreamError)(text)
    return error


def _key(name: str, text: str) -> str:
    first, _, _ = text.partition("\n")
    return f"{name}: {first}"


_NAMED = re.compile(
    r"(?<![^\W_])(?P<name>"
    + "|".join(
        name
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, TfstreamError)
    )
    + r"): (?P<text>.*)"
)
