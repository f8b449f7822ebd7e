"""
What a person sees of a check: a bar while it runs, and a report.

```
lakefs://scans/3f2a…/**
713 of 713 objects checked, 3 bad; 66.8 MB in 3.1 s (21.5 MB/s)
format      JPEG 700, PNG 10, TIFF 3
decoded by  jpeg 690, png 10, pillow 10

what is wrong        objects  first keys
truncated JPEG             2  a/x.jpg
                              b/y.jpg
```

Keys are other people's text: neither rich's markup nor a terminal's control codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from tfstream.cli.findings import Findings, most_first
from tfstream.cli.printable import printable

_SHOWN = 3
"""Keys for each kind; `--write` and `--json` have all."""


@contextmanager
def progress(findings: Findings) -> Iterator[Callable[[], None]]:
    """A bar on stderr, if that is a terminal; call what it gives after each outcome."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("objects  {task.fields[speed]:.1f} MB/s  {task.fields[bad]:,} bad  left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=findings.objects, speed=0.0, bad=0)

    def show() -> None:
        speed = findings.megabytes_per_second
        bar.update(task, completed=findings.checked, speed=speed, bad=findings.bad)

    with bar:
        yield show


def print_report(findings: Findings) -> None:
    """The whole of it, on stdout; lines are not broken, so that keys can be copied."""
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    console.print(printable(findings.place))
    console.print(_sums(findings), style="bold red" if findings.bad else "bold green")
    for name, counts in (("format", findings.formats), ("decoded by", findings.decode_paths)):
        console.print(f"{name:<10}  {_counts(counts)}")
    if findings.kinds:
        head, *rows = _table(findings)
        console.print()
        console.print(head, style="bold")
        console.print("\n".join(rows))


def _sums(findings: Findings) -> str:
    bad = f"{findings.bad:,} bad" if findings.bad else "none bad"
    return (
        f"{findings.checked:,} of {findings.objects:,} objects checked, {bad}; "
        f"{findings.bytes / 1e6:,.1f} MB in {findings.seconds:,.1f} s "
        f"({findings.megabytes_per_second:,.1f} MB/s)"
    )


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in most_first(counts).items()) or "none"


def _table(findings: Findings) -> Iterator[str]:
    width = max(map(len, (*findings.kinds, "what is wrong")))
    yield f"{'what is wrong':<{width}}  {'objects':>7}  first keys"
    for kind, errors in findings.by_kind():
        first, *others = [printable(key) for key in islice(errors, _SHOWN)]
        yield f"{kind:<{width}}  {len(errors):>7,}  {first}"
        others += ["…"] if len(errors) > _SHOWN else []
        yield from (f"{'':<{width}}  {'':>7}  {other}" for other in others)
