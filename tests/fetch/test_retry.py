"""Trying again: how often, after how long, and what is said in the end."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfstream.errors import AccessDeniedError, RetriesExhaustedError
from tfstream.fetch.lifetime import ShuttingDownError
from tfstream.fetch.retry import delay, retrying
from tfstream.fetch.stats import Counts, FailedKeys
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError

seconds = st.floats(0, 1e6)


class Script:
    """A call that raises what it is told, one after the other, and then gives `data`."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.attempts = []

    def __call__(self, attempt):
        self.attempts.append(attempt)
        if self.errors:
            raise self.errors.pop(0)
        return "data"


def busy(retry_after=None):
    return TransientError("503 busy", kind="503", retry_after=retry_after)


def tried(script, counts=None, **options):
    return retrying(
        script,
        what="read s3://photos/a.jpg",
        options=ReadOptions(**{"backoff": 0, **options}),
        counts=counts or Counts(),
        path="a.jpg",
    )


@pytest.fixture
def pauses(monkeypatch):
    """The seconds of every wait; none is waited for."""
    waits = []
    monkeypatch.setattr("tfstream.fetch.retry.pause", waits.append)
    return waits


@given(
    attempt=st.integers(1, 5000),
    retry_after=st.none() | seconds,
    backoff=seconds,
    backoff_max=seconds,
)
def test_how_long(attempt, retry_after, backoff, backoff_max):
    """Half to all of `backoff` doubled each time, at least Retry-After, at most backoff_max."""
    options = ReadOptions(backoff=backoff, backoff_max=backoff_max)
    found, longest = delay(attempt, retry_after, options), backoff * 2.0 ** min(attempt - 1, 60)
    least = max(longest / 2, retry_after or 0)
    most = max(longest, retry_after or 0)
    assert min(least, backoff_max) <= found <= min(most, backoff_max)


def test_clients_do_not_come_back_at_once():
    """The delay is jittered."""
    assert len({delay(3, None, ReadOptions()) for _ in range(20)}) > 1


def test_the_first_attempt_succeeds(pauses):
    """What works is asked for once and waits for nothing."""
    script, counts = Script(), Counts()
    assert tried(script, counts) == "data"
    assert [1] == script.attempts
    assert [] == pauses
    assert (1, 0) == (counts.snapshot().requests, counts.snapshot().retries)


def test_a_later_attempt_succeeds(pauses):
    """Each attempt knows its number; requests, repeats and kinds of failure are counted."""
    script, counts = Script(busy(), TransientError("reset", kind="connection"), busy()), Counts()
    assert tried(script, counts) == "data"
    assert [1, 2, 3, 4] == script.attempts
    stats = counts.snapshot()
    assert (4, 3) == (stats.requests, stats.retries)
    once, twice = FailedKeys(["a.jpg"]), FailedKeys(["a.jpg"], total=2)
    assert {"503": twice, "connection": once} == stats.errors


def test_retry_after(pauses):
    """A server's wish is kept, up to `backoff_max`."""
    tried(Script(busy(3.5), busy(1000.0), busy()), backoff_max=20)
    assert [3.5, 20, 0] == pauses


@pytest.mark.parametrize("attempts", [1, 3])
def test_giving_up(pauses, attempts):
    """The error has the number of attempts, the time, the key, and names URL and last cause."""
    last = TransientError("500 of 4,000 bytes", kind="cut body")
    script = Script(*[busy()] * (attempts - 1), last)
    with pytest.raises(RetriesExhaustedError) as error:
        tried(script, attempts=attempts)
    assert attempts == len(script.attempts) == error.value.attempts
    assert attempts - 1 == len(pauses)  # nothing is waited for after the last one
    assert 0 <= error.value.seconds < 60
    assert error.value.path == "a.jpg"
    assert last is error.value.__cause__
    text = str(error.value)
    assert text.startswith(f"read s3://photos/a.jpg: gave up after {attempts} attempts in 0.")
    assert "the last one: 500 of 4,000 bytes" in text


@pytest.mark.parametrize("final", [AccessDeniedError("no"), KeyError("a bug"), MemoryError()])
def test_final_errors(pauses, final):
    """Only a `TransientError` is tried again; all else comes as it is, at once."""
    script = Script(busy(), final)
    with pytest.raises(type(final)) as error:
        tried(script)
    assert error.value is final
    assert [1, 2] == script.attempts


def test_final_errors_are_counted(pauses):
    """A refusal is counted by its class."""
    counts = Counts()
    with pytest.raises(AccessDeniedError):
        tried(Script(AccessDeniedError("no")), counts)
    assert {"AccessDeniedError": FailedKeys(["a.jpg"])} == counts.snapshot().errors


def test_the_end_of_the_process(closing):
    """A wait of an hour ends when the interpreter shuts down, with no further attempt."""
    script, ended, waiting = Script(busy(), busy()), [], threading.Event()

    def call(attempt):
        waiting.set()
        return script(attempt)

    def wait():
        try:
            tried(call, backoff=3600, backoff_max=3600)
        except ShuttingDownError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(20)
    closing.set()
    thread.join(20)
    assert not thread.is_alive()
    assert len(ended) == 1
    assert [1] == script.attempts
