"""`tfstream dispatcher`: knows the workers of a tf.data service, and shares out the work."""

from __future__ import annotations

import argparse
from typing import Any

from tfstream import __version__
from tfstream.cli.health import health
from tfstream.cli.serving import port, say, tensorflow
from tfstream.cli.stop import Stop

_DESCRIPTION = """
Runs the dispatcher of a tf.data service until SIGTERM or Ctrl-C. It reads no data and needs no
credentials. Whoever reaches its port can run graphs on the workers: keep it inside.
"""

_MORE = """
examples:
  tfstream dispatcher --port 5050 --health-port 8080
  tfstream dispatcher --work-dir state --fault-tolerant      started again, it goes on

Exit codes: 0 stopped by SIGTERM, 2 it could not start, 130 stopped by Ctrl-C.
"""


def add_to(commands: Any) -> None:
    """Tell a parser about the command."""
    parser = commands.add_parser(
        "dispatcher",
        help="run the dispatcher of a tf.data service",
        description=_DESCRIPTION,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--port", type=port, default=5050, metavar="N", help="to listen on: 5050; 0 for any free")
    add("--work-dir", metavar="DIR", help="where it writes down what it knows")
    add("--fault-tolerant", action="store_true", help="go on from what --work-dir has")
    add(
        "--workers",
        metavar="HOST:PORT,…",
        type=lambda text: text.split(","),
        help='all workers, by the --address of each: what mode="fixed" needs',
    )
    add("--health-port", type=port, metavar="N", help="answer GET /health there")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    if given.fault_tolerant and not given.work_dir:
        raise ValueError("--fault-tolerant needs --work-dir")
    tf = tensorflow()
    stop = Stop()
    server = _server(tf, given)
    address = server.target

    def status() -> dict[str, Any]:
        return {
            "role": "dispatcher",
            "tfstream": __version__,
            "tensorflow": tf.__version__,
            "dispatcher": address,
        }

    with health(given.health_port, status) as health_port:
        say(f"dispatcher at {address}" + (f", health at port {health_port}" if health_port else ""))
        stop.wait()
        server.stop()
    return stop.code


def _server(tf: Any, given: argparse.Namespace) -> Any:
    service = tf.data.experimental.service
    try:
        return service.DispatchServer(
            service.DispatcherConfig(
                port=given.port,
                work_dir=given.work_dir,
                fault_tolerant_mode=given.fault_tolerant,
                worker_addresses=given.workers,
            )
        )
    except tf.errors.OpError as error:
        raise OSError(f"the dispatcher does not start: {error.message}") from error
