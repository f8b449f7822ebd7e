"""One run of one contender under given conditions, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks import environments
from benchmarks.children import Child, Failed
from benchmarks.contenders import CONTENDERS
from benchmarks.data import photo_set
from benchmarks.environments import NotAvailableError
from benchmarks.processes import family, keep_on
from benchmarks.stores import Stores

SERVER_CORES = frozenset({0})
CLIENT_CORES = frozenset({1})


@dataclass(frozen=True, kw_only=True)
class Case:
    """
    What to run.

    Attributes:
        experiment: The table that it belongs to.
        contender: Its name in `CONTENDERS`.
        photos: A set of `benchmarks.data`.
        delay: Seconds, of every response; 0 asks the server directly. For the disk: 0.
        pinned: The client on one core, the servers on another.
        seconds: To read on after the warm-up.
    """

    experiment: str
    contender: str
    photos: str
    delay: float = 0.0
    pinned: bool = False
    seconds: float = 6.0

    def __str__(self) -> str:
        where = "pinned" if self.pinned else ""
        return f"{self.contender} {self.photos} {self.delay * 1000:g} ms {where}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Run:
    """A case that was run: its result, or else the problem it had."""

    case: Case
    round: int
    result: dict[str, Any] | None = None
    problem: str | None = None


def run(case: Case, round_number: int, stores: Stores, *, large: bool) -> Run:
    """Run the case now; a contender that fails is a result too."""
    contender = CONTENDERS[case.contender]
    photos = photo_set(case.photos)
    done = Run(case=case, round=round_number)
    try:
        child = Child(
            name=case.contender,
            module=f"benchmarks.contenders.{contender.module}",
            python=environments.python(contender.environment, large=large),
            arguments=contender.arguments,
            cores=CLIENT_CORES if case.pinned else None,
        )
        place = stores.place(contender.store, photos, case.delay)
        job = asdict(place) | {"folder": str(photos.folder), "in_flight": contender.in_flight}
        with _servers_aside(case.pinned):
            result = child.run(job | {"seconds": case.seconds})
    except (Failed, NotAvailableError) as error:
        return replace(done, problem=str(error))
    if case.delay and contender.store != "disk":
        log = stores.delayed(contender.store, case.delay).requests()
        result["requests"] = _requests(log, result)
    return replace(done, result=result)


@contextmanager
def _servers_aside(pinned: bool) -> Iterator[None]:
    """Keep all that this process has started, and itself, on the servers' core meanwhile."""
    everywhere = os.sched_getaffinity(0)
    if pinned:
        keep_on(family(os.getpid()), set(SERVER_CORES))
    try:
        yield
    finally:
        if pinned:
            keep_on(family(os.getpid()), everywhere)


def _requests(log: list[tuple[float, str]], result: dict[str, Any]) -> dict[str, Any]:
    """What was asked of the server up to the first batch, and when the listing ended."""
    first_at = result.get("first_at", 0.0)
    began_at = first_at - result.get("first_seconds", 0.0) - result.get("open_seconds", 0.0)
    early = [each for each in log if began_at <= each[0] <= first_at]
    pages = [at for at, what in early if "list-type=" in what or "/objects/ls?" in what]
    listed_at = max(pages, default=began_at)
    after = [what for at, what in early if at > listed_at]
    return {
        "listing": len(pages),
        "before_first_batch": len(after),
        "since_listing": first_at - listed_at,
    }
