"""Real servers, a clean environment and tiny pictures for every test."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from servers.install import cache_folder
from servers.lakefs import LakeFSServer, find_or_install, tool_version
from servers.process import is_private
from servers.s3 import MotoServer
from tfstream.fetch import lifetime

CACHE = cache_folder()  # the user's, before `clean_environment` hides it


def pytest_report_header() -> str:
    """What the tests run with."""
    versions = [f"lakefs {tool_version()}"]
    for package in ("tensorflow", "tensorflow-cpu", "obstore"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(versions)


@pytest.fixture(autouse=True, scope="session")
def coverage_in_tensorflows_threads():
    """
    Count the lines that TensorFlow's own threads run, too.

    Before Python 3.14, coverage follows only threads that Python started. Every call of our ops
    enters `Inside` first, so that is where the others are given the same trace function.
    """
    trace, enter = threading.gettrace(), lifetime.Inside.__enter__
    if trace is None:  # no coverage, or one that needs no help
        yield
        return

    def enter_traced(inside):
        if sys.gettrace() is None:
            sys.settrace(trace)
        return enter(inside)

    lifetime.Inside.__enter__ = enter_traced
    yield
    lifetime.Inside.__enter__ = enter


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory, monkeypatch):
    """No test sees the user's home folder, servers, keys or proxies, or asks a metadata service."""
    home = tmp_path_factory.mktemp("home")
    for name in os.environ:
        if is_private(name) or name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return home


@pytest.fixture(scope="session")
def lakefs_binary(pytestconfig) -> Path:
    """The lakeFS program, built now if the machine has none (three minutes, once)."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        return find_or_install(progress=True, cache=CACHE)


@pytest.fixture(scope="session")
def lakefs_server(lakefs_binary, tmp_path_factory) -> Iterator[LakeFSServer]:
    """A lakeFS server for the whole run: use a repository of your own."""
    with LakeFSServer(tmp_path_factory.mktemp("lakefs"), binary=lakefs_binary) as server:
        yield server


@pytest.fixture
def lakefs_repository(lakefs_server) -> str:
    """The name of a new, empty repository with the branch `main`."""
    name = f"repo-{uuid.uuid4().hex[:12]}"
    lakefs_server.create_repository(name)
    return name


@pytest.fixture(scope="session")
def s3_server() -> Iterator[MotoServer]:
    """An S3 server for the whole run: use a bucket of your own."""
    with MotoServer() as server:
        yield server


@pytest.fixture
def s3_bucket(s3_server) -> str:
    """The name of a new, empty bucket."""
    name = f"bucket-{uuid.uuid4().hex[:12]}"
    s3_server.create_bucket(name)
    return name


@pytest.fixture(scope="session")
def digits(tmp_path_factory) -> Path:
    """A folder of 12 pictures in three class folders: PNG and JPEG, grey and colour. Read only."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("digits")
    for number in range(12):
        name, extension = str(number // 4), (".png", ".jpg")[number % 2]
        (folder / name).mkdir(exist_ok=True)
        mode, colour = ("L", 20 * number) if number % 4 == 0 else ("RGB", (20 * number, 90, 255))
        picture = Image.new(mode, (12 + number, 10), colour)
        picture.paste(0, (2, 2, 6, 5))  # so that no picture is one flat colour
        picture.save(folder / name / f"{number:04}{extension}")
    return folder
