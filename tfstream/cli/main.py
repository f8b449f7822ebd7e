"""
`tfstream`: the program, and what each way to end it means.

```
0    done                                   1    done, and the answer is bad
2    not done: usage, place, credentials    130  interrupted by Ctrl-C
```
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from tfstream import __version__
from tfstream.cli import check, dispatcher, worker
from tfstream.cli.printable import printable
from tfstream.errors import MissingDependencyError, TfstreamError

NOT_DONE, INTERRUPTED = 2, 130

_EXAMPLE = """
example:
  tfstream check 'lakefs://photos/main/train/**'    is every image of the branch one?

`tfstream COMMAND --help` says more about a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command (that of this process, if none is given); gives the exit code."""
    for stream in (sys.stdout, sys.stderr):  # a key may have letters that a terminal has not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = _parser().parse_args(arguments)
    try:
        code: int = given.run(given)
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except MissingDependencyError as error:
        return _not_done(f"a package is missing: {error}")
    except (TfstreamError, ValueError, OSError) as error:
        return _not_done(str(error))
    except Exception:  # a bug: not to be taken for the exit code 1 that Python would give it
        traceback.print_exc()
        return NOT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tfstream",
        description="Train TensorFlow models on data that stays in an object store.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tfstream {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (check, dispatcher, worker):
        command.add_to(commands)
    return parser


def _not_done(why: str) -> int:
    sys.stderr.write(f"tfstream: {printable(why)}\n")
    return NOT_DONE
