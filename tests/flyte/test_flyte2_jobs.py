"""`flyte run --local` runs tasks that pass datasets."""

from __future__ import annotations

import json
import re

import pytest
from machines import unframed

pytestmark = pytest.mark.slow


@pytest.fixture
def jobs(machine):
    """A machine that has the tasks."""
    machine.put("jobs_v2.py")
    return machine


def test_every_way_gives_the_same_examples(jobs, digits):
    """As spec, graph, elements and snapshot, in containers; with a report, without pickle."""
    command = ("run", "--local", "jobs_v2.py", "main", "--url", digits)
    told = unframed(jobs.run_without_pickle("flyte", *command).stdout)
    assert "[12, 12, 12, 12, 12] 1 StreamDataset reported True" in told


def test_a_commit_is_counted_once(jobs, branch, digits):
    """For each batch size; after a new commit again."""
    command = ("run", "--local", "jobs_v2.py", "cached_twice", "--url", branch.url)

    def counted():
        told = jobs.run("flyte", *command, **branch.variables).stdout
        return [int(number) for number in re.findall(r"counted (\d+)", told)]

    assert [12, 12] == counted()
    branch.commit({"0/one-more.png": digits / "0" / "0000.png"})
    assert [13, 13] == counted()


def test_the_command_line(jobs, data, digits):
    """
    A dataset is given as the JSON of its spec, or a file of it; strictly.

    A DatasetSpec is not: flyte 2 reads a dataclass's JSON by itself, and loses the source. The
    error says so. Of what cannot travel, the error has the stage.
    """
    text = data.spec.to_json()
    (jobs.folder / "spec.json").write_text(text)
    newer = json.dumps({**json.loads(text), "colour": "red"})
    lines = [("count", "--data", given) for given in (text, "spec.json", newer)]
    lines += [("counted", "--spec", text), ("refused", "--url", digits)]
    done = jobs.run_each("flyte", *(("run", "--local", "jobs_v2.py", *line) for line in lines))
    told = unframed(done.stdout + done.stderr)
    assert 2 == told.count("ActionOutputs(o0=12)")
    assert "unknown field 'colour'" in told
    assert "what is left where JSON was read as a plain dataclass" in told
    assert "py_function in map(lambda) cannot travel" in told
