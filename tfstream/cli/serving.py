"""What `tfstream dispatcher` and `tfstream worker` share: TensorFlow as a server, ports, words."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from tfstream.errors import MissingDependencyError


def tensorflow() -> Any:
    """
    TensorFlow, without a GPU: examples are made on the CPU, and its memory is the trainer's.

    Errors:
        MissingDependencyError: there is none.
    """
    if find_spec("tensorflow") is None:
        raise MissingDependencyError('pip install "tfstream[tf]"')
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # warnings and errors
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # else it tells about itself
    import tensorflow as tf

    with suppress(RuntimeError):  # in a program that uses TensorFlow already
        tf.config.set_visible_devices([], "GPU")
    return tf


def say(text: str) -> None:
    """One line on stdout, at once."""
    sys.stdout.write(f"tfstream: {text}\n")
    sys.stdout.flush()


def port(text: str) -> int:
    """A port; 0 for any that is free."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a port from 0 to 65535, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return value
