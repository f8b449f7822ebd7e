"""`DatasetSpec`: its JSON goes round, its digest is what the data is, strangers get errors."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfstream import (
    AzureSource,
    DatasetSpec,
    DirectoryLabels,
    FsspecSource,
    GCSSource,
    IdxReader,
    ImageDecoder,
    LakeFSSource,
    LocalSource,
    RawDecoder,
    S3Source,
    SpecError,
    registry,
)
from tfstream.decoders.base import Decoder
from tfstream.labels.base import Labels
from tfstream.labels.given import ListLabels, MappingLabels
from tfstream.labels.idx import IdxLabels
from tfstream.labels.metadata import MetadataLabels
from tfstream.labels.regex import RegexLabels
from tfstream.labels.table import TableLabels
from tfstream.readers.base import Reader
from tfstream.readers.file import FileReader
from tfstream.sources.base import Source
from tfstream.spec import Order, Position, Resize, Shard

FIXTURE = Path(__file__).parent / "data" / "spec_v1.json"
LAKEFS = LakeFSSource(repository="photos", ref="main", commit="3f" * 32, pattern="train/**/*.jpg")
SPEC = DatasetSpec(
    source=LAKEFS,
    decoder=ImageDecoder(),
    manifest="sha256:" + "0a" * 32,
    records=713,
    labels=DirectoryLabels(),
    label_mode="int",
    class_names=("dress", "hat"),
    resize=Resize(image_size=(224, 224)),
    order=Order(seed=7, validation_split=0.1, subset="training"),
)

text = st.text(max_size=8)
names = st.from_regex(r"[a-z][a-z0-9]{2,8}", fullmatch=True)
endpoints = st.none() | st.just("http://127.0.0.1:9000")
commits = st.none() | st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
sources = st.one_of(
    st.builds(LocalSource, root=names, pattern=text, follow_links=st.booleans()),
    st.builds(
        LakeFSSource, repository=names, ref=names, commit=commits, pattern=text, endpoint=endpoints
    ),
    st.builds(
        LakeFSSource, repository=names, ref=names, since_ref=st.none() | names, since=commits
    ),
    st.builds(S3Source, bucket=names, region=st.none() | names, anonymous=st.booleans()),
    st.builds(GCSSource, bucket=names, pattern=text),
    st.builds(AzureSource, account=names, container=names, endpoint=endpoints),
    st.builds(FsspecSource, root=st.just("memory://photos"), pattern=text),
)
decoders = st.one_of(
    st.builds(
        ImageDecoder,
        color_mode=st.sampled_from(["rgb", "grayscale"]),
        orientation=st.sampled_from(["ignore", "apply"]),
        alpha=st.sampled_from(["drop", "white", "#0a0b0C"]),
        dtype=st.sampled_from(["uint8", "uint16"]),
        scaled=st.sampled_from(["auto", "off"]),
        max_pixels=st.integers(min_value=1),
    ),
    st.builds(
        RawDecoder,
        dtype=st.sampled_from(["uint8", "float32"]),
        shape=st.lists(st.integers(0, 9), max_size=4).map(tuple),
        little_endian=st.booleans(),
    ),
)
value_kinds = st.sampled_from(["auto", "class", "number"])
labels = st.one_of(
    st.just(DirectoryLabels()),
    st.just(IdxLabels()),
    st.builds(ListLabels, values=st.lists(st.integers(), max_size=4).map(tuple)),
    st.builds(MappingLabels, values=st.dictionaries(text, st.integers(), max_size=3)),
    st.builds(MetadataLabels, names, kind=value_kinds),
    st.builds(RegexLabels, st.sampled_from([r"(\d+)", r"(?P<label>.)"]), kind=value_kinds),
    st.builds(
        TableLabels,
        names.map(lambda name: f"{name}.csv"),
        key=names,
        label=names | st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
        extra=st.sampled_from(["error", "ignore"]),
        kind=value_kinds,
    ),
)
labelled = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {
            "labels": labels,
            "label_mode": st.just("int"),
            "class_names": st.none() | st.lists(text, max_size=3).map(tuple),
        }
    ),
    st.fixed_dictionaries(
        {
            "labels": labels,
            "label_mode": st.sampled_from(["categorical", "binary", "multi_hot"]),
            "class_names": st.lists(text, min_size=2, max_size=2).map(tuple),
        }
    ),
)
split = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {
            "validation_split": st.floats(min_value=0.001, max_value=0.999),
            "subset": st.sampled_from(["training", "validation"]),
        }
    ),
)
orders = st.builds(
    lambda parts, **rest: Order(**parts, **rest),
    split,
    shuffle=st.booleans(),
    seed=st.integers(),
    shuffle_split=st.booleans(),
    window_bytes=st.integers(min_value=1),
)
side = st.integers(min_value=1, max_value=10_000)
resizes = st.builds(
    Resize,
    image_size=st.tuples(side, side),
    interpolation=st.sampled_from(["bilinear", "nearest", "lanczos5"]),
    crop_to_aspect_ratio=st.booleans(),
)
shards = st.integers(1, 9).flatmap(
    lambda n: st.builds(
        Shard,
        num_shards=st.just(n),
        index=st.integers(0, n - 1),
        remainder=st.sampled_from(["uneven", "drop", "pad"]),
    )
)
policies = st.one_of(
    st.fixed_dictionaries({"on_error": st.sampled_from(["raise", "skip", "substitute"])}),
    st.fixed_dictionaries(
        {
            "on_error": st.sampled_from(["skip", "substitute"]),
            "max_errors": st.integers(min_value=1) | st.floats(0.001, 0.999),
        }
    ),
)
positions = st.builds(Position, epoch=st.integers(0, 2**31 - 1), record=st.integers(min_value=0))
specs = st.builds(
    lambda given_labels, policy, **rest: DatasetSpec(**given_labels, **policy, **rest),
    labelled,
    policies,
    source=sources,
    decoder=decoders,
    manifest=st.none() | text,
    records=st.none() | st.integers(min_value=0),
    ignore=st.lists(text, max_size=3).map(tuple),
    keys=st.none() | names | st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
    reader=st.sampled_from([FileReader(), IdxReader()]),
    resize=st.none() | resizes,
    data_format=st.sampled_from(["channels_last", "channels_first"]),
    dtype=st.none() | st.sampled_from(["float16", "uint8"]),
    batch_size=st.none() | st.integers(min_value=1),
    order=orders,
    shard=st.none() | shards,
    start=st.none() | positions,
)


@settings(max_examples=200, deadline=None)
@given(spec=specs)
def test_json_goes_round(spec):
    """`from_json(to_json(x)) == x` for every field, and the text is the same again."""
    again = DatasetSpec.from_json(spec.to_json())
    assert again == spec
    assert again.to_json() == spec.to_json()
    assert again.digest == spec.digest


@settings(max_examples=50, deadline=None)
@given(spec=specs)
def test_json_is_canonical(spec):
    """One line of ASCII, sorted keys, no blanks between, every field written out but `later`."""
    found = spec.to_json()
    plain = json.loads(found)
    assert found == json.dumps(plain, sort_keys=True, separators=(",", ":"))
    empty = {name for name in spec.later if getattr(spec, name) is None}
    assert set(plain) == {"tfstream", *(field.name for field in fields(spec))} - empty


def test_defaults_are_written_out():
    """Another version's other default changes no old spec."""
    assert json.loads(SPEC.to_json())["order"] == {
        "seed": 7,
        "shuffle": True,
        "shuffle_split": True,
        "subset": "training",
        "validation_split": 0.1,
        "window_bytes": 134217728,
    }


def test_a_spec_of_version_1_can_be_read_for_ever():
    """
    The kept file gives the spec that it was written from; its digest stands in manifests.

    Fields that came later (`keys`, `since`) change neither where they are not used.
    """
    assert DatasetSpec.from_json(FIXTURE.read_text()) == SPEC
    assert FIXTURE.read_text() == SPEC.to_json() + "\n"
    assert SPEC.digest == DIGEST


@pytest.mark.parametrize(
    "changes",
    [
        {
            "source": LakeFSSource(
                repository="photos",
                ref="v2",
                commit="3f" * 32,
                pattern="train/**/*.jpg",
                endpoint="http://127.0.0.1:8000",
                since_ref="v1",
            )
        },
        {"shard": Shard(num_shards=4, index=1)},
        {"start": Position(epoch=3, record=64)},
        {"on_error": "skip", "max_errors": 7},
    ],
)
def test_the_digest_ignores_where_and_who(changes):
    """Endpoint, ref, shard, start and max_errors say nothing about what the data is."""
    policy = changes.get("on_error", "raise")
    assert SPEC.replace(**changes).digest == SPEC.replace(on_error=policy).digest
    assert SPEC.replace(**changes) != SPEC.replace(on_error=policy)


def test_the_digest_ignores_endpoint_and_region():
    """Of S3 too: the same bucket by another way."""
    here = SPEC.replace(source=S3Source(bucket="photos"))
    there = SPEC.replace(
        source=S3Source(bucket="photos", endpoint="http://127.0.0.1:9000", region="eu-west-1")
    )
    assert here.digest == there.digest


@pytest.mark.parametrize(
    "changes",
    [
        {
            "source": LakeFSSource(
                repository="other", ref="main", commit="3f" * 32, pattern="train/**/*.jpg"
            )
        },
        {
            "source": LakeFSSource(
                repository="photos", ref="main", commit="3e" * 32, pattern="train/**/*.jpg"
            )
        },
        {"source": LakeFSSource(repository="photos", ref="main", commit="3f" * 32)},
        {
            "source": LakeFSSource(
                repository="photos",
                ref="main",
                commit="3f" * 32,
                pattern="train/**/*.jpg",
                since="3e" * 32,
            )
        },
        {"decoder": ImageDecoder(color_mode="grayscale")},
        {"manifest": "sha256:" + "0b" * 32},
        {"records": 712},
        {"ignore": ("x",)},
        {"keys": ("train/b.jpg", "train/a.jpg")},
        {"keys": "train.txt"},
        {"reader": IdxReader()},
        {"labels": IdxLabels()},
        {"label_mode": "categorical"},
        {"class_names": ("hat", "dress")},
        {"resize": None},
        {"data_format": "channels_first"},
        {"dtype": "float16"},
        {"batch_size": None},
        {"on_error": "skip"},
        {"on_error": "substitute"},
        {"order": Order(seed=8, validation_split=0.1, subset="training")},
        {"order": Order(seed=7, validation_split=0.1, subset="validation")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_the_digest_covers_everything_else(changes):
    """Another source, labels, order or decoding is another dataset."""
    assert SPEC.replace(**changes).digest != SPEC.digest


def changed(**changes: Any) -> str:
    """The fixture's text with other values at dotted places."""
    plain = json.loads(SPEC.to_json())
    for place, value in changes.items():
        *above, name = place.split("__")
        inner = plain
        for each in above:
            inner = inner[each]
        if value is ...:
            del inner[name]
        else:
            inner[name] = value
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("wrong", "where", "words"),
    [
        (changed(colour="red"), "$", "unknown field 'colour'; a newer tfstream may know it"),
        (changed(order__shape=1), "$.order", "unknown field 'shape'"),
        (changed(source__secret="x"), "$.source", "unknown field 'secret'"),
        (changed(tfstream=2), "$.tfstream", "written by a newer tfstream; this one reads up to 1"),
        (changed(tfstream=...), "$.tfstream", "expected the version, 1 to 1, got None"),
        (changed(tfstream=0), "$.tfstream", "got 0"),
        (changed(tfstream=True), "$.tfstream", "got True"),
        (changed(tfstream="1"), "$.tfstream", "got '1'"),
        (changed(order__seed="7"), "$.order.seed", "expected an integer, got '7'"),
        (changed(order__seed=True), "$.order.seed", "expected an integer, got True"),
        (changed(order__seed=1.0), "$.order.seed", "expected an integer, got 1.0"),
        (changed(order__shuffle=1), "$.order.shuffle", "expected true or false, got 1"),
        (changed(order__subset="test"), "$.order.subset", "expected one of 'training', 'val"),
        (changed(order__validation_split=None), "$.order", "go together"),
        (changed(order__validation_split=7), "$.order.validation_split", "between 0 and 1"),
        (changed(order=[]), "$.order", "expected an object, got []"),
        (changed(batch_size=0), "$.batch_size", "must be positive"),
        (changed(on_error="ignore"), "$.on_error", "expected one of 'raise', 'skip', 'substitute'"),
        (changed(on_error=None), "$.on_error", "expected one of"),
        (changed(max_errors=1), "$.max_errors", "goes with on_error skip or substitute"),
        (changed(on_error="skip", max_errors=0), "$.max_errors", "an integer of at least 1 or"),
        (changed(on_error="skip", max_errors=1.0), "$.max_errors", "a fraction between 0 and 1"),
        (changed(on_error="skip", max_errors=True), "$.max_errors", "expected an integer"),
        (changed(on_error="skip", max_errors="1"), "$.max_errors", "got '1'"),
        (changed(class_names="dress"), "$.class_names", "expected a list, got 'dress'"),
        (changed(class_names=["a", 1]), "$.class_names[1]", "expected a string, got 1"),
        (changed(resize__image_size=[224]), "$.resize.image_size", "expected 2 values, got 1"),
        (changed(resize__image_size=[0, 1]), "$.resize.image_size", "2 positive integers"),
        (changed(source=...), "$", "the field 'source' is missing"),
        (changed(source__repository=...), "$.source", "the field 'repository' is missing"),
        (changed(source__commit="main"), "$.source", "64 hex digits"),
        (changed(source__since="v1"), "$.source", "since is an id of 64 hex digits, got 'v1'"),
        (changed(source__since_ref="v1$"), "$.source", "give 'v1'"),
        (changed(keys=7), "$.keys", "expected a list, got 7"),
        (changed(keys=["a", 7]), "$.keys[1]", "expected a string"),
        (changed(keys=["a", "b", "a"]), "$.keys", "Received twice: 'a'"),
        (changed(keys=[]), "$.keys", "must be a list of keys"),
        (changed(keys=""), "$.keys", "must be a list of keys"),
        (changed(keys=[str(n) for n in range(10_001)]), "$.keys", "10,001 entries"),
        (changed(source__name="ftp"), "$.source", "no source is called 'ftp'; known: azure, "),
        (changed(source__name=...), "$.source", "no source is called None"),
        (changed(decoder__name="file"), "$.decoder", "no decoder is called 'file'"),
        (changed(label_mode=None), "$.label_mode", "go together"),
        (changed(label_mode="categorical", class_names=None), "$.class_names", "need class_names"),
        (changed(label_mode="binary", class_names=["a"]), "$.class_names", "of 2 classes, not 1"),
        (changed(label_mode="multi_hot", class_names=None), "$.class_names", "need class_names"),
        (changed(label_mode="float", class_names=["a"]), "$.class_names", "have no class_names"),
        (changed(shard={"num_shards": 2, "index": 2}), "$.shard", "below num_shards = 2"),
        (changed(start={"epoch": -1}), "$.start", "at least 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(wrong, where, words):
    """An unknown field, a newer version, a wrong type or a missing field is never ignored."""
    with pytest.raises(SpecError) as caught:
        DatasetSpec.from_json(wrong)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "null",
        "7",
        "[]",
        '"text"',
        "{",
        "\0",
        SPEC.to_json()[:-1],
        SPEC.to_json().replace('"seed":7', '"seed":7,"seed":8'),
        SPEC.to_json().replace('"seed":7', '"seed":NaN'),
        SPEC.to_json().replace("0.1", "Infinity"),
        SPEC.to_json().replace("0.1", "1e999"),
        SPEC.to_json().replace('"seed":7', '"seed":' + "9" * 5000),
        changed(order__seed=[[]]),
        changed(ignore=[{}]),
        changed(class_names={"a": 1}),
        changed(labels={"name": ["list"]}),
        changed(labels={"name": "list", "values": 5}),
        changed(labels={"name": "mapping", "values": {"a": "b"}}),
        changed(labels={"name": "list", "values": [0] * 10_001}),
        *("[" * depth + "]" * depth for depth in (500, 990, 100_000)),
        *(
            SPEC.to_json().replace('"seed":7', '"seed":' + "[" * depth + "]" * depth)
            for depth in (500, 900, 950, 980, 100_000)
        ),
        *(
            SPEC.to_json().replace('"seed":7', '"seed":' + '{"a":' * n + "1" + "}" * n)
            for n in (500, 900, 980)
        ),
    ],
    ids=range(31),
)
def test_hostile_text_is_a_spec_error_and_nothing_else(hostile):
    """Whatever the text is, the error is SpecError, of a message that fits a screen."""
    with pytest.raises(SpecError) as caught:
        DatasetSpec.from_json(hostile)
    assert len(str(caught.value)) < 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_other_value_is_a_spec_or_a_spec_error(data):
    """Any JSON in any place is refused with SpecError, or is a spec that goes round."""
    plain = json.loads(SPEC.to_json())
    inner = data.draw(st.sampled_from([plain, plain["order"], plain["source"], plain["resize"]]))
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(json_values)
    try:
        spec = DatasetSpec.from_json(json.dumps(plain))
    except SpecError:
        return
    assert DatasetSpec.from_json(spec.to_json()) == spec


def test_a_name_that_is_not_registered_loads_no_code():
    """JSON is no way to import a module."""
    assert "antigravity" not in sys.modules
    for name in ("antigravity", "antigravity:geohash", "os.system", "tfstream.api:load"):
        with pytest.raises(SpecError, match="no source is called"):
            DatasetSpec.from_json(changed(source__name=name))
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("base", [Source, Decoder, Reader, Labels], ids=lambda it: it.__name__)
def test_base_classes_are_refused(base):
    """They say nothing of where or how; the error names the kinds that do."""
    name = base.__name__.lower()
    kinds = ", ".join(registry.names(name))
    with pytest.raises(SpecError) as caught:
        SPEC.replace(**{name: base()})
    assert f"$.{name}" == caught.value.where
    assert f"pass one of the kinds of {base.__name__} ({kinds}), not" in str(caught.value)


def test_replace_changes_and_checks():
    """`replace` gives another spec; unknown fields and impossible values are SpecErrors."""
    assert SPEC.replace(batch_size=8).batch_size == 8
    assert SPEC.batch_size == 32
    with pytest.raises(SpecError, match="unknown field 'batchsize'"):
        SPEC.replace(batchsize=8)
    with pytest.raises(SpecError, match="must be positive"):
        SPEC.replace(batch_size=0)


def test_specs_cannot_be_changed():
    """They are frozen, and equal when their fields are."""
    with pytest.raises(AttributeError):
        SPEC.batch_size = 8
    assert SPEC.replace() == SPEC
    assert hash(SPEC.replace()) == hash(SPEC)


DIGEST = "sha256:d6fd8317d0b1526ad227355c2b9062e7549c3dff3b1f000b5a517599da1727bd"
