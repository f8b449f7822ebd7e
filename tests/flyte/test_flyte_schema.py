"""The JSON schema: what the console's form asks for."""

from dataclasses import fields

from tfstream import DatasetSpec
from tfstream.flyte.schema import attributes, json_schema


def leaves(value):
    """Everything in it that is neither a dict nor a list."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def test_every_field_is_in_it():
    """In the fields' order, after the version."""
    names = [each.name for each in fields(DatasetSpec)]
    assert ["tfstream", *names] == list(json_schema()["properties"])
    assert names == list(attributes())


def test_it_is_of_texts():
    """A protobuf Struct would make doubles of numbers, and the schema another one."""
    assert {str} == {type(leaf) for leaf in leaves(json_schema())}


def test_kinds_are_known_by_name():
    """Of a source, the schema asks for the name only: it decides about the other fields."""
    assert ["name"] == json_schema()["properties"]["source"]["required"]


def test_fields_have_the_types_that_tasks_take():
    """Attribute access gives an int, a text, a list of texts or a dict."""
    some = {
        name: attributes()[name] for name in ("batch_size", "manifest", "class_names", "source")
    }
    assert {
        "batch_size": "integer",
        "manifest": "string",
        "class_names": "array",
        "source": "object",
    } == some
