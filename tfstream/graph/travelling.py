"""
Which graphs travel: a list of what they may have, held to what is written and what is read.

```
ops          those in `allowed_ops`, and functions of the same graph
Python       PyFuncStateless with a token of ours, whose spec and handle are constants beside it
tables       with their initialiser in the graph
resources    only those that tf.data makes anew where it does not find them
files        none: `cache()` without a name
calls        without recursion, not deeper than _DEEPEST
```

A node's op and attributes are all that decides what it does, and nothing in a graph can change
them: so a graph that passes computes, and reads what its specs name, whatever its inputs are.
It may still waste time and memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import tensorflow as tf

from tfstream.errors import NotPortableError
from tfstream.graph.allowed_ops import ALLOWED
from tfstream.graph.ops import DECODE, DIFFERS, FETCH, REPORT
from tfstream.graph.stages import functions_of, refused, refused_op

MAX_NODES = 100_000
"""Those of tfstream have about 500."""
_DEEPEST = 64
"""Calls within calls. TensorFlow follows them on its stack; those of tfstream have about 6."""
_OPENING = frozenset(token.encode() for token in (FETCH, DECODE, REPORT))
_PURE = frozenset((DIFFERS.encode(),))
"""Our other Python: it makes an error of two texts."""
_MADE_ANEW = frozenset(
    f"{name}Dataset{version}"
    for name in ("Cache", "Random", "Shuffle", "ShuffleAndRepeat")
    for version in ("", "V2", "V3")
)
"""Datasets that make their own resource where the graph's is unknown."""
_NAMING = frozenset(kind.as_datatype_enum for kind in (tf.string, tf.resource, tf.variant))
"""Types of what may name files, or things of a process."""
_FILLING = frozenset(("LookupTableImportV2", "InitializeTableFromTextFileV2"))
"""What gives a table its contents; of the second another error tells."""
_FUNCTION = re.compile(r".+_\d+")
"""As tf.function names them. No op is named so: a function in an op's place would run instead."""


class Address(NamedTuple):
    """What a Python op of ours will get: the JSON of a spec, and a signed handle."""

    spec: str
    handle: bytes


class _Body(NamedTuple):
    """
    A function, or the graph itself.

    Fields:
        graph: All of it.
        name: The function's; "" for the graph itself.
        nodes: By name.
    """

    graph: Any
    name: str
    nodes: dict[str, Any]

    def constant(self, node: Any, index: int) -> bytes | None:
        """The text that is a node's input, if that is a constant beside it."""
        given = node.input[index] if index < len(node.input) else ""
        name, _, output = given.partition(":")
        if output != ("output:0" if self.name else ""):
            return None
        found = self.nodes.get(name)
        return _text(found) if found is not None and found.op == "Const" else None


def addresses_of(graph: Any) -> list[Address]:
    """
    Of all Python ops in a GraphDef that may travel.

    Errors:
        NotPortableError: it may not; what in it, and what to do.
    """
    bodies = list(_bodies(graph))
    names = {body.name for body in bodies} - {""}
    found = []
    for body in bodies:
        for node in body.nodes.values():
            if node.op not in ALLOWED and node.op not in names:
                raise refused_op(graph, body.name, node.op)
            _check_attributes(body, node)
            check = _CHECKS.get(node.op)
            if check is not None:
                check(body, node)
            if node.op == "PyFuncStateless" and node.attr["token"].s not in _PURE:
                found.append(_address(body, node))
    _check_calls(graph, names)
    return found


def _check_attributes(body: _Body, node: Any) -> None:
    for name, value in node.attr.items():
        if value.placeholder:
            why = "write it out"
            raise refused(body.graph, body.name, "an attribute that the caller gives", why)
        tensors = value.HasField("tensor") or bool(value.list.tensor)
        if tensors and (node.op, name) != ("Const", "value"):
            why = "values are constants of their own"
            raise refused(body.graph, body.name, "a tensor in an attribute", why)


def _bodies(graph: Any) -> Iterator[_Body]:
    """Functions first, since they tell in which stage something is."""
    functions = graph.library.function
    count = len(graph.node) + sum(len(each.node_def) for each in functions)
    if count > MAX_NODES or len(functions) > MAX_NODES:
        raise NotPortableError(f"a graph of {count:,} nodes; at most {MAX_NODES:,} travel")
    seen = {""}
    for each in functions:
        name = each.signature.name
        if name in seen or not _FUNCTION.fullmatch(name) or not name.isprintable():
            raise NotPortableError(f"a function with the name {name[:60]!r} cannot travel")
        seen.add(name)
        yield _body(graph, name, each.node_def, [arg.name for arg in each.signature.input_arg])
    yield _body(graph, "", graph.node, [])


def _body(graph: Any, name: str, nodes: Any, arguments: list[str]) -> _Body:
    """Names must be clear: they say which node's output an input is."""
    named = {node.name: node for node in nodes}
    if len(named) < len(nodes) or any(":" in each for each in (*named, *arguments)):
        raise NotPortableError(f"nodes whose names are not clear, in {name or 'the graph'!r}")
    return _Body(graph, name, named)


def _address(body: _Body, node: Any) -> Address:
    if node.attr["token"].s not in _OPENING:
        raise refused_op(body.graph, body.name, node.op)
    spec, handle = body.constant(node, 0), body.constant(node, 1)
    if spec is None or handle is None or not handle.isascii():
        why = "its spec is computed, so that nobody knows what it will read"
        raise refused(body.graph, body.name, "an op of tfstream", why)
    return Address(spec.decode("utf-8", "replace"), handle)


def _text(constant: Any) -> bytes | None:
    """A constant's value, if it is one text."""
    tensor = constant.attr["value"].tensor
    shape = tensor.tensor_shape
    if tensor.dtype != tf.string.as_datatype_enum or shape.dim or shape.unknown_rank:
        return None
    value: bytes | None = tensor.string_val[0] if len(tensor.string_val) == 1 else None
    return value  # `_check_constant` has seen that the tensor says it in no other way


def _check_cache(body: _Body, node: Any) -> None:
    if body.constant(node, 1) != b"":
        why = "it writes files of this machine. cache() keeps them in memory; or call it over there"
        raise refused(body.graph, body.name, "a cache in files", why)


def _check_constant(body: _Body, node: Any) -> None:
    dtype, tensor = node.attr["dtype"].type, node.attr["value"].tensor
    if tensor.dtype in _NAMING and tensor.tensor_content:
        # TensorFlow would take this instead of what is read here
        raise refused(body.graph, body.name, "a constant in two forms", "nobody writes it so")
    if dtype not in (tf.resource.as_datatype_enum, tf.variant.as_datatype_enum):
        return
    users = [] if body.name else [each for each in body.nodes.values() if node.name in each.input]
    wrong = [each for each in users if each.op not in _MADE_ANEW]
    if dtype == tf.variant.as_datatype_enum or wrong or not users:
        name = next((name for each in wrong for name in functions_of(each) if name != each.op), "")
        why = (
            "another process has not got it. Tables of tf.lookup.KeyValueTensorInitializer travel; "
            "of variables take the value"
        )
        raise refused(body.graph, name or body.name, "a table or another resource", why)


def _check_parsing(body: _Body, node: Any) -> None:
    """From bytes come numbers and texts: a resource would be another's, and TensorFlow aborts."""
    made = {node.attr[name].type for name in ("out_type", "dtype") if name in node.attr}
    if made & (_NAMING - {tf.string.as_datatype_enum}):
        why = "the bytes could name anything of this process"
        raise refused(body.graph, body.name, "a resource that is parsed from bytes", why)


def _check_table(body: _Body, node: Any) -> None:
    fed = {each.op for each in body.nodes.values() if node.name in each.input}
    if body.name or not fed & _FILLING:
        why = "its contents are not in the graph. Initialise it outside of the function, before"
        raise refused(body.graph, body.name, "a lookup table", why)


_CHECKS: dict[str, Callable[[_Body, Any], None]] = {
    "CacheDataset": _check_cache,
    "CacheDatasetV2": _check_cache,
    "Const": _check_constant,
    "DeserializeManySparse": _check_parsing,
    "DeserializeSparse": _check_parsing,
    "ParseTensor": _check_parsing,
    "HashTableV2": _check_table,
    "MutableHashTableV2": _check_table,
}


def _check_calls(graph: Any, names: set[str]) -> None:
    """Errors: NotPortableError where a function calls itself, or calls go too deep."""
    calls = {
        each.signature.name: {
            name for node in each.node_def for name in functions_of(node) if name in names
        }
        for each in graph.library.function
    }
    depth: dict[str, int] = {}
    try:
        for name in TopologicalSorter(calls).static_order():
            depth[name] = 1 + max((depth[called] for called in calls[name]), default=0)
    except CycleError as error:
        raise NotPortableError(f"functions that call themselves: {error.args[1][:3]}") from None
    if max(depth.values(), default=0) > _DEEPEST:
        raise NotPortableError(f"functions that call each other more than {_DEEPEST} deep")
