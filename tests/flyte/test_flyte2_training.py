"""Trainings in tasks of flyte 2 that go on in other tasks and other attempts."""

from __future__ import annotations

import re

import pytest
from machines import Machine, unframed

pytestmark = pytest.mark.slow


def flyte_run(machine, task, raw, url, fails=False, **variables):
    """What a local run prints, in which nothing can be pickled; files go below `raw`."""
    machine.put("training_v2.py", "killing.py")
    command = ("run", "--local", "--raw-data-path", raw, "training_v2.py", task, "--url", url)
    return machine.run_without_pickle("flyte", *command, fails=fails, **variables).stdout


def trained(told):
    """Which batches ran, as `epoch:batch`."""
    return re.findall(r"trained batch (\d:\d)", told)


ALL = [f"{epoch}:{batch}" for epoch in range(3) for batch in range(6)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, digits):
    """What was printed where one task trained, and then two, which handed over in mid-epoch."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return unframed(flyte_run(Machine(folder), "handed_over", folder / "raw", url=digits))


def test_a_killed_task_ends_with_the_same_weights(tmp_path, machine, digits, undisturbed):
    """SIGKILL in mid-epoch; the next attempt, told of the first one's place, runs the rest only."""
    raw = tmp_path / "raw"
    told = flyte_run(machine, "train", raw, url=digits, fails=True, KILL_AFTER="10")
    assert ALL[:10] == trained(told)
    (raw / "checkpoint").rename(raw / "prev_checkpoint")  # as a cluster tells a second attempt
    told = flyte_run(machine, "train", raw, url=digits)
    assert ALL[8:] == trained(told)
    assert re.search(r"weights [0-9a-f]{64}", told)[0] in undisturbed


def test_another_task_goes_on_at_the_next_example(undisturbed):
    """In mid-epoch: one task and two end with the same weights."""
    assert ALL + ALL[8:] == trained(undisturbed)
    assert "went on at Position(epoch=1, record=4) {'rate': 0.001}" in undisturbed
    assert "the same weights: True" in undisturbed
