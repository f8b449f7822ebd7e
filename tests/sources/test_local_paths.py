"""Folders: what a path or pattern as people write it means."""

from __future__ import annotations

import pytest

from tfstream.options import ReadOptions
from tfstream.sources.local import LocalSource, local_source
from tfstream.sources.pattern import matcher
from tfstream.testing.sources import found


class TestPaths:
    """What a path or pattern as people write it means."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        for key in ["train/cat/1.jpg", "a[1]/x.jpg", "star*/x.jpg", "file.jpg"]:
            (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / key).touch()
        self.root = tmp_path
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))

    @pytest.mark.parametrize("before", ["", "./", "~/", "absolute"])
    @pytest.mark.parametrize(
        ("path", "root", "pattern"),
        [
            ("train", "train", "**"),
            ("train/", "train", "**"),
            ("train/cat/1.jpg", "train/cat", "1.jpg"),
            ("train/**/*.jpg", "train", "**/*.jpg"),
            ("train/c*/1.jpg", "train", "c*/1.jpg"),
            ("train/*/", "train", "*/"),
            ("train/../train/*", "train/../train", "*"),
            ("*", "", "*"),
            ("a[1]", "a[1]", "**"),  # exists
            ("a[1]/x.jpg", "a[1]", "x.jpg"),  # exists
            ("a[1]/*", "a[1]", "*"),  # exists
            ("a[ab]/*", "", "a[ab]/*"),
            ("a[2]/*", "a2", "*"),
            ("a[[]1]", "a[1]", "**"),
            ("a[[]1]/x.jpg", "a[1]", "x.jpg"),
            ("a[[]1]/*.jpg", "a[1]", "*.jpg"),
            ("star*", "star*", "**"),  # exists
            ("star[*]/x*", "star*", "x*"),
            ("nothing", "nothing", "**"),
        ],
    )
    def test_paths(self, before, path, root, pattern):
        """What exists is taken as it is; else the literal prefix is the root."""
        before = f"{self.root}/" if before == "absolute" else before
        expected = LocalSource(root=str(self.root / root), pattern=pattern)
        assert expected == local_source(before + path)

    def test_a_file_with_wildcards_in_its_name(self):
        """An existing file is read, whatever its name, and nothing else."""
        (self.root / "x[ab]*.jpg").touch()
        (self.root / "xa.jpg").touch()
        source = local_source("x[ab]*.jpg")
        match = matcher(source.pattern)
        assert ["x[ab]*.jpg"] == [
            info.path for info in found(source.open(None, ReadOptions())) if match(info.path)
        ]

    def test_links_are_passed_on(self):
        """Each form keeps `follow_links`."""
        for path in ["train", "file.jpg", "train/*"]:
            assert local_source(path, follow_links=True).follow_links

    def test_url(self):
        """An object's URL is its absolute path."""
        assert LocalSource(root="/", pattern="*") == local_source("/*")
        assert LocalSource(root="/") == local_source("/")
        assert str(self.root / "train/a b#c") == local_source("train").url("a b#c")
        assert LocalSource(root="/").url("a") == "/a"
