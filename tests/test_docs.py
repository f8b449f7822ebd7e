"""
The documentation is true: every ```python block of README.md and docs/*.md runs.

The blocks of a page run in order in one namespace, in a folder of their own, against real
servers. A ```text block right after one is what it prints (`…` stands for anything). A block
that cannot run is marked ```python no-run, and its first line says why.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import fsspec
import numpy as np
import pytest
from PIL import Image

import tfstream
from tfstream import errors, registry
from tfstream.sources.lakefs_credentials import VARIABLES
from tfstream.testing.sources import SourceTests

ROOT = Path(__file__).parent.parent
DESIGN, EXTENDING = ROOT / "docs" / "design.md", ROOT / "docs" / "extending.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN_AT_MOST = 3

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)(?P<path>[^)#]*)(?:#[^)]*)?\)")
TREE = re.compile(r"^(?P<indent> *)(?P<name>[\w.]+(?:\.py|/))(?P<what>.*)$", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


Run = Callable[[str, str, dict], str]
"""Runs so much source under a file's name in a namespace; gives what it printed."""


class Block(NamedTuple):
    """A fenced block: its info string, text and first line, and what it is to print, if given."""

    info: str
    text: str
    line: int
    expected: str | None


def text_of(page: Path) -> str:
    """A page as it is."""
    return page.read_text("utf-8")


def blocks(page: Path, info: str = "") -> list[Block]:
    """All fenced blocks of a page, or those with this info string."""
    source = text_of(page)
    found = list(FENCE.finditer(source))
    result = []
    for match, after in zip(found, [*found[1:], None], strict=False):
        told = after and after["info"] == "text" and not source[match.end() : after.start()].strip()
        expected = after["text"] if after and told else None
        line = source.count("\n", 0, match.start("text"))
        result.append(Block(match["info"], match["text"], line, expected))
    return [block for block in result if not info or block.info == info]


# What the pages' code finds: servers with data, variables that name them, a folder.


def objects_of_photos() -> dict[str, bytes]:
    """24 small JPEGs in three class folders."""
    objects = {}
    for number in range(24):
        pixels = np.random.default_rng(number).integers(0, 256, (40, 30, 3), np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG")
        objects[f"train/{('dress', 'hat', 'shirt')[number // 8]}/{number:04}.jpg"] = file.getvalue()
    return objects


def objects_of_mnist() -> dict[str, bytes]:
    """Two gzip IDX pairs of 28 x 28 uint8, named as MNIST's."""

    def packed(array: np.ndarray) -> bytes:
        header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        return gzip.compress(header + array.tobytes())

    draw, objects = np.random.default_rng(0), {}
    for part, count in (("train", 60), ("t10k", 20)):
        images = draw.integers(0, 256, (count, 28, 28), np.uint8)
        objects[f"{part}-images-idx3-ubyte.gz"] = packed(images)
        objects[f"{part}-labels-idx1-ubyte.gz"] = packed(np.arange(count, dtype=np.uint8) % 10)
    return objects


@pytest.fixture(scope="module")
def stores(lakefs_server, s3_server) -> dict[str, str]:
    """lakeFS' repositories `photos` and `mnist`, the bucket `photos`; the variables for them."""
    for name, objects in (("photos", objects_of_photos()), ("mnist", objects_of_mnist())):
        lakefs_server.create_repository(name)
        for key, data in objects.items():
            lakefs_server.upload(name, "main", key, data)
        lakefs_server.commit(name, "main", "the first version")
    s3_server.create_bucket("photos")
    for key, data in objects_of_photos().items():
        s3_server.upload("photos", key, data)
    return {
        "LAKECTL_SERVER_ENDPOINT_URL": lakefs_server.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": lakefs_server.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": lakefs_server.secret_access_key,
        "AWS_ENDPOINT_URL": s3_server.endpoint,
        "AWS_ACCESS_KEY_ID": s3_server.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3_server.secret_access_key,
    }


@pytest.fixture
def world(stores, clean_environment, tmp_path, monkeypatch) -> Iterator[Run]:
    """A function that runs code in that environment."""
    for name, value in stores.items():
        monkeypatch.setenv(name, value)
    for key, data in objects_of_photos().items():
        file = tmp_path / "photos" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    kinds = {kind: dict(known) for kind, known in registry._addresses.items()}
    monkeypatch.setattr(registry, "_addresses", kinds)

    def run(source: str, name: str, namespace: dict) -> str:
        code = compile(source, name, "exec", dont_inherit=True)
        with redirect_stdout(io.StringIO()) as output:
            exec(code, namespace)
        return output.getvalue()

    yield run
    memory = fsspec.filesystem("memory")  # one for the whole process
    if memory.exists("/photos"):
        memory.rm("/photos", recursive=True)


def shown(expected: str) -> re.Pattern[str]:
    """A text in which each `…` stands for anything."""
    return re.compile(".*?".join(map(re.escape, expected.strip().split("…"))), re.DOTALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning")  # Keras', for any data
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem
)
def test_the_code_of_a_page_runs(page, world):
    """Its blocks run one after the other, and print what the page says."""
    namespace = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        printed = world("\n" * block.line + block.text, str(page), namespace).strip()
        if block.expected is not None:
            assert shown(block.expected).fullmatch(printed), f"line {block.line}:\n{printed}"


def test_the_documented_source_keeps_the_contract(tmp_path):
    """The source that docs/extending.md writes passes every test that it says it passes."""
    file = tmp_path / "test_documented.py"
    file.write_text("\n\n".join(block.text for block in blocks(EXTENDING, "python")), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    tests = [name for name in vars(SourceTests) if name.startswith("test_")]
    assert f"\n{len(tests)} passed" in done.stdout, done.stdout + done.stderr


@every_page
def test_what_is_not_run_says_why(page):
    """A block of Python is run, or its first line is a comment with the reason."""
    infos = {block.info for block in blocks(page) if "python" in block.info}
    assert {"python", "python no-run"} >= infos
    for block in blocks(page, "python no-run"):
        assert block.text.startswith("# not run by the tests: ")


def test_little_is_not_run():
    """Blocks that are not run are rare."""
    assert sum(len(blocks(page, "python no-run")) for page in PAGES) <= NOT_RUN_AT_MOST


@every_page
def test_json_is_json(page):
    """What is called JSON can be copied as it is."""
    for block in blocks(page, "json"):
        json.loads(block.text)


@every_page
def test_links_lead_somewhere(page):
    """Every link into the repository names a file or folder that is there."""
    links = {match["path"] for match in LINK.finditer(text_of(page)) if match["path"]}
    assert [] == [link for link in sorted(links) if not (page.parent / link).exists()]


@every_page
def test_commands_exist(page):
    """Every `make` command that a page names is one."""
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^|&& )make ([a-z]+)", text_of(page), re.MULTILINE))
    assert set() == named - targets


@every_page
def test_names_exist(page):
    """Every `tfstream.name` on a page is public, or a module."""
    names = set(re.findall(r"\btfstream\.([A-Za-z]\w*)", text_of(page)))
    modules = {name for name in names if find_spec(f"tfstream.{name}")}
    assert set() == names - modules - set(tfstream.__all__)


@every_page
def test_pages_stand_on_their_own(page):
    """No page has a path of somebody's machine."""
    assert [] == re.findall(r"(?<![\w.~])/(?:work|root|home|tmp|Users)/\S*", text_of(page))


def test_every_file_is_in_the_design():
    """The tree in docs/design.md has a line for each module of the package, and no other."""
    tree = next(block.text for block in blocks(DESIGN) if block.text.startswith("tfstream/"))
    folders, found = [], {}
    for match in TREE.finditer(tree):
        folders = [*folders[: len(match["indent"]) // 2], match["name"]]
        found["".join(folders)] = match["what"].strip()
    assert [] == [name for name, what in found.items() if name.endswith(".py") and not what]
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "tfstream").rglob("*.py")}
    rooms = {name for name in modules if name.count("/") > 1 and name.endswith("/__init__.py")}
    assert sorted(modules - rooms) == sorted(name for name in found if name.endswith(".py"))


def test_every_error_is_explained():
    """docs/errors.md has a row for each class that tfstream raises."""
    page = text_of(ROOT / "docs" / "errors.md")
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert set() == {name for name in classes if f"`{name}`" not in page}


def test_every_dependency_has_its_reason():
    """docs/design.md names each package that pyproject.toml asks for."""
    project = text_of(ROOT / "pyproject.toml").partition("dependencies = ")[2].partition("[tool")[0]
    packages = set(re.findall(r'"([A-Za-z][\w-]*)[^"]*"', project)) - {"tfstream"}
    assert set() == {name for name in packages if f"`{name}`" not in text_of(DESIGN)}


def test_every_variable_is_documented():
    """docs/sources.md names each variable from which lakeFS' settings are taken."""
    page = text_of(ROOT / "docs" / "sources.md")
    assert set() == {name for name in VARIABLES.values() if name not in page}
