"""
The servers, filled with the photographs, at any delay.

    disk     the folder itself
    s3       versitygw, bucket `photographs`, `26kB/CLASS/NAME.jpg`
    lakefs   lakeFS, repository `photographs`, the same keys committed on `main`

Their data stays in the state folder, so that only the first run uploads.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.progress import track

from benchmarks.data import PhotoSet
from benchmarks.environments import NotAvailableError
from benchmarks.paths import STATE
from servers.delay import DelayServer
from servers.lakefs import LakeFSServer
from servers.lakefs import find_or_install as find_lakefs
from servers.process import ServerUnavailable
from servers.versitygw import VersityServer
from servers.versitygw import find_or_install as find_versitygw

CONTAINER = "photographs"
SHARDS = 20  # tar files of a set, for WebDataset
FOLDER = STATE / "servers"
Server = LakeFSServer | VersityServer


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a store is to be read from: the fields of a `Job` of these names."""

    store: str
    endpoint: str = ""
    access_key_id: str = ""
    secret_access_key: str = ""
    container: str = CONTAINER
    prefix: str


class Stores:
    """
    Both servers, started when they are first asked for, until the `with` statement ends.

    ```python
    with Stores() as stores:
        stores.place("s3", photo_set("90kB"), delay=0.03)
    ```
    """

    def __init__(self) -> None:
        self._running = ExitStack()
        self._servers: dict[str, Server] = {}
        self._delays: dict[tuple[str, float], DelayServer] = {}

    def __enter__(self) -> Stores:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def place(self, store: str, photos: PhotoSet, delay: float = 0) -> Place:
        """Where the set is in this store, `delay` seconds away; uploads it the first time."""
        if store == "disk":
            return Place(store=store, prefix=photos.name)
        server = self._server(store)
        _fill(store, server, photos)
        return Place(
            store=store,
            endpoint=self.delayed(store, delay).endpoint if delay else server.endpoint,
            access_key_id=server.access_key_id,
            secret_access_key=server.secret_access_key,
            prefix=f"main/{photos.name}" if store == "lakefs" else photos.name,
        )

    def delayed(self, store: str, delay: float) -> DelayServer:
        """The server of that delay in front of the store."""
        if (store, delay) not in self._delays:
            folder = FOLDER / f"{store}-{delay * 1000:g}ms"
            real = self._server(store).endpoint
            server = DelayServer(real, delay, folder=folder, keep_requests=True)
            try:
                self._delays[store, delay] = self._running.enter_context(server)
            except ServerUnavailable as error:
                raise NotAvailableError(f"no delay can be made: {error}") from error
        return self._delays[store, delay]

    def _server(self, store: str) -> Server:
        if store not in self._servers:
            folder = FOLDER / store
            server: Server
            if store == "s3":
                server = VersityServer(folder, binary=find_versitygw(progress=True))
            else:
                server = LakeFSServer(folder, binary=find_lakefs(progress=True))
            self._running.enter_context(server)
            self._servers[store] = server
        return self._servers[store]


def _fill(store: str, server: Server, photos: PhotoSet) -> None:
    """Upload the set once; a marker says what is there."""
    marker = FOLDER / store / f"filled-{photos.name}.json"
    wanted = json.dumps([photos.count, photos.mean_bytes])
    if marker.exists() and marker.read_text() == wanted:
        return
    started = any(marker.parent.glob("filled-*.json"))
    if isinstance(server, LakeFSServer):
        if not started:
            server.create_repository(CONTAINER)
        _upload(photos, _objects(photos), lambda k, d: server.upload(CONTAINER, "main", k, d))
        server.commit(CONTAINER, "main", f"{photos.name} photographs")
    else:
        if not started:
            server.create_bucket(CONTAINER)
        _upload(photos, _objects(photos), lambda k, d: server.upload(CONTAINER, k, d))
        _upload(photos, _shards(photos), lambda k, d: server.upload(CONTAINER, k, d), SHARDS)
    marker.write_text(wanted)


def _upload(
    photos: PhotoSet,
    objects: Iterator[tuple[str, bytes]],
    put: Callable[[str, bytes], None],
    count: int | None = None,
) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = pool.map(lambda each: put(*each), objects)
        for _ in track(done, f"uploading {photos.name}", total=count or photos.count):
            pass


def _objects(photos: PhotoSet) -> Iterator[tuple[str, bytes]]:
    for file in photos.files():
        yield f"{photos.name}/{file.parent.name}/{file.name}", file.read_bytes()


def _shards(photos: PhotoSet) -> Iterator[tuple[str, bytes]]:
    """The set as tar files of equal numbers of photographs, all classes in each."""
    files = photos.files()
    for number in range(SHARDS):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for file in files[number::SHARDS]:
                tar.add(file, arcname=_member(file))
        yield f"tar/{photos.name}-{number:06}.tar", data.getvalue()


def _member(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"
