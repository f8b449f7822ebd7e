"""Where the benchmark is, and the one folder that it writes to (`make clean` removes it)."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT_ROOT = HERE.parent
STATE = PROJECT_ROOT / ".tfstream" / "bench"
