"""Threads that read: order, errors, and how they come and go."""

from __future__ import annotations

import gc
import threading
from functools import partial

import pytest

from tfstream.fetch.lifetime import ShuttingDownError
from tfstream.fetch.workers import Workers


def fail(error):
    raise error


def threads_of(names=("tfstream-read-",)):
    return [each for each in threading.enumerate() if each.name.startswith(names)]


class Threads:
    """The reading threads that were started since this was made."""

    def __init__(self):
        self.before = set(threading.enumerate())

    def now(self):
        return [each for each in threads_of() if each not in self.before]


def test_results_in_order():
    """Results come in the order of the jobs, whichever ends first."""
    gates = [threading.Event() for _ in range(5)]

    def job(index):
        if index + 1 < len(gates):
            assert gates[index + 1].wait(20)  # so they end from the last to the first
        gates[index].set()
        return index

    assert [0, 1, 2, 3, 4] == Workers(5).run([partial(job, index) for index in range(5)])


def test_no_jobs():
    """Nothing to do needs no thread."""
    threads = Threads()
    assert [] == Workers(4).run([])
    assert [] == threads.now()


def test_as_many_threads_as_needed():
    """Threads start when there are jobs for them, up to the limit, and are used again."""
    threads, workers = Threads(), Workers(3)
    workers.run([lambda: None] * 2)
    assert len(threads.now()) == 2
    for _ in range(5):
        workers.run([lambda: None] * 10)
    assert len(threads.now()) == 3
    assert all(thread.daemon for thread in threads.now())


def test_the_limit():
    """No more jobs run at the same time than there are threads, over all calls."""
    workers, lock, running, most = Workers(3), threading.Lock(), [], []

    def job():
        with lock:
            running.append(1)
            most.append(len(running))
        threading.Event().wait(0.001)
        with lock:
            running.pop()

    calls = [threading.Thread(target=workers.run, args=([job] * 20,)) for _ in range(3)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert max(most) == 3
    assert len(most) == 60


def test_the_first_error_in_order():
    """The error is that of the first failing job in order, also where a later one fails first."""
    failed = threading.Event()

    def first():
        assert failed.wait(20)
        raise KeyError("first")

    def second():
        failed.set()
        raise ValueError("second")

    with pytest.raises(KeyError, match="first"):
        Workers(2).run([first, second])


def test_jobs_after_a_failure():
    """Jobs that come after a failed one and have not started are not done."""
    done = []
    jobs = [lambda: done.append(0), partial(fail, ValueError()), lambda: done.append(2)]
    with pytest.raises(ValueError):  # noqa: PT011  # the very error does not matter
        Workers(1).run(jobs)
    assert [0] == done


def test_all_that_started_have_ended():
    """When a call raises, none of its jobs is still running."""
    started, leave, ended = threading.Event(), threading.Event(), []

    def slow():
        started.set()
        assert leave.wait(20)
        ended.append(1)

    def failing():
        assert started.wait(20)
        leave.set()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Workers(2).run([slow, failing])
    assert [1] == ended


def test_a_thread_survives_its_job():
    """A job that raises anything at all takes no thread with it."""
    workers = Workers(1)
    for error in (ValueError(), SystemExit(3), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            workers.run([partial(fail, error)])
    assert [1] == workers.run([lambda: 1])


def test_threads_end_with_their_owner():
    """When nobody holds the workers, the threads end."""
    threads, workers = Threads(), Workers(4)
    workers.run([lambda: None] * 8)
    running = threads.now()
    assert len(running) == 4
    del workers
    gc.collect()
    for thread in running:
        thread.join(20)
    assert [] == threads.now()


def test_results_are_not_held():
    """A thread that waits for its next job does not keep the last result."""

    class Result:
        pass

    import weakref

    workers = Workers(1)
    found = weakref.ref(workers.run([Result])[0])
    workers.run([lambda: None])
    assert found() is None


def test_the_end_of_the_process(closing):
    """A call that waits for a job gets an error when the interpreter shuts down."""
    leave = threading.Event()

    def job():
        closing.set()
        assert leave.wait(20)

    with pytest.raises(ShuttingDownError):
        Workers(1).run([job])
    leave.set()
