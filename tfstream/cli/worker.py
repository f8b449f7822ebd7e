"""`tfstream worker`: makes examples for a tf.data service, with its own environment's keys."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from tfstream import __version__
from tfstream.cli.health import health
from tfstream.cli.serving import port, say, seconds, tensorflow
from tfstream.cli.stop import Stop
from tfstream.errors import TfstreamError

_DESCRIPTION = """
Runs a worker of a tf.data service until SIGTERM or Ctrl-C: it reads what datasets of tfstream
describe, with the credentials of its own environment, and decodes it.
"""

_MORE = """
example:
  tfstream worker --dispatcher grpc://dispatcher:5050 --port 5051 --health-port 8080

Exit codes: 0 stopped by SIGTERM, 2 it could not start, 130 stopped by Ctrl-C.
"""

_LOOK_SECONDS = 0.5
"""Between two looks for the dispatcher; TensorFlow itself would not hear a signal meanwhile."""
_HEARTBEAT_MS = 5_000
"""How long a dispatcher that was restarted knows no workers; TensorFlow's own is 30 s."""
_PROBE_SECONDS = 1.0
"""For a connection to it, so that GET /health answers in time."""


def add_to(commands: Any) -> None:
    """Tell a parser about the command."""
    parser = commands.add_parser(
        "worker",
        help="run a worker of a tf.data service",
        description=_DESCRIPTION,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--dispatcher", required=True, metavar="URL", help="grpc://host:port")
    add("--port", type=port, default=0, metavar="N", help="to listen on; any free one if not given")
    add(
        "--address",
        metavar="HOST:PORT",
        help="where trainers reach this worker, if not at the address that this machine has "
        "towards the dispatcher",
    )
    add(
        "--dispatcher-timeout",
        type=seconds,
        default=300.0,
        metavar="SECONDS",
        help="how long to wait for a dispatcher that does not answer: 300",
    )
    add("--health-port", type=port, metavar="N", help="answer GET /health there")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    tf = tensorflow()
    from tfstream.graph import ops  # noqa: F401  so that graphs find them
    from tfstream.graph.service import address_of, reach

    address, stop = address_of(given.dispatcher), Stop()

    def look() -> str | None:
        try:
            return reach(address, seconds=_PROBE_SECONDS)
        except TfstreamError:
            return None

    def status() -> dict[str, Any]:
        return {
            "role": "worker",
            "tfstream": __version__,
            "tensorflow": tf.__version__,
            "dispatcher": f"grpc://{address}",
            "connected": look() is not None,
        }

    with health(given.health_port, status) as health_port:
        host = _host(look, stop, given.dispatcher_timeout)
        if host is None:
            if not stop.wait(0):
                reach(address)  # says why not
            return stop.code
        _held = _server(tf, given, address, host)  # it ends where nobody holds it
        say(
            f"worker of grpc://{address}"
            + (f", health at port {health_port}" if health_port else "")
        )
        stop.wait()
    sys.stdout.flush()
    # `server.stop()` holds the GIL while it waits for calls of the Python op, which need it: in
    # mid-epoch it did not end in 70 s. What is in hand is lost either way.
    os._exit(stop.code)


def _host(look: Callable[[], str | None], stop: Stop, seconds: float) -> str | None:
    """This machine's address towards the dispatcher, once there is one; None if not in time."""
    end = time.monotonic() + seconds
    while not (host := look()):
        if stop.wait(_LOOK_SECONDS) or time.monotonic() > end:
            return None
    return f"[{host}]" if ":" in host else host


def _server(tf: Any, given: argparse.Namespace, dispatcher: str, host: str) -> Any:
    service = tf.data.experimental.service
    address = given.address or f"{host}:%port%"  # TensorFlow puts in the port that it got
    try:
        return service.WorkerServer(
            service.WorkerConfig(
                dispatcher_address=dispatcher,
                worker_address=address,
                data_transfer_address=address,
                port=given.port,
                heartbeat_interval_ms=_HEARTBEAT_MS,
                dispatcher_timeout_ms=round(1000 * given.dispatcher_timeout),
            )
        )
    except tf.errors.OpError as error:
        raise OSError(f"the worker does not start: {error.message}") from error
