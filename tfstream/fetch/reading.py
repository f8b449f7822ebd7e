"""`Reading`: a store with threads, limits and counters: how one dataset reads here."""

from __future__ import annotations

import time

from tfstream.fetch.budget import process_budget
from tfstream.fetch.retry import retrying
from tfstream.fetch.stats import Counts
from tfstream.fetch.workers import Workers
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, ObjectInfo, Source, Store


class Reading:
    """
    An open store and the way to read from it.

    Attributes:
        source: What `store` is open on.
        workers: The dataset's threads.
        counts: Its numbers.
    """

    def __init__(
        self,
        source: Source,
        store: Store,
        options: ReadOptions,
        counts: Counts,
        credentials: Credentials | None = None,
    ) -> None:
        self.source = source
        self._credentials = credentials
        self.store = store
        self.options = options
        self.counts = counts
        self.workers = Workers(options.max_in_flight)
        process_budget().grow(options.budget_bytes)

    def with_options(self, options: ReadOptions) -> Reading:
        """The same, read in another way. Timeouts belong to a connection, so it is a new one."""
        store = self.source.open(self._credentials, options) if self.source.remote else self.store
        return Reading(self.source, store, options, self.counts, self._credentials)

    def get(self, info: ObjectInfo, span: tuple[int, int] | None = None) -> bytes:
        """
        An object, with retries: all of it, or what lies between two places.

        Errors:
            SourceError: final, or after the last attempt.
        """
        asked = time.monotonic()

        def read(attempt: int) -> bytes:
            if span is None:
                return self.store.get(info, attempt=attempt)
            start, end = span
            return self.store.get_range(info, start=start, length=end - start, attempt=attempt)

        data = retrying(
            read,
            what=f"read {self.source.url(info.path)}",
            options=self.options,
            counts=self.counts,
            path=info.path,
        )
        self.counts.read(size=len(data), seconds=time.monotonic() - asked)
        return data

    def get_range(self, info: ObjectInfo, *, start: int, length: int) -> bytes:
        """Some bytes of an object, with retries; fewer only at its end."""
        return retrying(
            lambda attempt: self.store.get_range(info, start=start, length=length, attempt=attempt),
            what=f"read {self.source.url(info.path)}",
            options=self.options,
            counts=self.counts,
            path=info.path,
        )

    def get_start(self, info: ObjectInfo, length: int) -> bytes:
        """The first bytes of an object, with retries."""
        return self.get_range(info, start=0, length=length)
