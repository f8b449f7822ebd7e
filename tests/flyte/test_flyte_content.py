"""What a literal holds: canonical bytes, and nothing that is not understood."""

import json

import msgpack
import pytest

from tfstream import DatasetSpec, ImageDecoder, LocalSource, NotPortableError, SpecError
from tfstream.flyte.content import KEY, form_of, from_struct, of_spec, packed, spec_in, unpacked
from tfstream.spec import Order

SPEC = DatasetSpec(
    source=LocalSource(root="photos"),
    decoder=ImageDecoder(),
    records=3,
    order=Order(seed=7, validation_split=0.5, subset="training"),
)


def doubles(value):
    """As a protobuf Struct gives it back."""
    if isinstance(value, dict):
        return {key: doubles(part) for key, part in value.items()}
    if isinstance(value, list):
        return [doubles(part) for part in value]
    return float(value) if type(value) is int else value


def test_equal_specs_are_equal_bytes():
    """Whatever the order of the keys in the JSON that a spec came from."""
    mixed = json.dumps(dict(reversed(of_spec(SPEC).items())))
    assert packed(of_spec(SPEC)) == packed(of_spec(DatasetSpec.from_json(mixed)))


def test_another_spec_is_other_bytes():
    """Flyte's cache, which compares bytes, tells them apart."""
    assert packed(of_spec(SPEC)) != packed(of_spec(SPEC.replace(batch_size=16)))


def test_bytes_bring_the_spec_back():
    """Packed and unpacked it is the same spec."""
    assert SPEC == spec_in(unpacked(packed(of_spec(SPEC))))


def test_integers_come_back_from_a_struct():
    """The console's form sends doubles: integers are integers again, fractions stay."""
    again = spec_in(from_struct(doubles(of_spec(SPEC))))
    assert SPEC == again
    assert SPEC.to_json() == again.to_json()


def test_a_struct_does_not_change_a_seed():
    """An integer that no double holds exactly is refused, not rounded."""
    plain = doubles(of_spec(SPEC.replace(order=Order(seed=2**60 + 1))))
    with pytest.raises(SpecError, match="1152921504606846976 came as a double"):
        from_struct(plain)


def test_a_seed_that_msgpack_has_not():
    """Over 64 bits is an error of ours that names the place."""
    with pytest.raises(SpecError, match=r"\$\.order\.seed: .* at most 64 bits"):
        packed(of_spec(SPEC.replace(order=Order(seed=2**70))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"tfstream": 2}, "version 2 was written by a newer tfstream"),
    ],
)
def test_what_is_not_understood_is_refused(change, message):
    """A field or version of a newer tfstream is an error: the dataset would be another one."""
    with pytest.raises(SpecError, match=message):
        spec_in({**of_spec(SPEC), **change})


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01", msgpack.packb([1])])
def test_other_bytes_are_refused(data):
    """What is no msgpack map is a SpecError."""
    with pytest.raises(SpecError):
        unpacked(data)


def test_a_graph_is_no_spec():
    """Where a spec is expected, a graph is refused by that name, with the way out."""
    with pytest.raises(
        NotPortableError, match=r"the 'graph' of .*: annotate the input as tf\.data"
    ):
        spec_in({KEY: 1, "form": "graph", "graph": b""})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({KEY: 2, "form": "graph"}, "version 2 was written by a newer"),
        ({KEY: 1, "form": "film"}, "unknown form 'film'"),
        ({KEY: 1, "form": "graph", "more": 1}, "unknown field 'more'"),
    ],
)
def test_newer_contents_are_refused(content, message):
    """Versions, forms and fields that this tfstream does not know are errors."""
    with pytest.raises(SpecError, match=message):
        form_of(content)


def test_forms_are_frozen():
    """They are on the wire, so their names never change."""
    forms = ["graph", "save", "snapshot"]
    assert forms == [form_of({KEY: 1, "form": form}) for form in forms]
    assert "spec" == form_of(of_spec(SPEC))
