"""
Graphs that travel: a dataset as bytes, and back in another process. Nothing is read or computed.

```
to_graph     DatasetToGraphV2 -> travelling: may it leave? -> envelope
from_graph   envelope -> travelling: is there anything else in it? -> strangers: may it be opened?
             -> DatasetFromGraph
```

**Why a hostile graph reads and runs nothing else.** Ops are held to a list on which there is no
file, no network and no Python but three ops of ours. What those three open is decided by two of
their inputs, the spec and the handle. Both must be `Const` nodes in the very function that has
the op, where `graph/ops.py` puts them, so they are what was looked at here: no argument, no
computation, no caller can change them. The spec's source must be one that a stranger may name,
and a handle of this process goes only with that handle's own spec. Resources get new names, so
that none of this process is found. What is parsed is written anew for TensorFlow, so that both
see the same. What remains is time and memory, which any graph can waste, and TensorFlow's own
bugs: who lets strangers send graphs gives such a process a limit of both.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError

from tfstream.errors import NotPortableError, SpecError
from tfstream.fetch.handles import spec_named
from tfstream.graph import elements
from tfstream.graph.envelope import MAX_BYTES, Letter, sealed, unsealed
from tfstream.graph.origin import GraphDataset
from tfstream.graph.travelling import Address, addresses_of
from tfstream.graph.version import checked
from tfstream.sources.strangers import is_only_here, refusal
from tfstream.spec import DatasetSpec

_IGNORE = 1
"""Of `DatasetToGraphV2`: random ops travel, and are random again where they arrive."""


def to_graph(dataset: tf.data.Dataset) -> bytes:
    """
    A dataset's graph, for another process. Nothing is read or computed.

    ```python
    data = tfstream.to_graph(train.map(augment).batch(32))
    again = tfstream.from_graph(data)       # elsewhere, with that environment's credentials
    ```

    It holds the spec and the functions with the constants that they use; no records, no
    credentials. At most 64 MiB.

    Errors:
        NotPortableError: a stage that cannot travel, by name, and what to use instead:
            `py_function` and the like, `from_generator`, variables, tables without their
            initialiser, files, a source that only this process has.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError(f"to_graph takes a tf.data.Dataset, got {type(dataset).__name__}")
    graph = _graph_of(dataset)
    for address in addresses_of(graph):
        source = DatasetSpec.from_json(address.spec).source
        if is_only_here(source):
            raise NotPortableError(
                f"{source.url(source.pattern)} cannot travel: only this process has it. Put the "
                "data into a store that both can reach"
            )
    data = sealed(elements.to_plain(dataset.element_spec), graph.SerializeToString())
    if len(data) > MAX_BYTES:
        raise NotPortableError(
            f"a graph of {len(data):,} bytes cannot travel, at most {MAX_BYTES:,} do: it holds "
            "large constants. Put them into a store"
        )
    return data


def from_graph(data: bytes, *, allow_local: bool = False) -> tf.data.Dataset:
    """
    The dataset that `to_graph` was given, in this process. Nothing is read yet.

    It runs no Python of the graph and opens object stores only, with the credentials of this
    process's environment. (Where the dataset itself was made in this process and still is
    there, with its own.)

    Args:
        data: Of `to_graph`, by a TensorFlow that is not newer than this one.
        allow_local: Also open what a stranger's graph must not: files of this machine, any
            filesystem of fsspec, servers that the graph names and this environment does not.
            For graphs whose writer you trust.

    Errors:
        SpecError: not such bytes, damaged, more than 64 MiB, or of a newer layout.
        NotPortableError: it has something that may not travel or be opened, or was written
            by another release; the message says by which.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_graph takes the bytes of to_graph, got {type(data).__name__}")
    letter = unsealed(bytes(data))
    with _naming(letter):
        graph = _parsed(letter.graph)
        specs = tuple({_spec_of(each, allow_local): None for each in addresses_of(graph)})
        _forget_names(graph)
        element_spec = elements.from_plain(letter.elements)
        variant = tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString())
        return GraphDataset(variant, element_spec, specs)


def _graph_of(dataset: tf.data.Dataset) -> Any:
    variant = tf.data.experimental.to_variant(dataset)
    try:
        data = tf.raw_ops.DatasetToGraphV2(input_dataset=variant, external_state_policy=_IGNORE)
    except tf.errors.OpError as error:
        raise NotPortableError(f"TensorFlow cannot write this dataset: {_brief(error)}") from error
    return tf.compat.v1.GraphDef.FromString(data.numpy())


def _parsed(data: bytes) -> Any:
    try:
        return tf.compat.v1.GraphDef.FromString(data)
    except DecodeError as error:
        raise SpecError("no GraphDef is in it") from error


def _spec_of(address: Address, allow_local: bool) -> DatasetSpec:
    """Errors: NotPortableError where it may not be opened."""
    spec = DatasetSpec.from_json(address.spec)
    reason = None if allow_local else refusal(spec.source)
    if reason is not None:
        raise NotPortableError(f"{reason}: pass allow_local=True if you trust who wrote the graph")
    known = spec_named(checked(address.handle))
    if known not in (None, spec):
        raise NotPortableError("it has the handle of a dataset in this process, but another spec")
    return spec


def _forget_names(graph: Any) -> None:
    """Let no name lead to a resource of this process: tf.data and tables make their own then."""
    functions = [node for each in graph.library.function for node in each.node_def]
    for node in (*graph.node, *functions):
        for handle in node.attr["value"].tensor.resource_handle_val if node.op == "Const" else ():
            handle.name = uuid.uuid4().hex
        if "shared_name" in node.attr:
            node.attr["shared_name"].s = uuid.uuid4().hex.encode()


def _brief(error: tf.errors.OpError) -> str:
    """Its first line, without TensorFlow's names of places."""
    return re.sub(r"\{\{.*?\}\} ?", "", str(error.message)).partition("\n")[0]


@contextmanager
def _naming(letter: Letter) -> Iterator[None]:
    """Errors inside say who wrote the letter."""
    try:
        yield
    except NotPortableError as error:
        raise NotPortableError(f"{error}; {letter.writer}") from error
    except SpecError as error:
        raise SpecError(f"{error}; {letter.writer}") from error
    except tf.errors.OpError as error:
        raise NotPortableError(
            f"TensorFlow cannot read the graph: {_brief(error)}; {letter.writer}"
        ) from error
