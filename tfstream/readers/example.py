"""
`tf.train.Example`, without TensorFlow.

```
Example { features: 1 = Features { feature: 1 = map<string, Feature> } }
Feature { bytes_list: 1, float_list: 2, int64_list: 3, each with repeated value: 1 }
```

The messages are those of TensorFlow's `example.proto` and `feature.proto`, under a name of our
own, so that both may be in one process.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tfstream.errors import MissingDependencyError, ShardError

_PACKAGE = "tfstream.example"
_LISTS = {"BytesList": "TYPE_BYTES", "FloatList": "TYPE_FLOAT", "Int64List": "TYPE_INT64"}


def features_of(data: bytes, path: str) -> Mapping[str, Any]:
    """
    The fields of an Example by name.

    Errors:
        ShardError: it is none.
        MissingDependencyError: `protobuf`, which comes with TensorFlow, is absent.
    """
    message = _example()()
    try:
        message.ParseFromString(data)
    except Exception as error:  # DecodeError, whose class differs between protobuf's versions
        raise ShardError(
            f"a record is neither an image nor an Example: {error}", path=path
        ) from error
    found: Mapping[str, Any] = message.features.feature
    return found


def value_in(data: bytes, field: str, path: str) -> Any:
    """
    The value of a field: bytes as text, numbers as they are, several as a list; None for none.

    Errors:
        ShardError: no Example, or the field is no text in UTF-8.
    """
    features = features_of(data, path)
    if field not in features:
        return None
    feature = features[field]
    values = list(getattr(feature, feature.WhichOneof("kind") or "bytes_list").value)
    try:
        values = [each.decode() if isinstance(each, bytes) else each for each in values]
    except UnicodeDecodeError as error:
        raise ShardError(f"the field {field!r} is no text: {error}", path=path) from error
    if len(values) == 1:
        return values[0]
    return values or None


@cache
def _example() -> Any:
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise MissingDependencyError("tf.train.Example needs: pip install protobuf") from error
    file = descriptor_pb2.FileDescriptorProto(
        name="tfstream/example.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, kind in _LISTS.items():
        _add(file.message_type.add(name=name), "value", 1, kind, repeated=True)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, name in enumerate(("bytes_list", "float_list", "int64_list"), 1):
        field = _add(feature, name, number, list(_LISTS)[number - 1])
        field.oneof_index = 0
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    _add(entry, "key", 1, "TYPE_STRING")
    _add(entry, "value", 2, "Feature")
    _add(features, "feature", 1, "Features.FeatureEntry", repeated=True)
    _add(file.message_type.add(name="Example"), "features", 1, "Features")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Example"))


def _add(message: Any, name: str, number: int, kind: str, *, repeated: bool = False) -> Any:
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
    if kind.startswith("TYPE_"):
        field.type = getattr(field, kind)
    else:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    return field
