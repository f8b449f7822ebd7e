"""
A fast S3 server over a folder: versitygw, a Go program. For benchmarks.

3,900 GETs of 26 kB a second on two shared cores. Below it is a file system, so a key cannot
be both an object and the folder of others; moto can.

`python -m servers.versitygw` installs the program, with progress.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from servers.install import build_go_program, cache_folder, reporter, usable
from servers.process import ServerUnavailable, answers, start_server
from servers.s3 import S3Access

VERSION = "v1.8.0"
PACKAGE = "github.com/versity/versitygw/cmd/versitygw"


def find_or_install(progress: bool = False, *, cache: Path | None = None) -> Path:
    """
    The `versitygw` program: on the path, in the user's cache, or built there now.

    Raises:
        ServerUnavailable: It is not there and could not be built.
    """
    on_path = shutil.which("versitygw")
    if on_path and usable(on_path, "--version"):
        return Path(on_path)
    target = (cache or cache_folder()) / f"versitygw-{VERSION}" / "versitygw"
    if target.exists():
        return target
    return build_go_program(
        target,
        ["install", f"{PACKAGE}@{VERSION}"],
        title=f"versitygw {VERSION}",
        report=reporter(progress),
    )


class VersityServer(S3Access):
    """
    A running server inside a `with` statement. Bucket names have three characters or more.

    ```python
    with VersityServer(folder) as server:
        server.create_bucket("photos")
    ```
    """

    def __init__(self, folder: Path, *, binary: Path | None = None) -> None:
        super().__init__()
        self._folder = folder.resolve()
        self._binary = binary
        self.access_key_id, self.secret_access_key = "admin", "adminsecret"

    def __enter__(self) -> VersityServer:
        binary = self._binary or find_or_install()
        buckets = self._folder / "buckets"
        buckets.mkdir(parents=True, exist_ok=True)
        keys = ["--access", self.access_key_id, "--secret", self.secret_access_key]
        self._process, self.endpoint = start_server(
            "versitygw",
            lambda port: [
                str(binary),
                *keys,
                "--port",
                f"127.0.0.1:{port}",
                "posix",
                str(buckets),
            ],
            log=self._folder / "versitygw.log",
            ready=answers,
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()
        self._process.stop()


if __name__ == "__main__":
    try:
        print(find_or_install(progress=True))
    except ServerUnavailable as error:
        sys.exit(str(error))
