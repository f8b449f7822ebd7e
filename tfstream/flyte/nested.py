"""
A `DatasetSpec` as a field of a user's dataclass: encoded as it is outside of one.

Both SDKs encode dataclasses with mashumaro, which sees a spec as a plain dataclass and would
lose which source, reader and decoder it has.
"""

from __future__ import annotations

from tfstream.flyte.content import of_spec, spec_in
from tfstream.spec import DatasetSpec


def register() -> None:
    """Tell mashumaro, in the dialect that both SDKs use."""
    from mashumaro.mixins.msgpack import MessagePackDialect

    known = MessagePackDialect.serialization_strategy
    ours = {"serialize": of_spec, "deserialize": spec_in}
    MessagePackDialect.serialization_strategy = {**known, DatasetSpec: ours}
