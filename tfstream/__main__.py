"""`python -m tfstream check photos/train`: the command line where no script is installed."""

from __future__ import annotations

import sys

from tfstream.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
