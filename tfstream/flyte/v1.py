"""
flytekit's transformers: `DatasetSpec` and `tf.data.Dataset` as the same type, STRUCT.

```
Literal(scalar=Binary(value=msgpack of the content, tag="msgpack"))     what is written
Literal(scalar=Struct)                                                  is read too: the console
```
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfstream.errors import MissingDependencyError, NotPortableError
from tfstream.flyte import content as contents
from tfstream.flyte import old_format
from tfstream.flyte.annotation import annotation_of, class_of
from tfstream.flyte.failing import failing_as
from tfstream.flyte.schema import TITLE, attributes, json_schema
from tfstream.spec import DatasetSpec

try:
    from flytekit.core.constants import CACHE_KEY_METADATA, MESSAGEPACK, SERIALIZATION_FORMAT
    from flytekit.core.type_engine import TypeTransformer, TypeTransformerFailedError
    from flytekit.models.annotation import TypeAnnotation
    from flytekit.models.literals import Binary, Literal, Scalar
    from flytekit.models.types import LiteralType, SimpleType, TypeStructure
except ModuleNotFoundError as error:
    raise MissingDependencyError('pip install "tfstream[flyte]"') from error


class SpecTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes a `DatasetSpec` by value."""

    def __init__(self, kind: type[DatasetSpec]) -> None:
        super().__init__(contents.SPEC_NAME, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """STRUCT, with the fields for attribute access."""
        return literal_type()

    def guess_python_type(self, literal_type: LiteralType) -> type[DatasetSpec]:
        """Also for what was declared as a `tf.data.Dataset`: the spec needs no TensorFlow."""
        if (literal_type.metadata or {}).get("title") == TITLE:
            return DatasetSpec
        raise ValueError(f"{literal_type} is no DatasetSpec")

    def to_literal(self, ctx: Any, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Canonical bytes: equal specs are equal literals."""
        with failing_as(TypeTransformerFailedError):
            return _literal(contents.of_spec(python_val))

    def to_python_value(self, ctx: Any, lv: Literal, expected_python_type: Any) -> DatasetSpec:
        """Strict: unknown fields and newer versions are errors."""
        with failing_as(TypeTransformerFailedError):
            return contents.spec_in(_content(lv))

    def to_html(self, ctx: Any, python_val: DatasetSpec, expected_python_type: Any) -> str:
        """For Decks."""
        from tfstream.flyte.deck import spec_html

        return spec_html(python_val)


class DatasetTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes a `tf.data.Dataset` and its subclasses as `tfstream.flyte.passing` decides."""

    def __init__(self, kind: Any) -> None:
        super().__init__(contents.DATASET_NAME, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """That of a `DatasetSpec`, so that each feeds the other."""
        return literal_type()

    def to_literal(self, ctx: Any, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Reads nothing, unless the annotation says so."""
        from tfstream.flyte.passing import INLINE_BYTES, parcel_of

        access = ctx.file_access
        with failing_as(TypeTransformerFailedError):
            way = annotation_of(python_type)
            inline = 0 if old_format.is_wanted() else INLINE_BYTES
            content, folder = parcel_of(python_val, way, access.get_random_local_directory, inline)
            if folder is not None:
                content = {**content, "folder": access.put_raw_data(str(folder))}
            return _literal(content)

    def to_python_value(self, ctx: Any, lv: Literal, expected_python_type: Any) -> Any:
        """Opens the source with this environment's credentials."""
        from tfstream.flyte.passing import dataset_in

        with failing_as(TypeTransformerFailedError):
            content, folder = _content(lv), None
            if "folder" in content:
                folder = Path(ctx.file_access.get_random_local_directory())
                ctx.file_access.get_data(content["folder"], str(folder), is_multipart=True)
            kind = class_of(expected_python_type)
            return dataset_in(content, folder, kind, allow_local=_is_local(ctx))

    def to_html(self, ctx: Any, python_val: Any, expected_python_type: Any) -> str:
        """For Decks."""
        from tfstream.flyte.deck import dataset_html

        return dataset_html(python_val)


def literal_type() -> LiteralType:
    """
    Of both types.

    The annotation is a part of a task's cache key: a new version of the content is a new key.
    """
    metadata = {SERIALIZATION_FORMAT: MESSAGEPACK, contents.KEY: str(contents.VERSION)}
    return LiteralType(
        simple=SimpleType.STRUCT,
        metadata=json_schema(),
        structure=TypeStructure(
            tag="", dataclass_type={name: _attribute(kind) for name, kind in attributes().items()}
        ),
        annotation=TypeAnnotation({CACHE_KEY_METADATA: metadata}),
    )


def _attribute(kind: str) -> LiteralType:
    if kind == "array":  # of names: classes, patterns
        return LiteralType(collection_type=LiteralType(simple=SimpleType.STRING))
    simple = {"integer": SimpleType.INTEGER, "string": SimpleType.STRING}
    return LiteralType(simple=simple.get(kind, SimpleType.STRUCT))


def _literal(content: contents.Content) -> Literal:
    if old_format.is_wanted():
        return Literal(scalar=Scalar(generic=old_format.struct_of(content)))
    return Literal(scalar=Scalar(binary=Binary(value=contents.packed(content), tag=MESSAGEPACK)))


def _content(lv: Literal) -> contents.Content:
    binary = lv.scalar.binary if lv.scalar else None
    if binary is not None and binary.tag == MESSAGEPACK:
        return contents.unpacked(binary.value)
    struct = lv.scalar.generic if lv.scalar else None
    if struct is not None:
        from google.protobuf.json_format import MessageToDict

        return contents.from_struct(MessageToDict(struct))
    raise NotPortableError("this is neither a DatasetSpec nor a dataset")


def _is_local(ctx: Any) -> bool:
    """Whether Flyte runs on this machine alone, so that its files are the writer's too."""
    state = ctx.execution_state
    return state is not None and bool(state.is_local_execution())
