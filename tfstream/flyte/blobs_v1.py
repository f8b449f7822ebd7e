"""flytekit's transformer of all that is passed as one file."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from tfstream.errors import MissingDependencyError
from tfstream.flyte.blobs import blob_of
from tfstream.flyte.failing import failing_as

try:
    from flytekit.core.type_engine import TypeTransformer, TypeTransformerFailedError
    from flytekit.models.core.types import BlobType
    from flytekit.models.literals import Blob, BlobMetadata, Literal, Scalar
    from flytekit.models.types import LiteralType
except ModuleNotFoundError as error:
    raise MissingDependencyError('pip install "tfstream[flyte]"') from error


class BlobTransformer(TypeTransformer):  # type: ignore[misc]
    """Passes values of a type as `tfstream.flyte.blobs` says."""

    def __init__(self, kind: type) -> None:
        self._blob = blob_of(kind)
        self._type = BlobType(self._blob.format, BlobType.BlobDimensionality.SINGLE)
        super().__init__(self._blob.name, kind)

    def get_literal_type(self, t: Any = None) -> LiteralType:
        """A single blob of our format."""
        return LiteralType(blob=self._type)

    def guess_python_type(self, literal_type: LiteralType) -> Any:
        """By the format, which no other type has."""
        if literal_type.blob == self._type:
            return self.python_type
        raise ValueError(f"{literal_type} is no {self.name}")

    def to_literal(self, ctx: Any, python_val: Any, python_type: Any, expected: Any) -> Literal:
        """Write and upload it."""
        if not isinstance(python_val, self.python_type):  # a union tries all of its types
            raise TypeTransformerFailedError(
                f"expected a {self.python_type.__name__}, got a {type(python_val).__name__}"
            )
        with failing_as(TypeTransformerFailedError):
            path = Path(ctx.file_access.get_random_local_path() + self._blob.suffix)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._blob.write(python_val, path)
            address = ctx.file_access.put_raw_data(str(path))
        return Literal(scalar=Scalar(blob=Blob(BlobMetadata(self._type), address)))

    def to_python_value(self, ctx: Any, lv: Literal, expected_python_type: Any) -> Any:
        """Download and read it."""
        blob = lv.scalar.blob if lv.scalar else None
        if blob is None or blob.metadata.type != self._type:
            form = blob.metadata.type.format if blob else ""
            raise TypeTransformerFailedError(self._blob.told_apart(form))
        with failing_as(TypeTransformerFailedError):
            path = ctx.file_access.get_random_local_path() + self._blob.suffix
            ctx.file_access.get_data(blob.uri, path, is_multipart=False)
            return self._blob.read(Path(path))

    def to_html(self, ctx: Any, python_val: Any, expected_python_type: Any) -> str:
        """For Decks: shapes, not values."""
        return html.escape(self._blob.shown(python_val))
