"""
The bytes that a graph travels in.

```
tfstream graph 1\n                 what it is, and the version of this layout
32 bytes                           SHA-256 of all that follows
4 bytes, big endian                length of the header
header                             JSON: {"tfstream": …, "tensorflow": …, "elements": …}
the rest                           a GraphDef
```

The digest finds what was damaged on the way. It proves nothing about who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any, NamedTuple

import tensorflow as tf

import tfstream
from tfstream.errors import SpecError
from tfstream.jsonable import parsed

MAX_BYTES = 64 * 1024 * 1024
"""Of a graph that travels. Without a user's large constants it has about 0.1 MB."""
_MAGIC = b"tfstream graph "
_VERSION = b"1"
_START = _MAGIC + _VERSION + b"\n"
_DIGEST = hashlib.sha256().digest_size
_LENGTH = struct.Struct(">I")


class Letter(NamedTuple):
    """
    What is in it.

    Fields:
        tfstream, tensorflow: The versions that wrote it.
        elements: `graph.elements` has their form.
        graph: A serialised GraphDef.
    """

    tfstream: str
    tensorflow: str
    elements: Any
    graph: bytes

    @property
    def writer(self) -> str:
        """Who wrote it and who reads it, for messages."""
        return (
            f"it was written by tfstream {self.tfstream} with TensorFlow {self.tensorflow}; here "
            f"are tfstream {tfstream.__version__} and TensorFlow {tf.__version__}"
        )


def sealed(elements: Any, graph: bytes) -> bytes:
    """A letter of this process."""
    versions = {"tfstream": tfstream.__version__, "tensorflow": tf.__version__}
    header = json.dumps({**versions, "elements": elements}, separators=(",", ":")).encode()
    content = _LENGTH.pack(len(header)) + header + graph
    return _START + hashlib.sha256(content).digest() + content


def unsealed(data: bytes) -> Letter:
    """
    The letter in these bytes.

    Errors:
        SpecError: too many bytes, none of a graph, of a newer layout, or damaged.
    """
    if len(data) > MAX_BYTES:
        raise SpecError(f"a graph of {len(data):,} bytes; at most {MAX_BYTES:,} are read")
    if not data.startswith(_MAGIC):
        raise SpecError(f"not a graph of tfstream.to_graph: it begins with {data[:16]!r}")
    version, end, rest = data[len(_MAGIC) :].partition(b"\n")
    if version != _VERSION or not end:
        raise SpecError(
            f"a graph of the layout {version[:16]!r}, and this tfstream ({tfstream.__version__}) "
            f"reads {_VERSION!r}: a newer one may know it"
        )
    digest, content = rest[:_DIGEST], rest[_DIGEST:]
    if hashlib.sha256(content).digest() != digest or len(content) < _LENGTH.size:
        raise SpecError("a graph that was cut or changed on its way: its digest is another")
    (length,) = _LENGTH.unpack_from(content)
    header, graph = content[_LENGTH.size :][:length], content[_LENGTH.size + length :]
    return _letter(parsed(header.decode("utf-8", "replace")), graph)


def _letter(header: dict[str, Any], graph: bytes) -> Letter:
    tfstreams, tensorflow = _version(header, "tfstream"), _version(header, "tensorflow")
    return Letter(tfstreams, tensorflow, header.get("elements"), graph)


def _version(header: dict[str, Any], name: str) -> str:
    """A text that is fit for a message."""
    value = header.get(name)
    if not isinstance(value, str) or len(value) > 40 or not value.isprintable():
        raise SpecError(f"no version: {str(value)[:40]!r}", where=f"$.{name}")
    return value
