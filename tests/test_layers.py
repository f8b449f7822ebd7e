"""The architecture as tests: who imports whom, what is loaded when, what is never used."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tfstream

ROOT = Path(tfstream.__file__).parent

LAYERS = (
    {"checks", "errors", "forks", "options", "registry", "tf_config"},
    {"sources", "readers", "labels", "decoders"},
    {"urls"},
    {"jsonable"},
    {"spec"},
    {"fetch"},
    {"graph"},
    {"arguments"},
    {"dataset"},
    {"distributed"},
    {"describe"},
    {"api"},
    {"keras"},
    {"flyte", "cli"},
    {"__main__"},
)
"""Each may import from those above it in this table and from its own folder, nothing else."""

TENSORFLOW = {"graph", "dataset", "keras"}
"""Rooms that make no sense without TensorFlow, loaded when it is needed: they may import it."""

HEAVY = {"PIL", "aiohttp", "boto3", "botocore", "fsspec", "keras", "obstore", "tensorflow"}
HEAVY |= {"rich", "urllib3", "yaml"}

NEVER = {"from_generator", "numpy_function", "py_function"}


@cache
def modules():
    """Every module of the package by its name below `tfstream.`, parsed; the package is ''."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"), str(path))
    return found


def room(module):
    """The first part of a module's name."""
    return module.partition(".")[0]


def targets(node):
    """The full names that an import statement may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def outside_types(node):
    """The node and all below it that is not `if TYPE_CHECKING:`."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not is_for_types(child):
            yield from outside_types(child)


def imports(module, walk=ast.walk):
    """Which modules of tfstream a module imports, anywhere in it."""
    names = (name for node in walk(modules()[module]) for name in targets(node))
    below = {name.removeprefix("tfstream.") for name in names if name.startswith("tfstream.")}
    return {name for name in below if name in modules()} - {module}


def is_for_types(node):
    """Whether this is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def loaded_at_once(node):
    """The import statements that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) or is_for_types(child):
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        yield from loaded_at_once(child)


def test_every_room_has_its_place():
    """No module stands outside the table, but for the package itself and `testing`."""
    rooms = {room(module) for module in modules()}
    assert set() == rooms - set().union(*LAYERS) - {"", "testing"}


def test_imports_go_one_way():
    """A room imports only what lies below it in the table; `testing` may import all of it."""
    wrong = []
    for module in modules():
        for height, layer in enumerate(LAYERS):
            if room(module) in layer:
                allowed = {room(module)}.union(*LAYERS[:height])
                seen = sorted(imports(module))
                wrong += [f"{module} -> {name}" for name in seen if room(name) not in allowed]
    assert [] == wrong


def test_nothing_is_built_on_testing():
    """`testing` is imported by itself only, so that users need no pytest."""
    users = [name for name in modules() if any(room(it) == "testing" for it in imports(name))]
    assert {"testing"} >= {room(name) for name in users}


def test_there_are_no_cycles():
    """No module imports itself by way of others, not even inside functions (types may)."""
    graph = {module: imports(module, outside_types) for module in modules() if module}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("package", sorted(HEAVY))
def test_heavy_packages_are_imported_where_they_are_used(package):
    """No module but TensorFlow's own rooms loads such a package when it is itself imported."""
    loading = {
        module
        for module, tree in modules().items()
        for node in loaded_at_once(tree)
        if any(room(name) == package for name in targets(node))
    }
    loading = {module for module in loading if room(module) != package}  # the product's own edge
    if package == "tensorflow":
        loading = {module for module in loading if room(module) not in TENSORFLOW}
    assert set() == loading


def test_only_testing_knows_pytest():
    """pytest is imported by nothing that users need for their work."""
    users = {
        room(module)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if any(room(name) in ("pytest", "_pytest", "hypothesis") for name in targets(node))
    }
    assert {"testing"} >= users


def test_no_python_hidden_in_a_graph():
    """`from_generator`, `py_function` and `numpy_function` are named nowhere in code."""
    found = []
    for module, tree in modules().items():
        for node in ast.walk(tree):
            names = {getattr(node, "attr", None), getattr(node, "id", None)}
            names |= {name.rpartition(".")[2] for name in targets(node)}
            found += [f"{module}:{node.lineno} {name}" for name in names & NEVER]
    assert [] == found


def test_private_tensorflow_is_one_file():
    """What is not TensorFlow's public interface is touched by `graph/op.py` alone."""
    users = {
        module for module, tree in modules().items() if "tensorflow.python" in ast.unparse(tree)
    }
    assert {"graph.op"} >= users
