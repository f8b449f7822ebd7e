"""Errors on their way out of the graph: the class and the whole text are the raised one's."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfstream.errors import DecodeError, RetriesExhaustedError, TfstreamError
from tfstream.graph.op import translated


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("DecodeError: a/x.jpg: truncated JPEG", DecodeError("a/x.jpg: truncated JPEG")),
        (
            "{{function_node __wrapped}} UNKNOWN: DecodeError: a.jpg: empty\nTraceback …",
            DecodeError("a.jpg: empty"),
        ),
        (
            "DecodeError: b/RetriesExhaustedError: x.png: not an image",
            DecodeError("b/RetriesExhaustedError: x.png: not an image"),
        ),
        (
            "RetriesExhaustedError: DecodeError: y: gave up",
            RetriesExhaustedError("DecodeError: y: gave up"),
        ),
        ("TfstreamError: anything", TfstreamError("anything")),
    ],
)
def test_the_first_name_is_the_class(message, expected):
    """A key or a cause that looks like an error of ours changes neither class nor text."""
    found = translated(tf.errors.UnknownError(None, None, message))
    assert (type(expected), str(expected)) == (type(found), str(found))


@pytest.mark.parametrize("message", ["Input is empty.", "MyDecodeError: x", "DecodeError"])
def test_what_is_not_ours(message):
    """Any other error of TensorFlow's is left as it is."""
    error = tf.errors.InvalidArgumentError(None, None, message)
    assert translated(error) is error
