"""
`unordered`: a function of many items, by threads, and its results as they come.

```
items -> so many threads, each with one item -> a few results -> whoever iterates
```

An item is taken when a thread is free and a result is waited for, so of a million of them only
a few are ever in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from typing import Generic, TypeVar

A = TypeVar("A")
T = TypeVar("T")


def unordered(function: Callable[[A], T], items: Iterable[A], *, threads: int) -> Iterator[T]:
    """
    `function` of every item, in the order in which they are done.

    Closed, or left by an exception, it takes no more items; what is under way ends by itself,
    and the process does not wait for it.

    Errors:
        whatever `function` raises for an item: the iteration ends with it.
    """
    work = _Work(function, iter(items), threads)
    for number in range(threads):
        name = f"tfstream-unordered-{number + 1}"
        Thread(target=work.run, name=name, daemon=True).start()
    try:
        yield from work.results()
    finally:
        work.stop()


class _Work(Generic[A, T]):
    """What the threads share."""

    def __init__(self, function: Callable[[A], T], items: Iterator[A], threads: int) -> None:
        self._function, self._items, self._threads = function, items, threads
        self._taking = Lock()
        self._room = Semaphore(2 * threads)  # each thread has an item, or has left a result
        self._results: SimpleQueue[Future[T] | None] = SimpleQueue()
        self._stopped = Event()

    def run(self) -> None:
        """In each thread: until there are no items, or nobody wants them."""
        while self._room.acquire() and not self._stopped.is_set():
            result: Future[T] = Future()
            try:
                with self._taking:
                    item = next(self._items)
                result.set_result(self._function(item))
            except StopIteration:
                break
            except BaseException as error:  # handed to whoever iterates, whatever it is
                result.set_exception(error)
            self._results.put(result)
        self._results.put(None)

    def results(self) -> Iterator[T]:
        """Until every thread has ended."""
        running = self._threads
        while running:
            result = self._results.get()
            self._room.release()
            if result is None:
                running -= 1
            else:
                yield result.result()

    def stop(self) -> None:
        """Let the threads end."""
        self._stopped.set()
        self._room.release(self._threads)
