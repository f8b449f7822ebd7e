"""What Decks show: escaped, with a link into lakeFS, without reading anything."""

import pytest

from tfstream import DatasetSpec, DirectoryLabels, ImageDecoder, LakeFSSource
from tfstream.flyte.deck import graph_html, spec_html
from tfstream.sources.lakefs_credentials import VARIABLES

COMMIT = "3f" * 32
EVIL = "<script>alert(1)</script>"


def spec(**source):
    """Of a repository with 100 pictures."""
    wanted = {"repository": "photos", "ref": "main", "commit": COMMIT, "pattern": "train/**"}
    return DatasetSpec(
        source=LakeFSSource(**{**wanted, **source}),
        decoder=ImageDecoder(),
        records=1234,
        labels=DirectoryLabels(),
        label_mode="int",
        class_names=("hat", EVIL),
    )


def test_it_shows_what_is_streamed():
    """The commit, the count, the classes and the digest."""
    shown = spec_html(spec())
    for text in (COMMIT, "1,234", "2: hat", spec().digest):
        assert text in shown


def test_it_is_escaped():
    """Classes, refs and patterns are other people's texts."""
    evil = spec(ref=EVIL.replace("/", "|"), pattern=f"{EVIL}/**")
    for shown in (spec_html(evil), graph_html(evil, EVIL), graph_html(None, EVIL)):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown


def test_it_links_into_lakefs(monkeypatch):
    """To the commit, at the server of the spec or of the environment; else there is no link."""
    page = f"/repositories/photos/objects?ref={COMMIT}"
    assert "<a " not in spec_html(spec())
    assert f'href="https://lake.example{page}"' in spec_html(spec(endpoint="https://lake.example"))
    for name, value in zip(
        VARIABLES, ("https://own.example", "AKIAJEXAMPLE", "secretexample"), strict=False
    ):
        monkeypatch.setenv(VARIABLES[name], value)
    shown = spec_html(spec())
    assert f'href="https://own.example{page}"' in shown
    assert "secretexample" not in shown


def test_many_classes_are_cut():
    """A thousand names would hide the rest."""
    many = spec().replace(class_names=tuple(f"class-{number}" for number in range(1000)))
    table = spec_html(many).partition("<details>")[0]
    assert "1000: class-0, " in table
    assert "class-20" not in table


def test_a_report_needs_flyte(monkeypatch):
    """Without flyte 2 the error is the pip line."""
    import sys

    from tfstream import MissingDependencyError
    from tfstream.flyte import log_dataset

    monkeypatch.setitem(sys.modules, "flyte.report", None)
    with pytest.raises(MissingDependencyError, match=r"tfstream\[flyte2\]"):
        log_dataset(spec())
