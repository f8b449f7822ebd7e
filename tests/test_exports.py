"""The public names: one sorted list, and it is true."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import tfstream
from tfstream import errors

ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)}

DESIGN = ERRORS | {
    "DatasetSpec",
    "ReadOptions",
    "StreamDataset",
    "distribute",
    "from_graph",
    "from_lakefs",
    "from_s3",
    "from_url",
    "load",
    "spec_of",
    "to_graph",
    *(f"{store}Source" for store in ("Azure", "Fsspec", "GCS", "LakeFS", "Local", "S3")),
    *(f"{form}Reader" for form in ("File", "Idx", "TFRecord", "Tar", "Zip")),
    *("ImageDecoder", "RawDecoder", "DirectoryLabels"),
    *(f"{kind}Labels" for kind in ("Field", "Image", "Metadata", "Regex", "Table")),
    *(f"register_{kind}" for kind in ("decoder", "labels", "reader", "source")),
}
"""What the design promises, as far as it is built."""

MORE = {"Arguments", "Stats", "UncommittedWarning"}
"""What turned out to be needed: the shared arguments' page, and two types that users meet."""


def test_names_are_the_designs():
    """`tfstream.__all__` is sorted, without doubles, and just what the design and MORE have."""
    assert sorted(DESIGN | MORE) == list(tfstream.__all__)


@pytest.mark.parametrize("name", tfstream.__all__)
def test_every_name_is_there(name):
    """Every public name is something, and says of itself that this is its name."""
    assert name == getattr(tfstream, name).__name__


def test_dir_has_them_all():
    """`dir(tfstream)`, which interpreters complete from, has the public names and no other."""
    assert tfstream.__all__ == [name for name in dir(tfstream) if not name.startswith("__")]


def test_unknown_names_are_plain_errors():
    """A name that is not there is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="module 'tfstream' has no attribute 'nothing'"):
        tfstream.nothing  # noqa: B018
    assert not hasattr(tfstream, "from_generator")


def test_type_checkers_see_the_same_names():
    """The imports for type checkers bring every public name, from where it really comes."""
    tree = ast.parse(Path(tfstream.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert "TYPE_CHECKING" == ast.unparse(block.test)
    seen = {(node.module, alias.name) for node in block.body for alias in node.names}
    assert set(tfstream.__all__) <= {name for _, name in seen}
    for module, name in sorted(seen):
        assert getattr(tfstream, name) is getattr(import_module(module), name)
