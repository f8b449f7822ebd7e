"""
What cannot travel, in the words of who wrote the dataset.

```
py_function in map(augment) cannot travel: it is Python of this process. Write it with …
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tfstream.errors import NotPortableError

_PYTHON = "it is Python of this process. Write it with TensorFlow's ops"
_FILE = "it reads files of this machine. Make a dataset of tfstream of them, or one of tensors"
_VARIABLE = (
    "another process has not got it. Take its value, tf.constant(variable.numpy()); Keras' random "
    "layers and tf.random.Generator hold one, tf.image.random_* and tf.random.* do not"
)
_SERVED = "DataServiceDataset"
"""What the names of ops that ask a service begin with; ops around them are not to be named."""
_KNOWN = {
    "EagerPyFunc": ("py_function", _PYTHON),
    "PyFunc": ("numpy_function", _PYTHON),
    "PyFuncStateless": ("numpy_function", _PYTHON),
    "GeneratorDataset": (
        "from_generator",
        "it is Python of this process. Read with tfstream.from_url, or make a dataset of tensors",
    ),
    **dict.fromkeys(
        ("VarHandleOp", "ReadVariableOp", "AssignVariableOp", "ResourceGather"),
        ("a tf.Variable", _VARIABLE),
    ),
    **dict.fromkeys(
        ("RngReadAndSkip", "RngSkip", "StatefulUniform", "StatefulStandardNormalV2"),
        ("a tf.random.Generator", _VARIABLE),
    ),
    "InitializeTableFromTextFileV2": (
        "a lookup table of a file",
        "it reads files of this machine. Make it with tf.lookup.KeyValueTensorInitializer",
    ),
    **dict.fromkeys(
        ("TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset", "MatchingFilesDataset"),
        ("a dataset of files", _FILE),
    ),
    **dict.fromkeys(
        ("FixedLengthRecordDatasetV2", "CSVDatasetV2", "LoadDataset", "SqlDataset"),
        ("a dataset of files", _FILE),
    ),
    "ReadFile": ("read_file", _FILE),
    "SnapshotDatasetV2": ("snapshot", "it writes files of this machine. Call it over there"),
    _SERVED: (
        "what tfstream.distribute gives",
        "it is made by the workers of a tf.data service. Pass on the dataset that you gave to "
        "distribute, and call distribute where it is used",
    ),
    "PrintV2": ("tf.print", "it may write files. Leave it out"),
}
"""Op to what it is called, and why it cannot and what to do."""

_STAGE = re.compile(r"(?:Legacy|Parallel)?(?P<name>\w+?)Dataset(?:V\d)?")


def refused_op(graph: Any, body: str, op: str) -> NotPortableError:
    """About an op in the function `body`; "" is the graph itself."""
    if any(node.op.startswith(_SERVED) for node in _nodes(graph)):
        op, body = _SERVED, ""
    elif "GeneratorDataset" in (caller for caller, _ in _callers(graph, body)):
        op, body = "GeneratorDataset", ""
    unknown = (
        f"the op {op[:60]!r}",
        "it is none of those that tfstream/graph/allowed_ops.py lists",
    )
    what, why = _KNOWN.get(op, unknown)
    return refused(graph, body, what, why)


def refused(graph: Any, body: str, what: str, why: str) -> NotPortableError:
    """About something else in it."""
    stage = next((_named(found["name"], name) for found, name in _stages(graph, body)), "")
    return NotPortableError(f"{what}{stage} cannot travel: {why}")


def _nodes(graph: Any) -> Iterator[Any]:
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def functions_of(node: Any) -> Iterator[str]:
    """The names of all functions that a node may call."""
    yield node.op
    yield from _in_attributes(node.attr)


def _in_attributes(attributes: Any) -> Iterator[str]:
    for value in attributes.values():
        for function in (value.func, *value.list.func):
            if function.name:
                yield function.name
                yield from _in_attributes(function.attr)


def _stages(graph: Any, body: str) -> Iterator[tuple[re.Match[str], str]]:
    for op, name in _callers(graph, body):
        found = _STAGE.fullmatch(op)
        if found:
            yield found, name


def _callers(graph: Any, body: str) -> Iterator[tuple[str, str]]:
    """(op, function that it calls), from the function `body` outwards."""
    inside = {
        "": graph.node,
        **{each.signature.name: each.node_def for each in graph.library.function},
    }
    callers = {
        name: (node.op, caller)
        for caller, nodes in inside.items()
        for node in nodes
        for name in functions_of(node)
        if name and name in inside
    }
    seen: set[str] = set()
    while body in callers and body not in seen:
        seen.add(body)
        op, caller = callers[body]
        yield op, body
        body = caller


def _named(stage: str, function: str) -> str:
    """` in map(augment)`, of `Map` and `__inference_Dataset_map_augment_12`."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", stage).lower()
    name = re.search(rf"Dataset_{word}_(?P<name>.+)_\d+$", function)
    return f" in {word}({name['name'][:60] if name else ''})"
