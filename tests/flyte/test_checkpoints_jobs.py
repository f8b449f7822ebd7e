"""Trainings that go on in other tasks and other attempts, each in a process of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from containers import Container, literal
from machines import Machine, unframed

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TrainingCheckpoint

pytestmark = pytest.mark.slow


@dataclass
class HyperParameters:
    """As the tasks have them."""

    rate: float = 0.01
    layers: list[int] = field(default_factory=lambda: [4, 2])


def machine_in(folder):
    """One that has the tasks."""
    made = Machine(folder)
    made.put("training_v1.py", "killing.py")
    return made


@pytest.fixture
def jobs(tmp_path):
    """A new one."""
    return machine_in(tmp_path)


def trained(told):
    """Which batches ran, as `epoch:batch`."""
    return re.findall(r"trained batch (\d:\d)", told)


ALL = [f"{epoch}:{batch}" for epoch in range(3) for batch in range(6)]


class Training:
    """The attempts of a task that trains three epochs of six batches."""

    def __init__(self, machine, task, spec):
        self._container = Container(machine, f"training_v1.{task}")
        self._inputs = {"data": literal(spec, DatasetSpec), "epochs": literal(3, int)}
        if task == "train":
            self._inputs["start"] = literal(None, TrainingCheckpoint | None)
        self.place = self._container.place

    def run(self, **variables):
        """The next one."""
        ended = self._container.run(self._inputs, **variables)
        assert "" == ended.error
        return ended


@pytest.fixture(scope="module")
def spec(digits):
    """Six batches."""
    return tfstream.from_url(digits, image_size=(4, 4), batch_size=2, verbose=False).spec


@pytest.fixture(scope="module")
def weights(tmp_path_factory, spec):
    """Those of a training that nobody disturbed."""
    ended = Training(machine_in(tmp_path_factory.mktemp("calm")), "train", spec).run()
    assert ALL == trained(ended.told)
    return ended.output


def test_a_killed_task_ends_with_the_same_weights(jobs, spec, weights):
    """
    SIGKILL before anything is saved, in mid-epoch, and again before anything new is saved.

    Each attempt goes on behind the newest checkpoint, and runs the rest only; the History is of
    the whole training.
    """
    killed = Training(jobs, "train", spec)
    first = killed.run(KILL_AFTER="1")
    assert not killed.place(1).exists()  # which the next one is told of all the same
    second, third = killed.run(KILL_AFTER="10"), killed.run(KILL_AFTER="1")
    assert [None] * 3 == [each.output for each in (first, second, third)]
    assert ALL[:10] == trained(second.told)
    (again,) = trained(third.told)
    assert "1:2" <= again <= "1:4"  # in mid-epoch; `fit` saves after the callbacks
    last = killed.run()
    assert ALL[ALL.index(again) :] == trained(last.told)
    assert "epochs of the history: [0, 1, 2]" in last.told
    assert weights == last.output


def test_a_loop_of_its_own_does_the_same(jobs, spec, weights):
    """Also where the kill has cut the upload of the newest checkpoint: the one before is whole."""
    killed = Training(jobs, "looped", spec)
    assert ALL[:10] == trained(killed.run(KILL_AFTER="10").told)
    files = sorted(killed.place(1).iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert 2 == len(files)
    files[-1].write_bytes(files[-1].read_bytes()[:1000])
    last = killed.run()
    assert ALL[8:] == trained(last.told)
    assert weights == last.output


def test_another_process_goes_on_at_the_next_example(jobs, spec, weights):
    """A checkpoint of mid-epoch feeds a task on another machine: its loop, and its `fit`."""
    inputs = {
        "data": literal(spec, DatasetSpec),
        "hp": literal(HyperParameters(), HyperParameters),
        "step": literal(2, int),
    }
    begun = Container(jobs, "training_v1.begin").run(inputs).output
    inputs = {"start": begun, "epochs": literal(3, int)}
    by_loop = Container(jobs, "training_v1.go_on").run(inputs)
    assert "went on at Position(epoch=1, record=4) {'rate': 0.01, 'layers': [4, 2]}" in by_loop.told
    maybe = literal(TrainingCheckpoint(model=()), TrainingCheckpoint | None)
    maybe.scalar.union._value = begun
    inputs = {"data": literal(spec, DatasetSpec), "epochs": literal(3, int), "start": maybe}
    by_fit = Container(jobs, "training_v1.train").run(inputs)
    assert ALL[8:] == trained(by_fit.told)
    assert [weights] * 2 == [by_loop.output, by_fit.output]


def test_workflows_hand_trainings_over(jobs, digits):
    """
    One task, two tasks, and a task and `fit`, in one workflow, end with the same weights.

    Strings, ragged and sparse tensors, a list, Optional and a model travel in another.
    """
    lines = [("handed_over", "--url", digits), ("tensors",)]
    done = jobs.run_each("pyflyte", *(("run", "training_v1.py", *line) for line in lines))
    told = unframed(done.stdout)
    digests = re.findall(r"[0-9a-f]{64}", told)
    assert 3 == len(digests)
    assert 1 == len(set(digests))
    expected = "[b'a' b''] <tf.RaggedTensor [[1.5], []]> [[1 0] [0 1]] True [(), (0, 2)]"
    assert expected in told.replace("\\n", " ")
