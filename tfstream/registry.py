"""
Names in a spec's JSON, and the classes that they stand for.

JSON names only *registered* classes, so a spec from a stranger loads no code. tfstream's own
are registered here by address and imported when first used; others call `register`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Literal, TypeVar, get_args

Kind = Literal["source", "reader", "labels", "decoder"]
T = TypeVar("T", bound=type)

_addresses: dict[Kind, dict[str, str | type]] = {
    "source": {
        "azure": "tfstream.sources.azure:AzureSource",
        "fsspec": "tfstream.sources.fsspec:FsspecSource",
        "gcs": "tfstream.sources.gcs:GCSSource",
        "lakefs": "tfstream.sources.lakefs:LakeFSSource",
        "local": "tfstream.sources.local:LocalSource",
        "s3": "tfstream.sources.s3:S3Source",
    },
    "reader": {
        "file": "tfstream.readers.file:FileReader",
        "idx": "tfstream.readers.idx:IdxReader",
        "tar": "tfstream.readers.tar:TarReader",
        "tfrecord": "tfstream.readers.tfrecord:TFRecordReader",
        "zip": "tfstream.readers.zip:ZipReader",
    },
    "labels": {
        "directory": "tfstream.labels.directory:DirectoryLabels",
        "field": "tfstream.labels.field:FieldLabels",
        "idx": "tfstream.labels.idx:IdxLabels",
        "images": "tfstream.labels.images:ImageLabels",
        "list": "tfstream.labels.given:ListLabels",
        "mapping": "tfstream.labels.given:MappingLabels",
        "metadata": "tfstream.labels.metadata:MetadataLabels",
        "regex": "tfstream.labels.regex:RegexLabels",
        "table": "tfstream.labels.table:TableLabels",
    },
    "decoder": {
        "image": "tfstream.decoders.image:ImageDecoder",
        "raw": "tfstream.decoders.raw:RawDecoder",
    },
}


def register(kind: Kind, cls: T) -> T:
    """
    Let specs name `cls` by its `name`. A name that is taken by another class is an error.

    Errors:
        ValueError: no such kind, no `name`, or the name is taken.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind is one of {get_args(Kind)}, got {kind!r}")
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name:
        raise ValueError(f"{cls.__qualname__} needs a class attribute `name`, a word for JSON")
    known = _addresses[kind].setdefault(name, cls)
    address = f"{cls.__module__}:{cls.__qualname__}"
    if known is not cls and known != address:
        raise ValueError(f"the {kind} name {name!r} is taken by {known}")
    return cls


def lookup(kind: Kind, name: str) -> type | None:
    """The class that JSON's `name` stands for, or None."""
    known = _addresses[kind].get(name)
    if not isinstance(known, str):
        return known
    module, _, attribute = known.partition(":")
    cls: type = getattr(import_module(module), attribute)
    return cls


def names(kind: Kind) -> list[str]:
    """Every registered name of a kind, sorted."""
    return sorted(_addresses[kind])


def register_source(cls: T) -> T:
    """Register a `Source`, so that specs may name it. Works as a decorator; so do the others."""
    return register("source", cls)


def register_reader(cls: T) -> T:
    """Register a `Reader`."""
    return register("reader", cls)


def register_labels(cls: T) -> T:
    """Register a kind of `Labels`."""
    return register("labels", cls)


def register_decoder(cls: T) -> T:
    """Register a `Decoder`."""
    return register("decoder", cls)
