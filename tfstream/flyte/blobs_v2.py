"""flyte 2's transformer of all that is passed as one file."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from tfstream.errors import MissingDependencyError
from tfstream.flyte.blobs import blob_of
from tfstream.flyte.failing import failing_as

try:
    import flyte.storage as storage
    from flyte.types import TypeTransformer, TypeTransformerFailedError
    from flyteidl2.core.literals_pb2 import Blob, BlobMetadata, Literal, Scalar
    from flyteidl2.core.types_pb2 import BlobType, LiteralType, TypeStructure
except ModuleNotFoundError as error:
    raise MissingDependencyError('pip install "tfstream[flyte2]"') from error


class BlobTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes values of a type as `tfstream.flyte.blobs` says."""

    def __init__(self, kind: type) -> None:
        self._blob = blob_of(kind)
        single = BlobType.BlobDimensionality.SINGLE
        self._type = BlobType(format=self._blob.format, dimensionality=single)
        super().__init__(self._blob.name, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """A single blob of our format."""
        return LiteralType(blob=self._type, structure=TypeStructure(tag=self.name))

    def guess_python_type(self, literal_type: LiteralType) -> Any:
        """By the format, which no other type has."""
        if literal_type.HasField("blob") and literal_type.blob == self._type:
            return self.python_type
        raise ValueError(f"no {self.name}")

    async def to_literal(self, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Write and upload it."""
        if not isinstance(python_val, self.python_type):  # a union tries all of its types
            raise TypeTransformerFailedError(
                f"expected a {self.python_type.__name__}, got a {type(python_val).__name__}"
            )
        with failing_as(TypeTransformerFailedError):
            path = Path(f"{storage.get_random_local_path()}{self._blob.suffix}")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._blob.write(python_val, path)
            address = await storage.put(str(path))
        blob = Blob(metadata=BlobMetadata(type=self._type), uri=address)
        return Literal(scalar=Scalar(blob=blob))

    async def to_python_value(self, lv: Literal, expected_python_type: Any) -> Any:
        """Download and read it."""
        blob = lv.scalar.blob
        if blob.metadata.type != self._type:
            raise TypeTransformerFailedError(self._blob.told_apart(blob.metadata.type.format))
        with failing_as(TypeTransformerFailedError):
            path = f"{storage.get_random_local_path()}{self._blob.suffix}"
            return self._blob.read(Path(await storage.get(blob.uri, path)))

    def to_html(self, python_val: Any, expected_python_type: Any) -> str:
        """For reports: shapes, not values."""
        return html.escape(self._blob.shown(python_val))
