"""Machines on which tfstream is installed, and both SDKs in this process."""

from __future__ import annotations

import importlib
import sys
import warnings

import pytest
from machines import Machine

import tfstream
from tfstream.flyte.registration import register_flyte, register_flytekit

OF_FLYTEKIT = (
    *("test_blobs", "test_checkpoints_jobs", "test_contact_sheet", "test_flyte_examples"),
    *("test_flyte_import", "test_flyte_passing", "test_flytekit_jobs", "test_models"),
    *("test_nothing_is_read", "test_torch"),
)
collect_ignore = [f"{name}.py" for name in OF_FLYTEKIT if sys.version_info >= (3, 13)]
"""flytekit is for Python up to 3.12, so tests that need it are, too."""


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A new home folder; programs that run there find tfstream's entry points."""
    return Machine(tmp_path)


@pytest.fixture(scope="session")
def engine():
    """flytekit's TypeEngine, with our types, whether or not tfstream is installed here."""
    from flytekit.core.type_engine import TypeEngine

    register_flytekit()
    return TypeEngine


@pytest.fixture(autouse=True, scope="session")
def flyte_imported():
    """flyte's own classes are deprecated by newer pydantics, which warn when they are made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module("flyte.io")


@pytest.fixture(scope="session")
def engine2():
    """flyte 2's."""
    from flyte.types import TypeEngine

    TypeEngine.lazy_import_transformers()
    register_flyte()
    return TypeEngine


class Branch:
    """The branch `main` of a lakeFS repository with the pictures of a folder."""

    def __init__(self, server, repository, folder):
        self._server, self._repository = server, repository
        self.url = f"lakefs://{repository}/main/**"
        self.variables = {
            "LAKECTL_SERVER_ENDPOINT_URL": server.endpoint,
            "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": server.access_key_id,
            "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": server.secret_access_key,
        }
        pictures = (path for path in folder.rglob("*") if path.is_file())
        self.commit({path.relative_to(folder).as_posix(): path for path in pictures})

    def commit(self, files):
        """Add pictures under these keys."""
        for key, path in files.items():
            self._server.upload(self._repository, "main", key, path.read_bytes())
        self._server.commit(self._repository, "main", f"{len(files)} pictures")


@pytest.fixture
def branch(digits, lakefs_server, lakefs_repository):
    """A new one."""
    return Branch(lakefs_server, lakefs_repository, digits)


@pytest.fixture
def data(digits):
    """A dataset of pictures in a folder."""
    return tfstream.from_url(digits, image_size=(4, 4), batch_size=4, verbose=False)
