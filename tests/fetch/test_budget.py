"""The byte budget: never more in flight than allowed, and everyone's turn comes."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfstream.fetch import budget as module
from tfstream.fetch.budget import Budget, process_budget
from tfstream.fetch.lifetime import ShuttingDownError

sizes = st.lists(st.integers(0, 120), max_size=40)


class Watched:
    """Calls that note what is in flight beside them."""

    def __init__(self, budget, limit):
        self.budget, self.limit = budget, limit
        self.lock = threading.Lock()
        self.running = []
        self.wrong = []

    def call(self, size):
        with self.budget.reserved(size):
            with self.lock:
                self.running.append(size)
                if sum(self.running) > self.limit and len(list(filter(None, self.running))) > 1:
                    self.wrong.append(list(self.running))
            os.sched_yield()
            with self.lock:
                self.running.remove(size)


def until(condition):
    """Let other threads go on until it is so."""
    turns = threading.Event()
    for _ in range(20_000):
        if condition():
            return
        turns.wait(0.001)
    raise AssertionError("it never was")


@settings(deadline=None, max_examples=40)
@given(sizes, st.integers(1, 100), st.integers(0, 110))
def test_never_too_much(sizes, total, kept):
    """
    What is reserved fits in the total less what is kept, or one call runs alone; all calls of
    any sizes end.
    """
    budget = Budget(total)
    budget.keep(kept)
    watched = Watched(budget, total - kept)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(watched.call, sizes))
    assert [] == watched.wrong
    assert budget.used == 0


@settings(deadline=None, max_examples=20)
@given(sizes.filter(bool))
def test_all_that_fits_is_in_flight(sizes):
    """Calls that fit together do not wait for each other."""
    budget = Budget(sum(sizes) or 1)
    with ExitStack() as stack:
        for size in sizes:
            stack.enter_context(budget.reserved(size))
        assert sum(sizes) == budget.used
    assert budget.used == 0


class Queue:
    """Calls in threads of their own, which start one after the other."""

    def __init__(self, budget):
        self.budget = budget
        self.order = []
        self.leave = {}
        self.threads = []

    def start(self, name, size):
        self.leave[name] = threading.Event()
        thread = threading.Thread(target=self._run, args=(name, size))
        self.threads.append(thread)
        waiting = len(self.budget._waiting)
        thread.start()
        until(lambda: name in self.order or len(self.budget._waiting) > waiting)

    def _run(self, name, size):
        with self.budget.reserved(size):
            self.order.append(name)
            assert self.leave[name].wait(20)

    def end(self):
        for event in self.leave.values():
            event.set()
        for thread in self.threads:
            thread.join(20)
        assert self.budget.used == 0


def test_first_come_first_served():
    """A small call does not overtake a large one that waits, though it would fit."""
    queue = Queue(Budget(10))
    queue.start("first", 6)
    queue.start("large", 8)
    queue.start("small", 1)
    assert ["first"] == queue.order
    queue.leave["first"].set()
    until(lambda: len(queue.order) == 3)
    assert ["first", "large", "small"] == queue.order
    queue.end()


def test_larger_than_all():
    """A call of more than the whole budget waits for all others, and then runs alone."""
    queue = Queue(Budget(10))
    queue.start("first", 1)
    queue.start("huge", 1000)
    queue.start("last", 1)
    assert ["first"] == queue.order
    queue.leave["first"].set()
    until(lambda: "huge" in queue.order)
    assert queue.budget.used == 1000
    assert "last" not in queue.order
    queue.leave["huge"].set()
    until(lambda: "last" in queue.order)
    queue.end()


def test_growing():
    """The largest wish counts, and who waits goes on at once."""
    queue = Queue(Budget(10))
    queue.start("first", 10)
    queue.start("second", 10)
    queue.budget.grow(5)
    assert queue.budget.total == 10
    assert ["first"] == queue.order
    queue.budget.grow(20)
    until(lambda: len(queue.order) == 2)
    queue.end()


def test_keeping():
    """Bytes that stay take room; when they go, who waits goes on."""
    queue = Queue(Budget(10))
    queue.budget.keep(7)
    queue.start("first", 3)
    queue.start("second", 3)
    assert ["first"] == queue.order
    queue.budget.keep(-7)
    until(lambda: len(queue.order) == 2)
    assert queue.budget.kept == 0
    queue.end()


def test_an_error_gives_back():
    """A call that fails holds nothing."""
    budget = Budget(10)
    with pytest.raises(KeyError), budget.reserved(10):
        raise KeyError
    assert budget.used == 0


def test_the_end_of_the_process(closing):
    """Who waits when the interpreter shuts down gets an error, and stands in nobody's way."""
    queue = Queue(Budget(10))
    queue.start("first", 10)
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(queue.budget._acquire, 10)
        until(lambda: len(queue.budget._waiting) == 1)
        closing.set()
        assert isinstance(second.exception(20), ShuttingDownError)
    assert 0 == len(queue.budget._waiting)
    queue.end()


def test_forking(budget):
    """In a child nothing is in flight; the total and what is kept stay."""
    budget.grow(100)
    budget.keep(30)
    with budget.reserved(50):
        module._after_fork()
    child = process_budget()
    assert child is not budget
    assert (0, 100, 30) == (child.used, child.total, child.kept)
