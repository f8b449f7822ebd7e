"""What a command is given to work on: a URL or a path, or a spec's JSON file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tfstream.cli.printable import printable
from tfstream.decoders.base import Decoder
from tfstream.decoders.image import ImageDecoder
from tfstream.errors import SpecError
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.opening import Wanted, notices, opened, pinned
from tfstream.fetch.reading import Reading
from tfstream.labels.base import Labels
from tfstream.options import ReadOptions
from tfstream.readers.base import Reader
from tfstream.sources.base import ObjectInfo, Source
from tfstream.spec import DatasetSpec
from tfstream.urls import at_endpoint, source_of


class Target(NamedTuple):
    """
    What a dataset would read.

    Fields:
        reader: How objects become records.
        reading: Open, and pinned.
        manifest: Which objects.
        decoder: Of the spec, or as the data and the arguments say.
        labels: Of the spec.
    """

    reader: Reader
    reading: Reading
    manifest: Manifest
    decoder: Decoder
    labels: Labels | None = None

    def records(self, limit: int | None) -> tuple[int, Iterator[Sequence[ObjectInfo]]]:
        """The first `limit` records, made when needed, and how many objects they are."""
        objects, partners = self.manifest.objects, self.manifest.partners
        columns = [objects] if partners is None else [objects, partners]
        rows = min(limit or len(objects), len(objects))
        return rows * len(columns), islice(zip(*columns, strict=True), rows)


def target_of(
    text: str, *, endpoint: str | None, decoding: Mapping[str, Any], options: ReadOptions
) -> Target:
    """
    Look there, once. `decoding` are arguments for an ImageDecoder.

    Errors:
        SourceError: it cannot be read, or nothing matches.
        SpecError: it is a JSON file without a spec, or no such kind of URL.
        ValueError: a spec, which has a decoder, and `decoding`.
    """
    if not (text.endswith(".json") and os.path.isfile(text)):
        return _of_source(at_endpoint(source_of(text), endpoint), decoding, options)
    if decoding:
        raise ValueError(
            f"{text} has a decoder of its own: leave out --color-mode and --max-pixels"
        )
    spec = _spec_in(text)
    stream = opened(spec.replace(source=at_endpoint(spec.source, endpoint)), None, options)
    return Target(spec.reader, stream.reading, stream.manifest, spec.decoder, spec.labels)


def _spec_in(file: str) -> DatasetSpec:
    try:
        return DatasetSpec.from_json(Path(file).read_text("utf-8"))
    except (SpecError, UnicodeDecodeError) as error:
        raise SpecError(f"{file}: {error}") from error


def _of_source(source: Source, decoding: Mapping[str, Any], options: ReadOptions) -> Target:
    decoder = ImageDecoder(**decoding)
    found = pinned(Wanted(source), None, options)
    for notice in notices(found):
        sys.stderr.write(f"tfstream: {printable(notice)}\n")
    return Target(found.reader, found.reading, found.manifest, found.raw or decoder)
