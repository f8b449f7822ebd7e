"""A program that is `tfstream`, but of another version (`--as 9.1.0`) or without a package."""

from __future__ import annotations

import sys

import tfstream

if __name__ == "__main__":
    kind, value, *arguments = sys.argv[1:]
    if kind == "--as":
        tfstream.__version__ = value
    else:
        sys.modules[value] = None  # as if it were not installed

    from tfstream.cli.main import main

    sys.exit(main(arguments))
