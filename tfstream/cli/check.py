"""`tfstream check`: reads every object once, and says which cannot be trained on."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfstream.cli.findings import Findings
from tfstream.cli.report import print_report, progress
from tfstream.cli.target import Target, target_of
from tfstream.errors import MissingDependencyError
from tfstream.options import ReadOptions

if TYPE_CHECKING:
    from tfstream.graph.outcome import Outcome
    from tfstream.sources.base import ObjectInfo

_DESCRIPTION = """
Reads every object that a dataset would read, once, and decodes it as training would. Says
which are broken, cut, no images, or cannot be read, by kind.
"""

_MORE = """
examples:
  tfstream check 'lakefs://scans/main/**'
  tfstream check s3://scans/2026/ --endpoint http://localhost:9000 --write bad.txt
  tfstream check spec.json --json > report.json

Credentials come from the environment, as for tfstream.from_url. Exit codes: 0 all are good,
1 some are bad, 2 the check could not be made or finished, 130 interrupted by Ctrl-C. After
1, 2 and 130 the report has what was found so far.
"""


def add_to(commands: Any) -> None:
    """Tell a parser about the command."""
    parser = commands.add_parser(
        "check",
        help="read every object once and name those that cannot be decoded",
        description=_DESCRIPTION,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("target", help="a URL or path, or the JSON file of a DatasetSpec, which has a decoder")
    add("--endpoint", metavar="URL", help="the server, for lakeFS and S3")
    add("--json", action="store_true", help="one JSON document on stdout, with every bad key")
    add(
        "--write",
        metavar="FILE",
        help="the keys of bad objects, one a line (as a JSON string "
        "where a key has a line break or begins with a quote)",
    )
    add("--max-pixels", type=_count, metavar="N", help="the most width x height of an image")
    add("--color-mode", choices=["rgb", "rgba", "grayscale"], help="what to decode to")
    add("--threads", type=_count, metavar="N", help="objects under way at the same time")
    add("--limit", type=_count, metavar="N", help="check only the first N objects, by key")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Check, and tell what was found, also where it ends early."""
    if find_spec("tensorflow") is None:  # said before any store is asked
        raise MissingDependencyError('pip install "tfstream[tf]"')
    if given.write:
        Path(given.write).touch()  # fails now, not after an hour
    target = _target(given)
    count, records = target.records(given.limit)
    outcomes = _outcomes(target, records)
    source = target.reading.source
    findings = Findings(source.url(source.pattern), count)
    try:
        with progress(findings) as show, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's, about files that it can read
            for outcome in outcomes:
                findings.add(outcome)
                show()
    finally:
        _tell(given, findings)
    return 1 if findings.bad else 0


def _target(given: argparse.Namespace) -> Target:
    wanted = {"color_mode": given.color_mode, "max_pixels": given.max_pixels}
    return target_of(
        given.target,
        endpoint=given.endpoint,
        decoding={name: value for name, value in wanted.items() if value is not None},
        options=ReadOptions(max_in_flight=given.threads) if given.threads else ReadOptions(),
    )


def _outcomes(target: Target, records: Iterator[Sequence[ObjectInfo]]) -> Iterator[Outcome]:
    # else TensorFlow tells about itself, and about each broken file
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    import tensorflow as tf

    from tfstream.graph.checking import check

    with suppress(RuntimeError):  # in a program that uses TensorFlow already
        tf.config.set_visible_devices([], "GPU")  # their memory is for those who need it
    return check(records, target.reader, target.reading, target.decoder, target.labels)


def _tell(given: argparse.Namespace, findings: Findings) -> None:
    try:  # neither a closed pipe nor a full disk costs the other of the two
        if given.json:
            sys.stdout.write(findings.to_json() + "\n")
        else:
            print_report(findings)
    finally:
        if given.write:
            _write(Path(given.write), findings.bad_keys())


def _write(file: Path, keys: bytes) -> None:
    try:
        file.write_bytes(keys)
    except OSError as error:  # of a full disk it does not name the file by itself
        raise OSError(f"{file}: the bad keys are not written: {error.strerror}") from error


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
