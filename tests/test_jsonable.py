"""Frozen dataclasses to JSON and back, also those that users write and register."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

import tfstream
from tfstream import registry
from tfstream.decoders.base import Decoder
from tfstream.decoders.image import ImageDecoder
from tfstream.errors import SpecError
from tfstream.jsonable import from_plain, to_plain
from tfstream.labels.base import Labels
from tfstream.readers.base import Reader
from tfstream.sources.base import Source
from tfstream.spec import DatasetSpec


@dataclass(frozen=True, kw_only=True)
class Login:
    """A part of a user's source."""

    realm: str
    level: float = 1.0


@tfstream.register_source
@dataclass(frozen=True, kw_only=True)
class TapeSource(Source):
    """A user's source, with a field of every kind."""

    name: ClassVar[str] = "test-tape"
    location: ClassVar[frozenset[str]] = frozenset({"robot"})

    reel: int
    robot: str | None = None
    mode: Literal["slow", "fast"] = "slow"
    sides: tuple[str, ...] = ()
    span: tuple[int, float] = (0, 1.0)
    login: Login | None = None
    notes: Mapping[str, int] | None = None
    extra: Any = None
    size: int | float = 0


@tfstream.register_reader
@dataclass(frozen=True, kw_only=True)
class TapeReader(Reader):
    """A user's reader."""

    name: ClassVar[str] = "test-tape"


@tfstream.register_labels
@dataclass(frozen=True, kw_only=True)
class TapeLabels(Labels):
    """Labels of a user's own."""

    name: ClassVar[str] = "test-tape"


@tfstream.register_decoder
@dataclass(frozen=True, kw_only=True)
class TapeDecoder(Decoder):
    """A user's decoder, which holds another one."""

    name: ClassVar[str] = "test-tape"
    inner: Decoder | None = None


FULL = TapeSource(
    reel=3,
    robot="r2",
    mode="fast",
    sides=("a", "b"),
    span=(1, 2.5),
    login=Login(realm="lab", level=2.0),
    notes={"a": 1},
    extra=[1, {"b": None}],
    size=1.5,
)


@pytest.mark.parametrize("source", [TapeSource(reel=1), FULL])
def test_a_users_classes_go_round(source):
    """A spec of registered classes is JSON like any other."""
    spec = DatasetSpec(
        source=source,
        decoder=TapeDecoder(inner=ImageDecoder(color_mode="rgba")),
        reader=TapeReader(),
        labels=TapeLabels(),
        label_mode="int",
    )
    assert DatasetSpec.from_json(spec.to_json()) == spec


def test_a_users_location_is_not_in_the_digest():
    """What a class declares as location says how to get there."""
    here = DatasetSpec(source=TapeSource(reel=1), decoder=ImageDecoder())
    assert here.replace(source=TapeSource(reel=1, robot="r2")).digest == here.digest
    assert here.replace(source=TapeSource(reel=2)).digest != here.digest


def test_plain_has_the_name_and_every_field():
    """Defaults too; tuples are lists."""
    assert to_plain(TapeSource(reel=1, login=Login(realm="lab"))) == {
        "name": "test-tape",
        "pattern": "**",
        "reel": 1,
        "robot": None,
        "mode": "slow",
        "sides": [],
        "span": [0, 1.0],
        "login": {"realm": "lab", "level": 1.0},
        "notes": None,
        "extra": None,
        "size": 0,
    }


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("reel", "1", "$.reel: expected an integer, got '1'"),
        ("mode", "warp", "$.mode: expected one of 'slow', 'fast', got 'warp'"),
        ("mode", ["slow"], "$.mode: expected one of 'slow', 'fast', got ['slow']"),
        ("sides", ["a", 2], "$.sides[1]: expected a string, got 2"),
        ("span", [1], "$.span: expected 2 values, got 1"),
        ("span", [1, "x"], "$.span[1]: expected a number, got 'x'"),
        ("login", 5, "$.login: expected an object, got 5"),
        ("login", {"realm": 5}, "$.login.realm: expected a string, got 5"),
        ("login", {}, "$.login: the field 'realm' is missing"),
        ("notes", {"a": "b"}, "$.notes.a: expected an integer, got 'b'"),
        ("notes", [1], "$.notes: expected an object, got [1]"),
        ("robot", 7, "$.robot: expected a string, got 7"),
        ("reel", "x" * 500, "$.reel: expected an integer, got '" + "x" * 56 + "..."),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(field, value, message):
    """The place is a path, the message short."""
    plain = {**to_plain(FULL), field: value}
    with pytest.raises(SpecError) as caught:
        from_plain(Source, plain, "$")
    assert str(caught.value) == message


def test_an_integer_is_a_number():
    """JSON of other tools writes 2 for 2.0."""
    login = from_plain(Login, json.loads('{"realm": "lab", "level": 2}'), "$")
    assert login == Login(realm="lab", level=2.0)
    assert type(login.level) is float


def test_registering_again_is_harmless():
    """A module may be imported twice, as notebooks do; the same class is fine."""
    assert tfstream.register_source(TapeSource) is TapeSource
    assert registry.lookup("source", "test-tape") is TapeSource


def test_a_taken_name_is_refused():
    """Two classes of one name would make specs mean two things."""

    @dataclass(frozen=True, kw_only=True)
    class Other(Source):
        name: ClassVar[str] = "s3"

    with pytest.raises(ValueError, match="the source name 's3' is taken by tfstream"):
        tfstream.register_source(Other)


def test_a_class_without_a_name_is_refused():
    """JSON needs a word for it."""
    with pytest.raises(ValueError, match="Login needs a class attribute `name`"):
        tfstream.register_reader(Login)


def test_there_are_four_kinds():
    """Anything else is a mistake."""
    with pytest.raises(ValueError, match="kind is one of"):
        registry.register("cache", TapeSource)


def test_names_are_sorted():
    """For messages; tfstream's own are all there."""
    assert registry.names("reader") == sorted(registry.names("reader"))
    assert {"file", "idx"} <= set(registry.names("reader"))
    for kind in ("source", "reader", "labels", "decoder"):
        for name in registry.names(kind):
            assert registry.lookup(kind, name).name == name
