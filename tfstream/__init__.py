"""
tfstream: train TensorFlow models on data that stays in an object store.

```python
import tfstream

train = tfstream.from_lakefs("photos", "main", "train/**/*.jpg", image_size=(224, 224))
model.fit(train, epochs=10)
```

Importing tfstream loads no TensorFlow and no client library: names are loaded when first used.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfstream import flyte as flyte
    from tfstream import keras as keras
    from tfstream.api import UncommittedWarning, from_lakefs, from_s3, from_url, load
    from tfstream.arguments import Arguments
    from tfstream.dataset import StreamDataset
    from tfstream.decoders.image import ImageDecoder
    from tfstream.decoders.raw import RawDecoder
    from tfstream.distributed import distribute
    from tfstream.errors import (
        AccessDeniedError,
        AuthenticationError,
        CheckpointError,
        DecodeError,
        MissingDependencyError,
        NotPortableError,
        ObjectChangedError,
        ObjectGoneError,
        ObjectNotFoundError,
        RefNotFoundError,
        RetriesExhaustedError,
        ShardError,
        SourceError,
        SpecError,
        TfstreamError,
    )
    from tfstream.fetch.stats import Stats
    from tfstream.graph.origin import spec_of
    from tfstream.graph.portable import from_graph, to_graph
    from tfstream.labels.directory import DirectoryLabels
    from tfstream.labels.field import FieldLabels
    from tfstream.labels.images import ImageLabels
    from tfstream.labels.metadata import MetadataLabels
    from tfstream.labels.regex import RegexLabels
    from tfstream.labels.table import TableLabels
    from tfstream.options import ReadOptions
    from tfstream.readers.file import FileReader
    from tfstream.readers.idx import IdxReader
    from tfstream.readers.tar import TarReader
    from tfstream.readers.tfrecord import TFRecordReader
    from tfstream.readers.zip import ZipReader
    from tfstream.registry import (
        register_decoder,
        register_labels,
        register_reader,
        register_source,
    )
    from tfstream.sources.azure import AzureSource
    from tfstream.sources.fsspec import FsspecSource
    from tfstream.sources.gcs import GCSSource
    from tfstream.sources.lakefs import LakeFSSource
    from tfstream.sources.local import LocalSource
    from tfstream.sources.s3 import S3Source
    from tfstream.spec import DatasetSpec

__version__ = "0.1.0"

__all__ = [
    "AccessDeniedError",
    "Arguments",
    "AuthenticationError",
    "AzureSource",
    "CheckpointError",
    "DatasetSpec",
    "DecodeError",
    "DirectoryLabels",
    "FieldLabels",
    "FileReader",
    "FsspecSource",
    "GCSSource",
    "IdxReader",
    "ImageDecoder",
    "ImageLabels",
    "LakeFSSource",
    "LocalSource",
    "MetadataLabels",
    "MissingDependencyError",
    "NotPortableError",
    "ObjectChangedError",
    "ObjectGoneError",
    "ObjectNotFoundError",
    "RawDecoder",
    "ReadOptions",
    "RefNotFoundError",
    "RegexLabels",
    "RetriesExhaustedError",
    "S3Source",
    "ShardError",
    "SourceError",
    "SpecError",
    "Stats",
    "StreamDataset",
    "TFRecordReader",
    "TableLabels",
    "TarReader",
    "TfstreamError",
    "UncommittedWarning",
    "ZipReader",
    "distribute",
    "from_graph",
    "from_lakefs",
    "from_s3",
    "from_url",
    "load",
    "register_decoder",
    "register_labels",
    "register_reader",
    "register_source",
    "spec_of",
    "to_graph",
]

_MODULES = {
    "api": "UncommittedWarning from_lakefs from_s3 from_url load",
    "arguments": "Arguments",
    "dataset": "StreamDataset",
    "decoders.image": "ImageDecoder",
    "decoders.raw": "RawDecoder",
    "distributed": "distribute",
    "errors": "AccessDeniedError AuthenticationError CheckpointError DecodeError"
    " MissingDependencyError NotPortableError ObjectChangedError ObjectGoneError"
    " ObjectNotFoundError RefNotFoundError RetriesExhaustedError ShardError SourceError SpecError"
    " TfstreamError",
    "fetch.stats": "Stats",
    "graph.origin": "spec_of",
    "graph.portable": "from_graph to_graph",
    "labels.directory": "DirectoryLabels",
    "labels.images": "ImageLabels",
    "labels.metadata": "MetadataLabels",
    "labels.field": "FieldLabels",
    "labels.regex": "RegexLabels",
    "labels.table": "TableLabels",
    "options": "ReadOptions",
    "readers.file": "FileReader",
    "readers.idx": "IdxReader",
    "readers.tar": "TarReader",
    "readers.tfrecord": "TFRecordReader",
    "readers.zip": "ZipReader",
    "registry": "register_decoder register_labels register_reader register_source",
    "sources.azure": "AzureSource",
    "sources.fsspec": "FsspecSource",
    "sources.gcs": "GCSSource",
    "sources.lakefs": "LakeFSSource",
    "sources.local": "LocalSource",
    "sources.s3": "S3Source",
    "spec": "DatasetSpec",
}
_PACKAGES = ("flyte", "keras")
"""Public names with a dot in them, such as `tfstream.keras.fit`."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"tfstream.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tfstream' has no attribute {name!r}")
    value = getattr(import_module(f"tfstream.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    dunder = [name for name in globals() if name.startswith("__")]
    return sorted([*dunder, *__all__])  # none of the imports above


if "tensorflow" in sys.modules:  # graphs that were built elsewhere find their ops
    with suppress(Exception):  # raised where one is built; other packages' plugins import this
        import_module("tfstream.graph.ops")
