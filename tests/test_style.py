"""Sizes and docstrings, held."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "tfstream"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions(path):
    """Every function of a file, also those in classes and in functions."""
    tree = ast.parse(path.read_text("utf-8"), str(path))
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]


def test_files_are_short():
    """No file of the package has more than 300 lines."""
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert len(sizes) > 10
    assert {} == {path.name: size for path, size in sizes.items() if size > 300}


def test_functions_are_short():
    """No function of the package has more than 40 lines of code; its docstring is not counted."""
    long = []
    for path in PACKAGE.rglob("*.py"):
        for node in functions(path):
            docstring = isinstance(node.body[0], ast.Expr) and ast.get_docstring(node) is not None
            body = node.body[1:] if docstring else node.body
            first = body[0].lineno if body else node.end_lineno
            head = node.body[0].lineno - node.lineno
            if head + node.end_lineno - first + 1 > 40:
                long.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}")
    assert [] == long


def test_modules_say_what_they_are():
    """Every module of the package, and every test file, starts with a docstring."""
    silent = [
        str(path)
        for path in (*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py"))
        if path.read_text("utf-8").strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert [] == silent


@pytest.mark.parametrize("folder", [TESTS, PACKAGE / "testing"], ids=lambda path: path.name)
def test_every_test_states_its_fact(folder):
    """Every test function has a docstring."""
    silent = [
        f"{path.relative_to(folder)}:{node.lineno} {node.name}"
        for path in folder.rglob("*.py")
        for node in functions(path)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert [] == silent
