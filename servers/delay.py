"""
`DelayServer`: a network's delay in front of a server on this machine.

    client -> nginx (sleeps, in the access phase) -> the real server

Debian's nginx with its Lua module (`apt-get install nginx libnginx-mod-http-lua`). Every
request waits on its own timer, so any number may wait at the same time. Host and URL pass as
they came, since an S3 signature covers both. Nothing is buffered on disk.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from servers.process import ServerUnavailable, answers, start_server

MODULES = ("ndk_http_module.so", "ngx_http_lua_module.so")
HINT = "install Debian's packages nginx and libnginx-mod-http-lua"
CONFIG = """
{modules}
{user}
pid {folder}/nginx.pid;
worker_processes 1;
daemon off;
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
  log_format times '$msec $request_time $status $request_method $request_uri';
  access_log {requests};
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000;
  upstream real {{ server {upstream}; keepalive 512; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    client_max_body_size 0;
    location / {{
      access_by_lua_block {{ ngx.sleep({seconds}) }}
      proxy_pass http://real;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_request_buffering off;
      proxy_buffers 16 32k;
      proxy_max_temp_file_size 0;
    }}
  }}
}}
"""


class DelayServer:
    """
    A server that answers like the one behind it, but later.

    ```python
    with DelayServer("http://127.0.0.1:8000", 0.03, folder=Path("state")) as slow:
        slow.endpoint
    ```

    Attributes:
        endpoint: Where to send requests instead.
    """

    def __init__(
        self, behind: str, seconds: float, *, folder: Path, keep_requests: bool = False
    ) -> None:
        """`folder` is for its configuration and logs; `keep_requests` is for `requests()`."""
        self._folder = folder.resolve()
        self._log = self._folder / "requests.log"
        self._settings = {
            "user": "user root;" if os.geteuid() == 0 else "",
            "folder": self._folder,
            "requests": f"{self._log} times" if keep_requests else "off",
            "upstream": behind.removeprefix("http://"),
            "seconds": seconds,
        }
        self.endpoint = ""

    def __enter__(self) -> DelayServer:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)
        modules = "\n".join(f"load_module {path};" for path in _modules())
        self._process, self.endpoint = start_server(
            "nginx",
            lambda port: self._command(modules, port),
            log=self._folder / "nginx.log",
            ready=answers,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def requests(self) -> list[tuple[float, str]]:
        """Each request answered so far: when the answer ended (epoch seconds), and what."""
        lines = [line.split(" ", 3) for line in self._log.read_text().splitlines()]
        return [(float(ended), request) for ended, _seconds, _status, request in lines]

    def _command(self, modules: str, port: int) -> list[str]:
        config = self._folder / "nginx.conf"
        config.write_text(CONFIG.format(**self._settings, modules=modules, port=port))
        return [_nginx(), "-p", str(self._folder), "-c", str(config), "-e", "stderr"]


def _nginx() -> str:
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None:
        raise ServerUnavailable(f"there is no nginx on this machine: {HINT}")
    return found


def _modules() -> list[Path]:
    """The Lua module and what it needs, where this nginx keeps its modules."""
    about = subprocess.run([_nginx(), "-V"], capture_output=True, text=True, check=True).stderr
    place = re.search(r"--modules-path=(\S+)", about)
    folder = Path(place[1]) if place else Path("modules")
    for name in MODULES:
        if not (folder / name).exists():
            raise ServerUnavailable(f"nginx has no {name} in {folder}: {HINT}")
    return [folder / name for name in MODULES]
