"""
A tf.data service: what is asked of it, and whether it is there.

```
Service(address="dispatcher:5050", mode="dynamic", …).run(dataset) -> what its workers make of it
```
"""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import tensorflow as tf

from tfstream.errors import TfstreamError

Mode = Literal["off", "fixed", "dynamic"]
_POLICY = tf.data.experimental.service.ShardingPolicy
POLICIES = {"off": _POLICY.OFF, "fixed": _POLICY.HINT, "dynamic": _POLICY.DYNAMIC}
_REACH_SECONDS = 5.0
"""For a connection to the dispatcher: TensorFlow would try for an hour."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A tf.data service and what is asked of it: the arguments of `tfstream.distribute`."""

    address: str
    mode: Mode
    job_name: str | None
    max_outstanding_requests: int | None
    compress: bool
    num_consumers: int | None
    consumer_index: int | None
    cross_trainer_cache: str | None
    dispatcher_timeout: float

    @property
    def each_once(self) -> bool:
        """Whether this trainer gets each element once, if no worker is lost."""
        return self.mode != "off" and self.job_name is None

    def run(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """What its workers make of the dataset's graph."""
        service = tf.data.experimental.service
        trainer = self.cross_trainer_cache
        made = service.distribute(
            POLICIES[self.mode],
            f"grpc://{self.address}",
            job_name=self.job_name,
            max_outstanding_requests=self.max_outstanding_requests,
            compression="AUTO" if self.compress else None,
            num_consumers=self.num_consumers,
            consumer_index=self.consumer_index,
            cross_trainer_cache=service.CrossTrainerCache(trainer) if trainer else None,
        )
        with _quiet():
            return dataset.apply(made).with_options(unsharded())


def address_of(service: str) -> str:
    """
    `host:port` of a URL such as `grpc://host:port`.

    Errors:
        ValueError: it is none.
    """
    scheme, _, address = service.rpartition("://")
    host, _, port = address.rpartition(":")
    if scheme not in ("", "grpc") or not host or not port.isdecimal():
        raise ValueError(f"a service is `grpc://host:port`, received: {service!r}")
    return address


def reach(address: str, *, seconds: float = _REACH_SECONDS) -> str:
    """
    Connect to `host:port`, once; gives this machine's own address on the way there.

    Errors:
        TfstreamError: nobody listens there.
    """
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as made:
            return str(made.getsockname()[0])
    except OSError as error:
        raise TfstreamError(
            f"no dispatcher at grpc://{address}: {error}. Is `tfstream dispatcher` running?"
        ) from error


def unsharded() -> tf.data.Options:
    """Which trainer gets what is the service's affair, not tf.distribute's."""
    options = tf.data.Options()
    off = tf.data.experimental.AutoShardPolicy.OFF
    options.experimental_distribute.auto_shard_policy = off
    return options


@contextmanager
def _quiet() -> Iterator[None]:
    """Without a warning about options in a graph: `pipeline` sets them where it needs them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "To make it possible to preserve tf.data options")
        yield
