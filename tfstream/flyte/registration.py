"""
Which types are passed how, and when Flyte learns of it.

```
import flytekit -> entry point flytekit.plugins    -> plugin -> register_flytekit
first lookup    -> entry point flyte.plugins.types           -> register_flyte
                       tfstream's own types: at once
                       another package's: at the first lookup after that package was imported
```

TensorFlow takes seconds to import, so it is waited for and not imported. Whoever has a type to
look up has imported its package, so no lookup comes too early. Nothing here raises: an error
in a plugin would make `import flytekit` fail for everybody.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from threading import RLock
from typing import Any, NamedTuple

_log = logging.getLogger("tfstream")


class Passed(NamedTuple):
    """
    A type, and who passes it. All three are `module:name`.

    Fields:
        kind: The type. Its subclasses are passed in the same way.
        flytekit: Class of flytekit's TypeTransformer; made with the type as its argument. Empty
            where flytekit has one of its own.
        flyte: The same for flyte 2.
    """

    kind: str
    flytekit: str
    flyte: str


TYPES = (
    Passed(
        "tfstream.spec:DatasetSpec",
        "tfstream.flyte.v1:SpecTransformer",
        "tfstream.flyte.v2:SpecTransformer",
    ),
    Passed(
        "tensorflow:data.Dataset",
        "tfstream.flyte.v1:DatasetTransformer",
        "tfstream.flyte.v2:DatasetTransformer",
    ),
    *(
        Passed(
            kind,
            "tfstream.flyte.blobs_v1:BlobTransformer",
            "tfstream.flyte.blobs_v2:BlobTransformer",
        )
        for kind in (
            "tensorflow:Tensor",
            "tensorflow:RaggedTensor",
            "tensorflow:SparseTensor",
            "tfstream.flyte.checkpoints:TrainingCheckpoint",
        )
    ),
    Passed("keras:Model", "", "tfstream.flyte.blobs_v2:BlobTransformer"),
)


@lru_cache(maxsize=1)
def register_flytekit() -> None:
    """Tell flytekit, which has just been imported."""
    with _only_warning("its types"):
        engine = import_module("flytekit.core.type_engine").TypeEngine
        _Waiting(engine, {each.kind: each.flytekit for each in TYPES if each.flytekit}).begin()


@lru_cache(maxsize=1)
def register_flyte() -> None:
    """Tell flyte 2. It holds a lock meanwhile, so nothing may be looked up here."""
    with _only_warning("its types"):
        engine = import_module("flyte.types").TypeEngine
        _Waiting(engine, {each.kind: each.flyte for each in TYPES}).begin()


class _Waiting:
    """The types that one SDK does not know yet, with their transformers."""

    def __init__(self, engine: Any, left: dict[str, str]) -> None:
        self._engine = engine
        self._left = left
        self._lock = RLock()
        self._before = engine.lazy_import_transformers

    def begin(self) -> None:
        """Both SDKs call this method of theirs before every lookup."""
        with _only_warning("DatasetSpec in dataclasses"):
            import_module("tfstream.flyte.nested").register()
        self._engine.lazy_import_transformers = staticmethod(self._before_lookup)
        self._register_what_is_there()

    def _before_lookup(self) -> None:
        self._before()
        if self._left:
            self._register_what_is_there()

    def _register_what_is_there(self) -> None:
        with self._lock:  # another thread's lookup waits
            for kind, transformer in list(self._left.items()):
                with _only_warning(kind):
                    found = _if_there(kind)
                    if found is None:
                        continue
                    self._engine.register(_object(transformer)(found))
                del self._left[kind]


def _if_there(kind: str) -> Any | None:
    """The type, if its package has been imported; tfstream's own are light and can be now."""
    home, _, name = kind.partition(":")
    if home.startswith("tfstream."):
        return _object(kind)
    try:
        return attrgetter(name)(sys.modules[home])
    except (KeyError, AttributeError):  # not imported, or not yet wholly
        return None


def _object(path: str) -> Any:
    home, _, name = path.partition(":")
    return getattr(import_module(home), name)


@contextmanager
def _only_warning(what: str) -> Iterator[None]:
    """Whatever is raised inside: the import of somebody else's package must go on."""
    try:
        yield
    except Exception as error:
        _log.warning("tfstream cannot register %s with Flyte: %s", what, error)
