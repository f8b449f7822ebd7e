"""
What is measured: the table of experiments, each a list of cases.

One round runs every case once; rounds are repeated, so that contenders take turns and a
disturbance of the machine hits all alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.cases import Case
from benchmarks.contenders import CONTENDERS, LOCAL

DELAYS = (0.0, 0.03, 0.1)
OURS = ("tfstream-s3", "tfstream-lakefs")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """
    One question.

    Attributes:
        title: Over its tables.
        cases: One round of it.
    """

    title: str
    cases: Callable[[str], Iterator[Case]]


def _pinned(name: str) -> Iterator[Case]:
    for photos in "26kB", "90kB":
        for contender in LOCAL, "keras", "tfstream-folder":
            yield Case(experiment=name, contender=contender, photos=photos, pinned=True)
        for delay in DELAYS:
            for contender in OURS:
                yield Case(
                    experiment=name, contender=contender, photos=photos, delay=delay, pinned=True
                )


def _peers(name: str, delay: float) -> Iterator[Case]:
    for contender, about in CONTENDERS.items():
        if about.compared:
            there = 0.0 if about.store == "disk" else delay
            yield Case(experiment=name, contender=contender, photos="90kB", delay=there)


def _fetch(name: str) -> Iterator[Case]:
    for contender in "fetch-obstore", "fetch-tfstream":
        yield Case(experiment=name, contender=contender, photos="90kB", delay=0.03)


def _first_batch(name: str) -> Iterator[Case]:
    for contender in OURS:
        for delay in FAR:
            yield Case(
                experiment=name, contender=contender, photos="90kB", delay=delay, seconds=0.2
            )


def _memory(name: str) -> Iterator[Case]:
    yield Case(experiment=name, contender="fit-local", photos="90kB")
    yield Case(experiment=name, contender="fit-tfstream-s3", photos="90kB", delay=0.03)


def _large(name: str) -> Iterator[Case]:
    for contender in LOCAL, "keras", "tfstream-folder", "tfstream-folder-scaled":
        yield Case(experiment=name, contender=contender, photos="12MP")


def _pillow(name: str) -> Iterator[Case]:
    for contender in "pillow-threads", "tfstream-folder":
        yield Case(experiment=name, contender=contender, photos="CMYK")


def _look(name: str) -> Iterator[Case]:
    yield Case(experiment=name, contender="header-look", photos="90kB")


def _positions(name: str) -> Iterator[Case]:
    yield Case(experiment=name, contender="far-positions", photos="90kB", seconds=2.0)


def _service(name: str) -> Iterator[Case]:
    for contender in "tfstream-s3", "service-s3":
        yield Case(experiment=name, contender=contender, photos="90kB")


def _manifest(name: str) -> Iterator[Case]:
    yield Case(experiment=name, contender="load-manifest", photos="90kB")


FAR = (0.1, 0.4)
"""Two delays, from which the number of round trips follows without what computing takes."""

EXPERIMENTS = {
    "pinned": Experiment(
        title="Against local disk: client on one core, servers on another", cases=_pinned
    ),
    "peers": Experiment(
        title="What people use instead, at 30 ms", cases=lambda name: _peers(name, 0.03)
    ),
    "peers-near": Experiment(
        title="What people use instead, without delay", cases=lambda name: _peers(name, 0.0)
    ),
    "fetch": Experiment(title="Fetching alone, at 30 ms with 64 requests in flight", cases=_fetch),
    "first-batch": Experiment(title="The first batch", cases=_first_batch),
    "memory": Experiment(title="Memory over ten epochs of `model.fit`", cases=_memory),
    "large": Experiment(title="Photographs of 12 megapixels", cases=_large),
    "pillow": Experiment(title="What only Pillow decodes", cases=_pillow),
    "look": Experiment(title="The look at each header", cases=_look),
    "positions": Experiment(title="Positions in 12,000,000 records", cases=_positions),
    "service": Experiment(title="In other processes, on this machine", cases=_service),
    "manifest": Experiment(title="A manifest of 1,000,000 keys", cases=_manifest),
}
