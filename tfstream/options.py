"""`ReadOptions`: how to stream here. Never part of what is streamed, so never in a spec."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """
    How this process reads: limits, timeouts and retries. Changes no example.

    ```python
    tfstream.from_s3("photos", options=tfstream.ReadOptions(max_in_flight=128))
    ```

    Attributes:
        max_in_flight: Requests of one dataset that are under way at the same time. 64 fills
            a link of 30 ms delay with 2,100 objects/s, more than two cores can decode.
        budget_bytes: Bytes that may be in flight. The process has one budget: the largest
            that any of its datasets asks for. It bounds the memory that reading takes.
        connect_timeout: Seconds to wait for a connection.
        read_timeout: Seconds to wait for one whole response.
        attempts: How often one request is tried in all.
        backoff: Seconds before the second attempt; doubled for each further one, and
            multiplied by a random factor between 0.5 and 1.
        backoff_max: The most seconds before any attempt, also where a server's `Retry-After`
            asks for more.
    """

    max_in_flight: int = 64
    budget_bytes: int = 256 * 1024 * 1024
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    attempts: int = 5
    backoff: float = 0.2
    backoff_max: float = 10.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.type == "int"
            kinds = int if whole else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise ValueError(f"ReadOptions.{field.name} is a number, got {value!r}")
            zero = field.name.startswith("backoff")
            if not (value > 0 or (zero and value == 0)) or value == float("inf"):
                least = "not negative" if zero else "positive"
                raise ValueError(f"ReadOptions.{field.name} is finite and {least}, got {value!r}")
