"""`distribute`: a dataset whose examples are made by other processes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tfstream.dataset import StreamDataset
from tfstream.graph.pipeline import build
from tfstream.graph.served import served
from tfstream.graph.service import POLICIES, Mode, Service, address_of, reach
from tfstream.graph.watched import watched

if TYPE_CHECKING:
    import tensorflow as tf


def distribute(
    dataset: tf.data.Dataset,
    service: str,
    *,
    mode: Mode = "dynamic",
    job_name: str | None = None,
    max_outstanding_requests: int | None = None,
    compress: bool = False,
    num_consumers: int | None = None,
    consumer_index: int | None = None,
    cross_trainer_cache: str | None = None,
    dispatcher_timeout: float = 300.0,
) -> tf.data.Dataset:
    """
    Let the workers of a tf.data service make a dataset's examples; this process reads nothing.

    ```python
    train = tfstream.distribute(train, service="grpc://dispatcher:5050")
    model.fit(train, epochs=10)
    ```

    A `StreamDataset` is shared out chunk by chunk before anything is fetched, and each
    iteration is another epoch, as without the service. Of a dataset that is derived from one,
    such as `data.epochs().map(augment)`, the workers run the whole chain.

    Args:
        service: The dispatcher: `grpc://host:port`.
        mode: `dynamic`: each record once, by whichever worker is free; a worker that dies
            takes those with it that it had in hand. `fixed`: each worker always has the same
            share, and starts it again if it is restarted; the dispatcher has to know all
            workers (`--workers`). `off`: each worker makes all records.
        job_name: Trainers that give the same name share one iteration: each element goes to
            one of them.
        max_outstanding_requests: Elements that may be asked for at the same time; bounds
            memory.
        compress: Whether workers compress what they send. It costs them and this process a fifth
            of the rate where the network is not the limit (measured on one machine, batches of
            224 x 224), so it is off, unlike TensorFlow's own default.
        num_consumers, consumer_index: Coordinated reads: so many trainers get an element each
            in turn, this one as number `consumer_index`. Needs `job_name`.
        cross_trainer_cache: This trainer's own name: trainers with one `job_name` and names of
            their own all get the elements that the workers make once.
        dispatcher_timeout: Seconds to wait for the next element while no dispatcher is there.
            What workers deliver without it is taken.

    Errors:
        TfstreamError: no dispatcher answers, now or, where the dataset is iterated, for
            `dispatcher_timeout`.
        ValueError: what is shared by trainers, or derived, has no numbered epochs. The
            message says which call to add.
    """
    if mode not in POLICIES:
        raise ValueError(f"mode is one of {', '.join(POLICIES)}, received: {mode!r}")
    if not isinstance(dispatcher_timeout, (int, float)) or not dispatcher_timeout > 0:
        raise ValueError(
            f"`dispatcher_timeout` is a number of seconds. Received: {dispatcher_timeout!r}"
        )
    asked = Service(
        address=address_of(service),
        mode=mode,
        job_name=job_name,
        max_outstanding_requests=max_outstanding_requests,
        compress=compress,
        num_consumers=num_consumers,
        consumer_index=consumer_index,
        cross_trainer_cache=cross_trainer_cache,
        dispatcher_timeout=dispatcher_timeout,
    )
    if not isinstance(dataset, StreamDataset):
        _check_derived(asked, list(_streams(dataset)))
        reach(asked.address)
        return watched(asked.run(dataset), asked.address, dispatcher_timeout)
    _check_epochs(asked, dataset._epochs)
    reach(asked.address)
    return _served(asked, dataset)


def _served(asked: Service, dataset: StreamDataset) -> tf.data.Dataset:
    stream = dataset._handle.stream
    spec, records = stream.spec, stream.manifest.count
    parts = partial(
        build,
        spec,
        records,
        handle=dataset._handle.name,
        options=stream.reading.options,
        functions=dataset._functions,
    )
    made = served(asked, spec, records, parts, dataset._epochs)
    made._handle = dataset._handle  # for workers in this process
    return made


def _check_epochs(asked: Service, epochs: int | None) -> None:
    if epochs is not None and (asked.num_consumers or asked.cross_trainer_cache):
        raise ValueError(
            "coordinated reads and the cross-trainer cache are for a dataset without end: "
            "distribute data.epochs()"
        )
    if epochs == 0 and asked.job_name:
        raise ValueError(
            "trainers that share a job have to agree on the epoch, which nobody counts here: "
            "distribute data.epochs(), or data.epochs(n)"
        )


def _check_derived(asked: Service, streams: list[StreamDataset]) -> None:
    if any(stream._epochs is not None for stream in streams):
        raise ValueError(
            "of a derived dataset each worker runs the whole chain, so it has to be of a stream "
            "without end: distribute data.epochs().map(...) and fit with steps_per_epoch, or "
            "distribute data first and map its result"
        )
    if streams and asked.mode == "fixed":
        raise ValueError(
            'mode="fixed" shares out a StreamDataset alone: distribute data first and map its '
            'result, or use mode="dynamic"'
        )
    if len(streams) > 1 and asked.mode == "dynamic":
        raise ValueError(
            f'mode="dynamic" would share out {len(streams)} streams each in its own way: '
            "distribute each of them, and combine the results"
        )


def _streams(dataset: tf.data.Dataset) -> Iterator[StreamDataset]:
    """Those that a dataset is derived from."""
    if isinstance(dataset, StreamDataset):
        yield dataset
        return
    for below in dataset._inputs():
        yield from _streams(below)
