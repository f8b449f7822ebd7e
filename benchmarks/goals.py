"""What the project promises itself, each beside what was measured: medians over the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.cases import Run
from benchmarks.contenders import LOCAL
from benchmarks.experiments import FAR, OURS
from benchmarks.report import Number, Result, cpu, entering, look_share, rate, round_trips, table

BUDGET_MB = 256  # tfstream.ReadOptions().budget_bytes
FLAT_MB = 20  # the same on local disk grows by a few, from one run to the next
FOLDER, SCALED = "tfstream-folder", "tfstream-folder-scaled"
PILLOW = "pillow-threads"
CLEVER = ("generator-s3fs-cat", "grain-obstore", "webdataset", "litdata-chunks", "litdata-raw")


def goals(runs: Sequence[Run]) -> str:
    """A table of those whose runs are there."""
    rows = [["goal", "at least", "at most", "measured", ""]]
    for name, least, most, value in _all(runs):
        if value is not None:
            met = (least is None or value >= least) and (most is None or value <= most)
            shown = [f"{each:,g}" if each is not None else "" for each in (least, most)]
            rows.append([name, *shown, f"{value:,.2f}", "met" if met else "MISSED"])
    return table(rows)


def _all(runs: Sequence[Run]) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    for ours in OURS:
        for delay in (0.0, 0.03, 0.1):
            where = f"{ours}, pinned, 90kB, {delay * 1000:g} ms"
            mine = _of(runs, "pinned", ours, delay)
            local = _of(runs, "pinned", LOCAL)
            yield f"{where}: images/s over local disk's", 0.85, None, _ratio(mine, local, rate)
            yield f"{where}: client CPU over local disk's", None, 1.18, _ratio(mine, local, cpu)
    mine = _of(runs, "peers", "tfstream-s3", 0.03)
    for peer, least in {"generator-s3fs": 30, "py-function-s3fs": 15}.items():
        value = _ratio(mine, _of(runs, "peers", peer, 0.03), rate)
        yield f"tfstream-s3, 30 ms: images/s over {peer}", least, None, value
    for peer in CLEVER:
        value = _ratio(mine, _of(runs, "peers", peer, 0.03), rate)
        yield f"tfstream-s3, 30 ms: images/s over {peer}", 1.3, None, value
    mine, bare = (_of(runs, "fetch", f"fetch-{each}", 0.03) for each in ("tfstream", "obstore"))
    limit = _median(mine, lambda result: rate(result) * 0.03 / 64)
    yield "fetch alone, 30 ms: objects/s over the limit", 0.9, None, limit
    yield "fetch alone, 30 ms: client CPU over obstore's", None, 1.5, _ratio(mine, bare, cpu)
    for ours in OURS:
        near, far = (_of(runs, "first-batch", ours, delay) for delay in FAR)
        trips = round_trips(near, far)
        name = f"{ours}, first batch: round trips after the listing"
        yield name, None, 3, None if trips is None else round(trips, 1)  # timers are a bit late
    fit = _of(runs, "memory", "fit-tfstream-s3", 0.03)
    peak = _median(fit, lambda result: result["peak_mb"])
    growth = _median(fit, lambda result: result["epochs_mb"][-1] - result["epochs_mb"][1])
    yield "model.fit, ten epochs: peak MB", None, BUDGET_MB + 150, peak
    yield "model.fit, ten epochs: MB grown from epoch 2 to 10", None, FLAT_MB, growth
    large = {name: _of(runs, "large", name, photos="12MP") for name in ("keras", SCALED)}
    value = _ratio(large[SCALED], large["keras"], rate)
    yield "12 megapixels, scaled decoding: images/s over Keras'", 1.5, None, value
    pillow, mine = (_of(runs, "pillow", name, photos="CMYK") for name in (PILLOW, FOLDER))
    yield "what only Pillow decodes: images/s over Pillow's", 0.8, None, _ratio(mine, pillow, rate)
    look = _median(_of(runs, "look", "header-look"), look_share)
    yield "the look at a header over its decoding", None, 0.03, look
    positions = _of(runs, "positions", "far-positions")
    order = _median(positions, lambda result: result["indices_per_second"])
    yield "order alone: records/s", 1_000_000, None, order
    yield "first batch at 10,000,000 over the start's", None, 1.5, _median(positions, entering)
    saving = _median(positions, lambda result: result["save_ms"])
    yield "an iterator's checkpoint: ms", None, 20, saving
    there, here = (_of(runs, "service", name) for name in ("service-s3", "tfstream-s3"))
    value = _ratio(there, here, rate)
    yield "two service workers: images/s over the same in process", 0.85, None, value
    manifest = _of(runs, "manifest", "load-manifest")
    resident = _median(manifest, lambda result: result["resident_mb"])
    seconds = _median(manifest, lambda result: result["load_seconds"])
    yield "1,000,000 keys: resident MB", None, 200, resident
    yield "1,000,000 keys: seconds to load", None, 2, seconds


def _of(
    runs: Sequence[Run], experiment: str, contender: str, delay: float = 0.0, photos: str = "90kB"
) -> list[Run]:
    wanted = (experiment, contender, photos, delay)
    return [
        run
        for run in runs
        if (run.case.experiment, run.case.contender, run.case.photos, run.case.delay) == wanted
    ]


def _by_round(runs: Sequence[Run]) -> dict[int, Result]:
    return {run.round: run.result for run in runs if run.result}


def _median(runs: Sequence[Run], number: Number) -> float | None:
    found = [number(result) for result in _by_round(runs).values()]
    return median(found) if found else None


def _ratio(mine: Sequence[Run], base: Sequence[Run], number: Number) -> float | None:
    over, under = _by_round(mine), _by_round(base)
    found = [number(over[each]) / number(under[each]) for each in over.keys() & under.keys()]
    return median(found) if found else None
