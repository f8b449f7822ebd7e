"""
flyte 2's transformers: `DatasetSpec` and `tf.data.Dataset` as the same type, STRUCT.

As `v1`, with protobuf messages instead of flytekit's classes, and with coroutines. A dict or a
JSON text may stand for either: `flyte.run(train, data={…})`, `flyte run --local … --data '{…}'`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfstream.errors import MissingDependencyError, NotPortableError
from tfstream.flyte import content as contents
from tfstream.flyte.annotation import annotation_of, class_of
from tfstream.flyte.failing import failing_as
from tfstream.flyte.schema import TITLE, json_schema
from tfstream.jsonable import parsed
from tfstream.spec import DatasetSpec

try:
    import flyte.storage as storage
    from flyte.types import TypeTransformer, TypeTransformerFailedError
    from flyteidl2.core.literals_pb2 import Binary, Literal, Scalar
    from flyteidl2.core.types_pb2 import LiteralType, SimpleType, TypeAnnotation, TypeStructure
except ModuleNotFoundError as error:
    raise MissingDependencyError('pip install "tfstream[flyte2]"') from error

_MSGPACK = "msgpack"
_CACHE_KEY = "cache-key-metadata"


class SpecTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes a `DatasetSpec` by value."""

    def __init__(self, kind: type[DatasetSpec]) -> None:
        super().__init__(contents.SPEC_NAME, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """STRUCT, with the JSON schema."""
        return literal_type()

    def guess_python_type(self, literal_type: LiteralType) -> type[DatasetSpec]:
        """Also for what was declared as a `tf.data.Dataset`: the spec needs no TensorFlow."""
        if literal_type.HasField("metadata") and TITLE == dict(literal_type.metadata).get("title"):
            return DatasetSpec
        raise ValueError("no DatasetSpec")

    def assert_type(self, t: Any, v: Any) -> None:
        """A dict will do, if it is a spec."""
        if not isinstance(v, dict):
            super().assert_type(class_of(t), v)

    async def to_literal(self, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Canonical bytes: equal specs are equal literals."""
        with failing_as(TypeTransformerFailedError):
            return _literal(contents.of_spec(_spec(python_val)))

    async def to_python_value(self, lv: Literal, expected_python_type: Any) -> DatasetSpec:
        """Strict: unknown fields and newer versions are errors."""
        with failing_as(TypeTransformerFailedError):
            return contents.spec_in(_content(lv))

    def to_html(self, python_val: DatasetSpec, expected_python_type: Any) -> str:
        """For reports."""
        from tfstream.flyte.deck import spec_html

        return spec_html(python_val)


class DatasetTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes a `tf.data.Dataset` and its subclasses as `tfstream.flyte.passing` decides."""

    def __init__(self, kind: Any) -> None:
        super().__init__(contents.DATASET_NAME, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """That of a `DatasetSpec`, so that each feeds the other."""
        return literal_type()

    def assert_type(self, t: Any, v: Any) -> None:
        """The JSON of a spec will do: a command line has nothing else."""
        if not isinstance(v, (dict, str)):
            super().assert_type(class_of(t), v)

    async def to_literal(self, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Reads nothing, unless the annotation says so."""
        from tfstream.flyte.passing import parcel_of

        with failing_as(TypeTransformerFailedError):
            if isinstance(python_val, (dict, str)):
                return _literal(contents.of_spec(_spec(python_val)))
            content, folder = parcel_of(python_val, annotation_of(python_type), _new_folder)
            if folder is not None:
                address = await storage.put(str(folder), recursive=True)
                content = {**content, "folder": address}
            return _literal(content)

    async def to_python_value(self, lv: Literal, expected_python_type: Any) -> Any:
        """Opens the source with this environment's credentials."""
        from tfstream.flyte.passing import dataset_in

        with failing_as(TypeTransformerFailedError):
            content, folder = _content(lv), None
            if "folder" in content:
                target = str(storage.get_random_local_path())  # a new one: else it is put inside
                folder = Path(await storage.get(content["folder"], target, recursive=True))
            return dataset_in(
                content, folder, class_of(expected_python_type), allow_local=_is_local()
            )

    def to_html(self, python_val: Any, expected_python_type: Any) -> str:
        """For reports."""
        from tfstream.flyte.deck import dataset_html

        return dataset_html(python_val)


def literal_type() -> LiteralType:
    """
    Of both types.

    The annotation is a part of a task's cache key: a new version of the content is a new key.
    """
    annotation = TypeAnnotation()
    key = {"serialization-format": _MSGPACK, contents.KEY: str(contents.VERSION)}
    annotation.annotations.update({_CACHE_KEY: key})
    return LiteralType(
        simple=SimpleType.STRUCT,
        metadata=json_schema(),
        structure=TypeStructure(tag=contents.SPEC_NAME),
        annotation=annotation,
    )


def _spec(value: Any) -> DatasetSpec:
    if isinstance(value, DatasetSpec):
        return value
    return contents.spec_in(parsed(value if isinstance(value, str) else json.dumps(value)))


def _literal(content: contents.Content) -> Literal:
    return Literal(scalar=Scalar(binary=Binary(value=contents.packed(content), tag=_MSGPACK)))


def _content(lv: Literal) -> contents.Content:
    if lv.scalar.HasField("binary") and lv.scalar.binary.tag == _MSGPACK:
        return contents.unpacked(lv.scalar.binary.value)
    if lv.scalar.HasField("generic"):
        from google.protobuf.json_format import MessageToDict

        return contents.from_struct(MessageToDict(lv.scalar.generic))
    raise NotPortableError("this is neither a DatasetSpec nor a dataset")


def _new_folder() -> str:
    folder = Path(storage.get_random_local_directory())
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _is_local() -> bool:
    """Whether Flyte runs on this machine alone, so that its files are the writer's too."""
    import flyte

    return bool(flyte.ctx().mode == "local")
