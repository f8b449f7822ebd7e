"""The command line: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from benchmarks import environments
from benchmarks.cases import Case, Run, run
from benchmarks.contenders import CONTENDERS
from benchmarks.data import photo_set
from benchmarks.experiments import EXPERIMENTS
from benchmarks.goals import goals
from benchmarks.paths import STATE
from benchmarks.report import cpu, rate, tables
from benchmarks.results import load, save
from benchmarks.stores import Stores
from servers.process import ServerUnavailable

EXAMPLES = """
examples:
  python -m benchmarks                          everything, five rounds: about an hour and a half
  python -m benchmarks --quick                  one short round, to see that all works
  python -m benchmarks --only pinned            one experiment
  python -m benchmarks --only peers --only local --only generator-s3fs
                                                two contenders of one experiment
  python -m benchmarks --only fetch --repeats 9 --json fetch.json
  python -m benchmarks --show results.json      the tables of a run before
"""


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="How fast tfstream reads, beside local disk and what people use instead.",
        epilog=f"experiments: {', '.join(EXPERIMENTS)}\n\n"
        f"contenders: {', '.join(CONTENDERS)}\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round of two seconds a run, of what needs no set-up",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        choices=[*EXPERIMENTS, *CONTENDERS],
        help="an experiment or a contender; may be given again",
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="rounds (5)")
    parser.add_argument("--seconds", type=float, metavar="S", help="steady reading a run (6)")
    parser.add_argument(
        "--json", type=Path, default=STATE / "results.json", metavar="FILE", help="results"
    )
    parser.add_argument("--torch", action="store_true", help="make the environment of LitData too")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print a saved run and stop")
    return parser.parse_args(words)


def chosen(only: list[str], seconds: float | None, *, made: bool = False) -> list[Case]:
    """One round: all cases, or those that the names leave; `made`: only what needs no set-up."""
    experiments = [name for name in EXPERIMENTS if name in only] or list(EXPERIMENTS)
    contenders = {name for name in only if name in CONTENDERS} or set(CONTENDERS)
    cases = [
        case
        for name in experiments
        for case in EXPERIMENTS[name].cases(name)
        if case.contender in contenders
        and (not made or environments.is_made(CONTENDERS[case.contender].environment))
    ]
    return [replace(case, seconds=min(seconds or case.seconds, case.seconds)) for case in cases]


def measure(cases: list[Case], repeats: int, file: Path, *, large: bool) -> list[Run]:
    """All rounds, saved after every run, so that an interrupted one leaves what it has."""
    runs: list[Run] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    console = Console(width=None if sys.stdout.isatty() else 120)
    with Stores() as stores, Progress(*columns, *times, console=console) as progress:
        task = progress.add_task("", total=repeats * len(cases))
        for number in range(1, repeats + 1):
            for case in cases:
                progress.update(task, description=f"round {number}: {case}")
                done = run(case, number, stores, large=large)
                runs.append(done)
                save(file, runs)
                progress.console.print(f"round {number}  {case}: {line(done)}", markup=False)
                progress.advance(task)
    return runs


def line(run: Run) -> str:
    """A run in a few words."""
    if run.result is None:
        return f"FAILED: {run.problem}"
    if "images" not in run.result:
        return ", ".join(
            f"{name} {value:.1f}" for name, value in run.result.items() if isinstance(value, float)
        )
    return f"{rate(run.result):.0f} images/s, {cpu(run.result):.2f} CPU s per 1,000"


def main() -> None:
    options = arguments()
    if options.show:
        print(shown(load(options.show)))
        return
    if sys.platform != "linux":
        sys.exit("the benchmark needs Linux: /proc and CPU affinity")
    seconds = 2.0 if options.quick else options.seconds
    cases = chosen(options.only, seconds, made=options.quick)
    for name in sorted({case.photos for case in cases}):
        photos = photo_set(name)
        kind = (
            "real photographs" if photos.real else "MADE-UP photographs, the real ones are not here"
        )
        print(f"{name}: {photos.count} files of {photos.mean_bytes:,} bytes on average, {kind}")
    try:
        runs = measure(
            cases, 1 if options.quick else options.repeats, options.json, large=options.torch
        )
    except ServerUnavailable as error:
        sys.exit(f"no servers to measure with: {error}")
    except KeyboardInterrupt:
        sys.exit(f"\nstopped; what was measured is in {options.json} (--show prints it)")
    print(f"\n{shown(runs)}\nall runs: {options.json}")


def shown(runs: list[Run]) -> str:
    """All that there is to say about the runs, in Markdown."""
    return f"{tables(runs)}\n## Goals (medians)\n\n{goals(runs)}\n"


if __name__ == "__main__":
    main()
