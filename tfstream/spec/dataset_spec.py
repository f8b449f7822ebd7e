"""
`DatasetSpec`: what to stream, and nothing about how.

Frozen, comparable and JSON, with a version; pinned to a commit or to the digest of a listing;
no credentials, no threads, no bytes. Two equal specs give equal examples on any machine.

```json
{"tfstream": 1, "source": {"name": "lakefs", "repository": "photos", "commit": "3f2a…", …},
 "manifest": "sha256:…", "records": 713, "reader": {"name": "file"}, …}
```
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, cast

from tfstream import registry
from tfstream.checks import check_keys
from tfstream.decoders.base import Decoder
from tfstream.errors import SpecError
from tfstream.jsonable import from_plain, parsed, to_plain
from tfstream.labels.base import Labels
from tfstream.readers.base import Reader
from tfstream.readers.file import FileReader
from tfstream.sources.base import Source
from tfstream.spec.parts import LIMIT, LabelForm, OnError, Order, Position, Resize, Shard, is_limit

VERSION = 1
"""Of the JSON. A change of meaning raises it and adds an upgrade function to `_UPGRADES`."""

_UPGRADES: dict[int, Any] = {}
_NO_DATA = ("max_errors", "shard", "start")
"""Fields beside the source's own `location` that do not change what the data is."""
_BASES = {"source": Source, "decoder": Decoder, "reader": Reader, "labels": Labels}
"""What a field holds one kind of, never itself."""


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """
    What to stream. Made by `tfstream.from_lakefs` and the like: `dataset.spec`.

    ```python
    text = dataset.spec.to_json()
    again = tfstream.load(tfstream.DatasetSpec.from_json(text))     # on any machine
    ```

    Attributes:
        source: Where the objects are, and which.
        manifest: Digest of the pinned listing, `sha256:` and 64 hex digits.
        records: How many the pinned listing has, before any split.
        ignore: Patterns of keys to leave out.
        keys: Exactly which objects, in their order, or the key of an object that lists them;
            None for all.
        reader: How objects become records.
        labels: Where labels come from; None for none.
        label_mode: Their form: as in Keras; `float` for numbers to predict, `multi_hot` for
            vectors of 0 and 1, one place a class; None for none.
        class_names: In label order.
        decoder: How bytes become tensors.
        resize: None keeps every record's own size.
        data_format: `channels_last` or `channels_first`.
        dtype: To cast examples to; None leaves what decoding and resizing give.
        batch_size: Of what the dataset yields; None for single examples.
        on_error: What becomes of a record that cannot be decoded, as in `tfstream.Arguments`.
        max_errors: How many such records an epoch may have, or which fraction; None for any.
        order: Split, shuffle and seed.
        shard: This worker's part, or None.
        start: Where to enter, or None.
    """

    later: ClassVar[frozenset[str]] = frozenset({"keys"})

    source: Source
    decoder: Decoder
    manifest: str | None = None
    records: int | None = None
    ignore: tuple[str, ...] = ()
    reader: Reader = field(default_factory=FileReader)
    labels: Labels | None = None
    label_mode: LabelForm | None = None
    class_names: tuple[str, ...] | None = None
    resize: Resize | None = None
    data_format: Literal["channels_last", "channels_first"] = "channels_last"
    dtype: str | None = None
    batch_size: int | None = 32
    on_error: OnError = "raise"
    max_errors: int | float | None = None
    order: Order = field(default_factory=Order)
    shard: Shard | None = None
    start: Position | None = None
    keys: tuple[str, ...] | str | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        if self.batch_size is not None and self.batch_size < 1:
            raise SpecError(f"must be positive, got {self.batch_size}", where="$.batch_size")
        if (self.labels is None) != (self.label_mode is None):
            raise SpecError("labels and label_mode go together", where="$.label_mode")
        self._check_classes()
        self._check_keys()
        if self.max_errors is not None and not is_limit(self.max_errors):
            raise SpecError(f"{LIMIT}, got {self.max_errors!r}", where="$.max_errors")
        if self.max_errors is not None and self.on_error == "raise":
            raise SpecError("goes with on_error skip or substitute", where="$.max_errors")

    def _check_kinds(self) -> None:
        """A base class says nothing of where objects are or how they are read."""
        for name, base in _BASES.items():
            if type(getattr(self, name)) is base:
                kinds = ", ".join(registry.names(cast(registry.Kind, name)))
                raise SpecError(
                    f"pass one of the kinds of {base.__name__} ({kinds}), not {base.__name__} "
                    "itself, which is also what is left where JSON was read as a plain dataclass: "
                    "DatasetSpec.from_json reads it",
                    where=f"$.{name}",
                )

    def _check_classes(self) -> None:
        """Vectors of classes are as long as there are classes."""
        count = len(self.class_names or ())
        if self.label_mode == "binary" and count != 2:
            raise SpecError(f"binary labels are of 2 classes, not {count}", where="$.class_names")
        if self.label_mode in ("categorical", "multi_hot") and not count:
            raise SpecError(f"{self.label_mode} labels need class_names", where="$.class_names")
        if self.label_mode == "float" and self.class_names is not None:
            raise SpecError("float labels have no class_names", where="$.class_names")

    def _check_keys(self) -> None:
        try:
            check_keys(self.keys)
        except ValueError as error:
            raise SpecError(str(error), where="$.keys") from None

    def to_json(self) -> str:
        """One line of JSON with sorted keys: equal specs give equal texts."""
        return _canonical({"tfstream": VERSION, **to_plain(self)})

    @classmethod
    def from_json(cls, text: str) -> DatasetSpec:
        """
        The spec that `to_json` wrote, here or on another machine.

        Errors:
            SpecError: not JSON, a newer version, an unknown field or a wrong type; `where`
                says which, such as `$.order.seed`.
        """
        plain = parsed(text)
        spec: DatasetSpec = from_plain(cls, _upgraded(plain), "$")
        return spec

    @property
    def digest(self) -> str:
        """
        `sha256:…` of what the data is: not of endpoint, region, ref, shard, start or max_errors.

        Two specs with the same digest give the same examples.
        """
        plain = to_plain(self)
        for name in _NO_DATA:
            del plain[name]
        for name in self.source.location:
            plain["source"].pop(name, None)
        text = _canonical({"tfstream": VERSION, **plain})
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def replace(self, **changes: Any) -> DatasetSpec:
        """
        The same spec with other fields.

        Errors:
            SpecError: no such field, or a value that cannot be.
        """
        unknown = sorted(changes.keys() - {each.name for each in fields(self)})
        if unknown:
            raise SpecError(f"unknown field {unknown[0]!r}", where="$")
        return replace(self, **changes)


def _canonical(plain: dict[str, Any]) -> str:
    return json.dumps(plain, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    plain = dict(plain)
    version = plain.pop("tfstream", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SpecError(
            f"expected the version, 1 to {VERSION}, got {version!r}", where="$.tfstream"
        )
    if version > VERSION:
        raise SpecError(
            f"version {version} was written by a newer tfstream; this one reads up to {VERSION}",
            where="$.tfstream",
        )
    for older in range(version, VERSION):
        plain = _UPGRADES[older](plain)
    return plain
