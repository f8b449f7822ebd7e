"""What exists near a repository, ref or key that was not found."""

from __future__ import annotations

from typing import Any

from tfstream.errors import SourceError
from tfstream.sources.base import TransientError
from tfstream.sources.lakefs_api import LakeFSApi, query, segment
from tfstream.sources.lakefs_errors import Ask
from tfstream.sources.nearby import SHOWN, keys_near, names_near


def repositories_near(api: LakeFSApi, wanted: str) -> str:
    """`; there are: photos, videos`, or nothing where lakeFS does not tell."""
    return names_near(wanted, _ids(api, "/repositories", "fs:ListRepositories"))


def refs_near(api: LakeFSApi, repository: str, wanted: str) -> str:
    """`; near it: main, maintenance`, or nothing where lakeFS does not tell."""
    base = f"/repositories/{segment(repository)}"
    branches = _ids(api, f"{base}/branches", "fs:ListBranches")
    return names_near(wanted, branches + _ids(api, f"{base}/tags", "fs:ListTags"))


def objects_near(api: LakeFSApi, objects: str, path: str) -> str:
    """
    The first keys and folders in the deepest folder above `path` that exists.

    Errors: those of listing.
    """

    def names(folder: str) -> list[str]:
        asked = query(prefix=folder, delimiter="/", amount=SHOWN + 1)
        return _results(api, f"{objects}/ls{asked}", "fs:ListObjects", "path")

    return keys_near(names, path)


def _ids(api: LakeFSApi, path: str, needs: str) -> list[str]:
    try:
        return _results(api, path + query(amount=1000), needs, "id")
    except (SourceError, TransientError):
        return []  # an error is being told already: this is only an addition to it


def _results(api: LakeFSApi, path: str, needs: str, field: str) -> list[str]:
    found: list[dict[str, Any]] = api.parsed(path, Ask(path, needs)).get("results") or []
    return [str(each.get(field)) for each in found]
