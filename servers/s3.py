"""
An S3 server inside this process: moto, in a thread. For tests and the demo.

It is pure Python and too slow to measure with; `versitygw.py` has one for benchmarks. moto
keeps its buckets per process, so two `MotoServer`s of one process share them.

```python
with MotoServer() as server:
    server.create_bucket("photos")
    server.upload("photos", "train/hat/1.jpg", data)
```
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE"  # the published example key of AWS: opens nothing
SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
REGION = "us-east-1"


def s3_client(endpoint: str, access_key_id: str, secret_access_key: str) -> Any:
    """A botocore client that takes nothing from the user's environment or files."""
    import botocore.config
    import botocore.session

    unset = {
        name: (None, None, default, None)
        for name, default in {
            "profile": None,
            "config_file": os.devnull,
            "credentials_file": os.devnull,
            "ca_bundle": None,
        }.items()
    }
    return botocore.session.Session(session_vars=unset).create_client(
        "s3",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=secret_access_key,
        config=botocore.config.Config(
            proxies={}, max_pool_connections=32, s3={"addressing_style": "path"}
        ),
    )


class S3Access:
    """Writing to an S3 server behind the back of the code under test."""

    endpoint: str
    access_key_id: str
    secret_access_key: str

    def __init__(self) -> None:
        self._client: Any = None
        self._lock = threading.Lock()

    def client(self) -> Any:
        """The botocore client, one for all threads."""
        with self._lock:
            if self._client is None:
                self._client = s3_client(self.endpoint, self.access_key_id, self.secret_access_key)
            return self._client

    @property
    def credentials(self) -> dict[str, str]:
        """As `tfstream.from_s3(credentials=...)` takes them."""
        return {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
        }

    def create_bucket(self, name: str) -> None:
        """Make an empty bucket."""
        self.client().create_bucket(Bucket=name)

    def upload(self, bucket: str, key: str, data: bytes) -> None:
        """Write one object."""
        self.client().put_object(Bucket=bucket, Key=key, Body=data)


class MotoServer(S3Access):
    """A running S3 server inside a `with` statement, with its own fixed keys."""

    def __enter__(self) -> MotoServer:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # else a line for each request
        self.access_key_id, self.secret_access_key = ACCESS_KEY_ID, SECRET_ACCESS_KEY
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()
        self._server.stop()
