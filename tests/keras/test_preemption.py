"""SIGTERM while a training saves itself."""

from __future__ import annotations

import signal
import threading

import pytest

from tfstream.keras.preemption import Preemption


@pytest.fixture
def handled():
    """The program's own handler, which notes what it is called with; put back after."""
    calls = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
    yield calls
    signal.signal(signal.SIGTERM, before)


def test_it_waits(handled):
    """The signal is noted, the program's own handler called when it may be, and put back after."""
    mine = signal.getsignal(signal.SIGTERM)
    with Preemption(enabled=True) as preemption:
        preemption.obey()
        signal.raise_signal(signal.SIGTERM)
        assert (True, []) == (preemption.asked, handled)
        preemption.obey()
        assert (False, [signal.SIGTERM]) == (preemption.asked, handled)
    assert mine is signal.getsignal(signal.SIGTERM)


def test_the_default_is_the_end(handled):
    """Where the program has no handler, it ends with a shell's code for SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with Preemption(enabled=True) as preemption:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(SystemExit) as ended:
            preemption.obey()
    assert 143 == ended.value.code
    assert signal.SIG_DFL == signal.getsignal(signal.SIGTERM)


@pytest.mark.parametrize("error", [None, KeyError("x")])
def test_after_the_last_step(handled, error):
    """A signal that came when nothing asked any more is obeyed at the end, an error's too."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def train():
        with Preemption(enabled=True):
            signal.raise_signal(signal.SIGTERM)
            if error is not None:
                raise error

    with pytest.raises(SystemExit) as ended:
        train()
    assert (143, error) == (ended.value.code, ended.value.__context__)
    assert signal.SIG_DFL == signal.getsignal(signal.SIGTERM)


@pytest.mark.parametrize("enabled", [True, False])
def test_what_stays_as_it_is(handled, enabled):
    """An ignored signal, and every signal where nothing is saved."""
    if enabled:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGTERM)
    with Preemption(enabled=enabled):
        assert before == signal.getsignal(signal.SIGTERM)


def test_other_threads(handled):
    """A training outside of the main thread, where no handler can be set, runs without one."""
    seen = []

    def enter():
        with Preemption(enabled=True):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join(20)
    assert [signal.getsignal(signal.SIGTERM)] == seen
