"""
Runs to tables: Markdown, which people read on a terminal as well.

Every number is the median over the rounds with its least and greatest in brackets. A ratio
compares within a round, so that what slowed a whole round does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks.cases import Case, Run
from benchmarks.contenders import CONTENDERS, LOCAL
from benchmarks.data import SETS
from benchmarks.experiments import EXPERIMENTS, FAR

Result = dict[str, Any]
Number = Callable[[Result], float]
Rows = list[list[str]]


def tables(runs: Sequence[Run]) -> str:
    """All experiments that were run, one table for each set of photographs."""
    parts = []
    for name, experiment in EXPERIMENTS.items():
        for photos in SETS:
            mine = [run for run in runs if (run.case.experiment, run.case.photos) == (name, photos)]
            if mine:
                parts += [f"## {experiment.title} ({photos})", table(LAYOUTS[name](mine))]
                parts += _problems(mine)
    return "\n\n".join(parts) + "\n"


def table(rows: Rows) -> str:
    """Markdown with its columns under each other; the first row is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cases(runs: Sequence[Run]) -> dict[Case, list[Run]]:
    """The runs of each case, in the order in which the cases were first run."""
    found: dict[Case, list[Run]] = {}
    for run in runs:
        found.setdefault(run.case, []).append(run)
    return found


def _spread(values: Iterable[float], digits: int) -> str:
    there = list(values)
    if not there:
        return "-"
    middle, least, most = (f"{f(there):,.{digits}f}" for f in (median, min, max))
    return middle if len(there) == 1 else f"{middle} ({least} to {most})"


def _numbers(runs: Sequence[Run], number: Number, digits: int) -> str:
    return _spread([number(run.result) for run in runs if run.result], digits)


def _ratios(mine: Sequence[Run], base: Sequence[Run], number: Number) -> str:
    """`number` of each run over that of the base's run of the same round."""
    of_round = {run.round: number(run.result) for run in base if run.result}
    there = [run for run in mine if run.result and run.round in of_round]
    return _spread([number(run.result) / of_round[run.round] for run in there if run.result], 2)


def rate(result: Result) -> float:
    """Images a second after the warm-up."""
    return float(result["images"] / result["seconds"])


def cpu(result: Result) -> float:
    """Client CPU seconds for 1,000 images."""
    return float(1000 * result["cpu_seconds"] / result["images"])


def _first(result: Result) -> float:
    return float(result["open_seconds"] + result["first_seconds"])


def _where(case: Case) -> str:
    if CONTENDERS[case.contender].store == "disk":
        return "disk"
    return f"{case.delay * 1000:g} ms"


def _title(case: Case, runs: Sequence[Run]) -> str:
    return CONTENDERS[case.contender].title + (" (*)" if any(r.problem for r in runs) else "")


def _problems(runs: Sequence[Run]) -> list[str]:
    """What failed, for under the table."""
    found = []
    for case, mine in _cases(runs).items():
        problems = [run.problem for run in mine if run.problem]
        if problems:
            count = f"{len(problems)} of {len(mine)} runs failed"
            found.append(f"(*) {CONTENDERS[case.contender].title}: {count}: {problems[0]}")
    return found


def _compared(runs: Sequence[Run]) -> Rows:
    head = ["", "where", "images/s", "of local disk", "CPU s per 1,000", "of local disk's"]
    rows = [[*head, "first batch, s", "memory, MB"]]
    cases = _cases(runs)
    base = next((mine for case, mine in cases.items() if case.contender == LOCAL), [])
    for case, mine in cases.items():
        row = [_title(case, mine), _where(case)]
        row += [_numbers(mine, rate, 0), _ratios(mine, base, rate)]
        row += [_numbers(mine, cpu, 2), _ratios(mine, base, cpu)]
        row += [_numbers(mine, _first, 2), _numbers(mine, lambda result: result["memory_mb"], 0)]
        rows.append(row)
    return rows


def _fetched(runs: Sequence[Run]) -> Rows:
    rows = [["", "objects/s", "of the limit", "CPU us per object", "of bare obstore's"]]
    cases = _cases(runs)
    base = next((m for case, m in cases.items() if case.contender == "fetch-obstore"), [])
    for case, mine in cases.items():
        least = case.delay / CONTENDERS[case.contender].in_flight  # seconds an object
        row = [_title(case, mine), _numbers(mine, rate, 0)]
        row.append(_spread([rate(run.result) * least for run in mine if run.result], 2))
        row.append(_numbers(mine, lambda result: 1000 * cpu(result), 0))
        rows.append([*row, _ratios(mine, base, cpu)])
    return rows


def _first_batches(runs: Sequence[Run]) -> Rows:
    near, far = FAR  # seconds of delay
    head = ["", "listing pages", "further requests", "round trips after the listing"]
    rows = [[*head, f"seconds at {near * 1000:g} ms, all"]]
    cases = _cases(runs)
    for case, mine in cases.items():
        if case.delay != near:
            continue
        distant = next(m for each, m in cases.items() if each == replace(case, delay=far))
        trips = round_trips(mine, distant)
        row = [_title(case, mine)]
        row.append(_numbers(mine, lambda result: result["requests"]["listing"], 0))
        row.append(_numbers(mine, lambda result: result["requests"]["before_first_batch"], 0))
        row.append("-" if trips is None else f"{trips:.1f}")
        rows.append([*row, _numbers(mine, _first, 2)])
    return rows


def round_trips(near: Sequence[Run], far: Sequence[Run]) -> float | None:
    """
    From the listing's end to the first batch: how much later it comes where answers do.

    Takes the quickest of the rounds, since a disturbance only ever adds.
    """
    early, late = (
        [_since_listing(run.result) for run in runs if run.result] for runs in (near, far)
    )
    return (min(late) - min(early)) / (FAR[1] - FAR[0]) if early and late else None


def _since_listing(result: Result) -> float:
    return float(result["requests"]["since_listing"])


def _fits(runs: Sequence[Run]) -> Rows:
    rows = [["MB above imports and model", "peak", "after epoch 1", "epoch 2", "epoch 10"]]
    for case, mine in _cases(runs).items():
        row = [_title(case, mine), _numbers(mine, lambda result: result["peak_mb"], 0)]
        for epoch in (0, 1, -1):
            row.append(_spread([run.result["epochs_mb"][epoch] for run in mine if run.result], 0))
        rows.append(row)
    return rows


def _manifests(runs: Sequence[Run]) -> Rows:
    columns = {"load_seconds": 2, "resident_mb": 0, "peak_mb": 0, "file_mb": 0}
    rows = [["", "seconds to load", "resident, MB", "peak while loading, MB", "file, MB"]]
    for case, mine in _cases(runs).items():
        row = [_title(case, mine)]
        for name, digits in columns.items():
            row.append(_spread([run.result[name] for run in mine if run.result], digits))
        rows.append(row)
    return rows


def _pillows(runs: Sequence[Run]) -> Rows:
    rows = [["", "images/s", "of Pillow's", "CPU s per 1,000", "memory, MB"]]
    cases = _cases(runs)
    base = next((mine for case, mine in cases.items() if case.contender == "pillow-threads"), [])
    for case, mine in cases.items():
        row = [_title(case, mine), _numbers(mine, rate, 0), _ratios(mine, base, rate)]
        row.append(_numbers(mine, cpu, 2))
        rows.append([*row, _numbers(mine, lambda result: result["memory_mb"], 0)])
    return rows


def _looks(runs: Sequence[Run]) -> Rows:
    rows = [["look, us", "decode, us", "look of decode"]]
    look, decode = (
        _numbers(runs, lambda result, name=name: result[name], 1)  # type: ignore[misc]
        for name in ("look_us", "decode_us")
    )
    return [*rows, [look, decode, _numbers(runs, look_share, 4)]]


def look_share(result: Result) -> float:
    """The look at a header over the decoding of the same photograph."""
    return float(result["look_us"] / result["decode_us"])


def _positions(runs: Sequence[Run]) -> Rows:
    head = ["records ordered a second", "first batch at the start, s", "at 10,000,000, s"]
    names = {"indices_per_second": 0, "start_seconds": 2, "entered_seconds": 2}
    names |= {"save_ms": 1, "saved_kb": 1}
    row = [
        _numbers(runs, lambda result, name=name: result[name], digits)  # type: ignore[misc]
        for name, digits in names.items()
    ]
    return [[*head, "a checkpoint, ms", "its size, kB"], row]


def _services(runs: Sequence[Run]) -> Rows:
    rows = [["", "images/s", "of the same in this process", "first batch, s"]]
    cases = _cases(runs)
    base = next((mine for case, mine in cases.items() if case.contender == "tfstream-s3"), [])
    for case, mine in cases.items():
        row = [_title(case, mine), _numbers(mine, rate, 0), _ratios(mine, base, rate)]
        rows.append([*row, _numbers(mine, _first, 2)])
    return rows


def entering(result: Result) -> float:
    """The first batch far in over the first batch at the start."""
    return float(result["entered_seconds"] / result["start_seconds"])


LAYOUTS: dict[str, Callable[[Sequence[Run]], Rows]] = {
    "pinned": _compared,
    "peers": _compared,
    "peers-near": _compared,
    "fetch": _fetched,
    "first-batch": _first_batches,
    "memory": _fits,
    "large": _compared,
    "pillow": _pillows,
    "look": _looks,
    "positions": _positions,
    "service": _services,
    "manifest": _manifests,
}
