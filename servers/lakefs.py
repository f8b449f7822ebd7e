"""
A real lakeFS server of our own, on loopback, with all its state in one folder.

```python
with LakeFSServer(folder) as server:
    server.create_repository("photos")
    server.upload("photos", "main", "train/hat/1.jpg", data)
    commit = server.commit("photos", "main", "first photos")
```

`python -m servers.lakefs` installs the program, with progress.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import urllib3
import yaml

from servers.install import build_go_program, cache_folder, reporter, usable
from servers.process import ServerUnavailable, answers, start_server

__all__ = ["LakeFSServer", "ServerUnavailable", "find_or_install"]

TOOL = Path(__file__).with_name("lakefs-tool")
PACKAGE = "github.com/treeverse/lakefs"
OLDEST = (1, 60)
"""A `lakefs` on the path that is older is not used."""


def tool_version() -> str:
    """The version that `go.mod` names, such as `1.84.0`."""
    words = (TOOL / "go.mod").read_text().split()
    return words[words.index(PACKAGE) + 1].removeprefix("v")


def cached_program(cache: Path) -> Path:
    """Where a built `lakefs` is kept: another place for other modules."""
    key = hashlib.sha256((TOOL / "go.sum").read_bytes()).hexdigest()[:16]
    return cache / f"lakefs-{key}" / "lakefs"


def find_or_install(progress: bool = False, *, cache: Path | None = None) -> Path:
    """
    The `lakefs` program: on the path, in the user's cache, or built there now.

    Raises:
        ServerUnavailable: It is not there and could not be built.
    """
    on_path = shutil.which("lakefs")
    if on_path and usable(on_path, "--version", oldest=OLDEST):
        return Path(on_path)
    target = cached_program(cache or cache_folder())
    if target.exists():
        return target
    flags = f"-s -w -X {PACKAGE}/pkg/version.Version={tool_version()}"
    build = ["build", "-mod=readonly", "-trimpath", f"-ldflags={flags}", "-o", "{bin}/lakefs"]
    return build_go_program(
        target,
        [*build, f"{PACKAGE}/cmd/lakefs"],
        title=f"lakeFS {tool_version()}",
        report=reporter(progress),
        folder=TOOL,
    )


class S3Server(Protocol):
    """What lakeFS needs to know of a server that shall keep its objects."""

    endpoint: str
    access_key_id: str
    secret_access_key: str


class RequestFailed(Exception):
    """lakeFS answered with an error; `status` is its HTTP code."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class LakeFSServer:
    """
    A running server inside a `with` statement; started again on a folder, it has the same data.

    Attributes:
        endpoint: `http://127.0.0.1:PORT`, another port each time.
        access_key_id: Of the one user, who may do everything.
        secret_access_key: Of the same user.
    """

    def __init__(
        self, folder: Path, *, binary: Path | None = None, store: S3Server | None = None
    ) -> None:
        """Keep objects in `store` instead of the folder, which gives presigned URLs."""
        self._folder = folder.resolve()
        self._binary = binary
        self._config = _config(self._folder, store)
        user = self._config["installation"]
        self.access_key_id: str = user["access_key_id"]
        self.secret_access_key: str = user["secret_access_key"]
        self.endpoint = ""

    def __enter__(self) -> LakeFSServer:
        binary = self._binary or find_or_install()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process, self.endpoint = start_server(
            "lakeFS",
            lambda port: self._command(binary, port),
            log=self._folder / "lakefs.log",
            ready=lambda endpoint: answers(f"{endpoint}/_health", 200),
        )
        self._pool = urllib3.PoolManager(
            maxsize=32,
            retries=False,
            timeout=60,
            headers=urllib3.make_headers(
                basic_auth=f"{self.access_key_id}:{self.secret_access_key}"
            ),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.clear()
        self._process.stop()

    def _command(self, binary: Path, port: int) -> list[str]:
        file = self._folder / "config.yaml"
        file.write_text(yaml.safe_dump({**self._config, "listen_address": f"127.0.0.1:{port}"}))
        return [str(binary), "run", "-c", str(file)]

    @property
    def credentials(self) -> dict[str, str]:
        """As `tfstream.from_lakefs(credentials=...)` takes them."""
        return {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
        }

    def create_repository(self, name: str, namespace: str | None = None) -> None:
        """Make a repository with the branch `main`; `namespace` is needed with a `store`."""
        body = {"name": name, "storage_namespace": namespace or f"local://{name}"}
        self.request("POST", "/repositories", body | {"default_branch": "main"})

    def upload(
        self,
        repository: str,
        branch: str,
        path: str,
        data: bytes,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Write one object, uncommitted. A metadata key may start with `::lakefs::`."""
        internal = "::lakefs::"
        headers = {"Content-Type": "application/octet-stream"}
        for key, value in (metadata or {}).items():
            short = key.removeprefix(internal)
            kind = "meta" if short == key else "internal"
            headers[f"x-lakefs-{kind}-{short}"] = value
        self._send(
            "POST",
            f"/repositories/{repository}/branches/{branch}/objects?path={quote(path, safe='')}",
            data,
            headers,
        )

    def commit(self, repository: str, branch: str, message: str) -> str:
        """Commit what is uncommitted on the branch; the id of the commit."""
        path = f"/repositories/{repository}/branches/{branch}/commits"
        return str(self.request("POST", path, {"message": message})["id"])

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """
        Call the API below `/api/v1` with JSON; the parsed answer, or None where it has none.

        Raises:
            RequestFailed: The answer is not a 2xx.
        """
        if query:
            path = f"{path}?{urlencode(query, quote_via=quote, safe='')}"
        data = None if body is None else json.dumps(body).encode()
        answer = self._send(method, path, data, {"Content-Type": "application/json"})
        return json.loads(answer) if answer else None

    def _send(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> bytes:
        answer = self._pool.request(
            method,
            f"{self.endpoint}/api/v1{path}",
            body=data,
            headers={**self._pool.headers, **headers},
        )
        if not 200 <= answer.status < 300:
            text = answer.data.decode(errors="replace").strip()
            raise RequestFailed(f"{method} {path}: {answer.status} {text}", status=answer.status)
        return answer.data


def _config(folder: Path, store: S3Server | None) -> dict[str, Any]:
    """The configuration of `lakefs-tool/config.yaml` with its paths in the folder."""
    config: dict[str, Any] = yaml.safe_load((TOOL / "config.yaml").read_text())
    config["database"]["local"]["path"] = str(folder / "metadata")
    config["blockstore"]["local"]["path"] = str(folder / "objects")
    config["committed"]["local_cache"]["dir"] = str(folder / "cache")
    if store:
        keys = {
            "access_key_id": store.access_key_id,
            "secret_access_key": store.secret_access_key,
        }
        s3 = {"endpoint": store.endpoint, "force_path_style": True, "region": "us-east-1"}
        s3 |= {"discover_bucket_region": False, "credentials": keys}
        config["blockstore"] = {"type": "s3", "s3": s3}
    return config


if __name__ == "__main__":
    try:
        print(find_or_install(progress=True))
    except ServerUnavailable as error:
        sys.exit(str(error))
