"""docs/images.md is true: its tables are what the code knows, its pictures what tfstream makes."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tfstream import ImageDecoder, decoders
from tfstream.decoders import headers, orientation, pillow, refusal, routes

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "images.md").read_text("utf-8")
PICTURES = DOCS / "pictures"


def load_maker():
    """docs/make_pictures.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = load_maker()


def table(head):
    """The cells of the page's table whose head begins so, row by row."""
    rows = PAGE.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in rows]


FORMATS, CHOICES, KINDS = table("format"), table("`ImageDecoder(…)`"), table("kind")


def those(column, *words):
    """The formats with one of the words in a column."""
    return {row[0] for row in FORMATS if any(word in row[column] for word in words)}


def test_every_format_has_a_row():
    """What a header can be read of."""
    assert set(headers._READERS) == {row[0] for row in FORMATS}
    assert len(FORMATS) == len({row[0] for row in FORMATS})


def test_who_decodes_a_format():
    """TensorFlow and Pillow are named where the table of routes and Pillow's classes have it."""
    assert set(routes.TENSORFLOW) == those(2, "TensorFlow")
    assert set(pillow.FORMATS) == those(2, "Pillow")


def test_which_formats_are_turned():
    """Those in which an orientation is looked for."""
    assert set(orientation._FINDERS) == those(3, "EXIF", "its own")


def test_packages_are_as_the_error_has_them():
    """The pip line of HEIC, the version of Pillow for AVIF."""
    cells = {row[0]: row[2] for row in FORMATS}
    assert pillow._INSTALL["HEIC"] in cells["HEIC"]
    version = re.search(r">=([\d.]+)", pillow._INSTALL["AVIF"])[1]
    assert f"from {version} on" in cells["AVIF"]


def test_every_choice_of_the_decoder():
    """Each field has a row, and its default comes first."""
    first = {row[0].strip("`"): row[1].replace("`", "").split(", ")[0] for row in CHOICES}
    defaults = {
        name: f"{value:,}" if isinstance(value, int) else "None" if value is None else f'"{value}"'
        for name, value in vars(ImageDecoder()).items()
    }
    assert defaults == first


def kinds_in_the_code():
    """Every kind of `DecodeError` that a decoder writes down, `…` where it fills something in."""
    calls = [
        node
        for path in Path(decoders.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    firsts = [call.args[0] for call in calls if getattr(call.func, "id", "") == "refused"]
    named = [word.value for call in calls for word in call.keywords if word.arg == "kind"]
    kinds = {written(node) for node in (*firsts, *named)} - {""}
    return kinds | {kind.replace("{}", "…") for _, kind in refusal._SIGNS}


def written(node):
    """The text of a string in the source; nothing, where it is a variable."""
    if isinstance(node, ast.Constant):
        return node.value
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts)


def test_every_kind_of_error_is_explained():
    """Each has a row of the table, and each row is one that the decoders have."""
    rows = [row[0].strip("`") for row in KINDS]
    patterns = {row: re.escape(row).replace("…", ".+") for row in rows}
    found = {
        kind: [row for row in rows if re.fullmatch(patterns[row], kind)]
        for kind in kinds_in_the_code()
    }
    assert [] == [kind for kind, fitting in found.items() if not fitting]
    assert set(rows) == {row for fitting in found.values() for row in fitting}


def test_every_picture_is_on_the_page():
    """Once each, with a text for those who cannot see it; and no other."""
    shown = re.findall(r"!\[([^\]]+)\]\(pictures/(\w+)\.png\)", PAGE)
    assert sorted(MAKER.PICTURES) == sorted(name for _, name in shown)
    assert sorted(MAKER.PICTURES) == sorted(path.stem for path in PICTURES.iterdir())


def test_the_pictures_are_small():
    """Together less than 300 kB, since the repository keeps every version."""
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 300_000


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKER.PICTURES)
def test_a_picture_is_what_tfstream_makes(name):
    """The file has the pixels that its function gives now; codecs may differ by two levels."""
    with Image.open(PICTURES / f"{name}.png") as file:
        expected = np.asarray(file).astype(int)
    actual = MAKER.PICTURES[name]()
    assert expected.shape == actual.shape
    assert abs(expected - actual).max() <= 2
