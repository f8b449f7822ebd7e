"""The servers that every other test stands on: what they promise, and how they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from servers import process
from servers.lakefs import LakeFSServer, RequestFailed
from servers.process import Child, ServerUnavailable, scrubbed, start_server

ROOT = Path(__file__).parent.parent


def test_lakefs_keeps_every_legal_key(lakefs_server, lakefs_repository):
    """A key arrives as it was given, with its metadata, and a commit has it."""
    key = "a b/é%2F?#&+//x .jpg"
    lakefs_server.upload(lakefs_repository, "main", key, b"123", {"::lakefs::x": "1", "y": "2"})
    commit = lakefs_server.commit(lakefs_repository, "main", "one object")
    listing = lakefs_server.request(
        "GET", f"/repositories/{lakefs_repository}/refs/{commit}/objects/ls", query={"prefix": "a "}
    )
    found = [(each["path"], each["size_bytes"], each["metadata"]) for each in listing["results"]]
    assert [(key, 3, {"::lakefs::x": "1", "y": "2"})] == found


def test_lakefs_answers_an_error_with_its_status(lakefs_server):
    """What lakeFS refuses is an exception that says what was asked."""
    with pytest.raises(RequestFailed, match="GET /repositories/none: 404") as caught:
        lakefs_server.request("GET", "/repositories/none")
    assert 404 == caught.value.status


def test_lakefs_goes_on_where_it_stopped(lakefs_binary, tmp_path):
    """A server on the folder of an earlier one has its repositories, also with odd paths."""
    folder = tmp_path / "a b, c}#"
    with LakeFSServer(folder, binary=lakefs_binary) as server:
        server.create_repository("photos")
        first = server.endpoint
    with LakeFSServer(folder, binary=lakefs_binary) as server:
        assert "photos" == server.request("GET", "/repositories/photos")["id"]
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.request("GET", first, retries=False)


def test_lakefs_on_s3_signs_urls(lakefs_binary, s3_server, s3_bucket, tmp_path):
    """With an S3 server below it, lakeFS offers presigned URLs."""
    with LakeFSServer(tmp_path, binary=lakefs_binary, store=s3_server) as server:
        server.create_repository("photos", f"s3://{s3_bucket}/photos")
        server.upload("photos", "main", "x", b"1")
        storage = server.request("GET", "/config")["storage_config"]
    assert (True, "s3") == (storage["pre_sign_support"], storage["blockstore_type"])


def test_s3_keeps_what_is_uploaded(s3_server, s3_bucket):
    """A key of S3 may be an object and the folder of another, and hold `//`."""
    for key in ("e", "e/y", "a//b"):
        s3_server.upload(s3_bucket, key, b"1")
    listing = s3_server.client().list_objects_v2(Bucket=s3_bucket)
    assert ["a//b", "e", "e/y"] == [each["Key"] for each in listing["Contents"]]


def test_s3_client_ignores_the_environment(s3_server, s3_bucket, monkeypatch, tmp_path):
    """A profile, keys, an endpoint or a proxy of the user's have no effect on it."""
    from servers.s3 import s3_client

    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    client = s3_client(s3_server.endpoint, "key", "secret")
    client.put_object(Bucket=s3_bucket, Key="x", Body=b"1")
    assert b"1" == client.get_object(Bucket=s3_bucket, Key="x")["Body"].read()
    client.close()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_server_outlives_its_process(sent, tmp_path):
    """However the process ends, the program that it started ends too."""
    script = """
import os, signal, sys, time
from pathlib import Path
from servers.process import Child
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
command = ["sh", "-c", "echo $$; exec sleep 600"]
child = Child(command, log=Path(sys.argv[1]), environment=os.environ)
while not (text := child.log.read_text()).endswith("\\n"):
    child.wait(0.01)
os.write(1, text.encode())
child.wait(600)
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with owner:
        assert owner.stdout is not None
        server = int(owner.stdout.readline())
        ended = os.pidfd_open(server) if hasattr(os, "pidfd_open") else None
        owner.send_signal(sent)
    assert_ends(server, ended)


def assert_ends(pid: int, handle: int | None) -> None:
    """Wait, at most 15 s, until there is no such process."""
    import select

    if handle is not None:
        assert [handle] == select.select([handle], [], [], 15)[0], f"process {pid} still runs"
        os.close(handle)


def test_a_child_is_stopped_with_its_own_children(tmp_path):
    """`stop` ends the whole process group, also one that ignores the polite request."""
    log = tmp_path / "log"
    child = Child(
        ["sh", "-c", "sleep 600 & echo $!; wait"], log=log, environment={"PATH": os.environ["PATH"]}
    )
    while not log.read_text().endswith("\n"):
        assert child.wait(0.01) is None
    grandchild = int(log.read_text())
    handle = os.pidfd_open(grandchild) if hasattr(os, "pidfd_open") else None
    child.stop()
    child.stop()
    assert_ends(grandchild, handle)


def test_a_server_that_does_not_start_shows_its_last_lines(tmp_path):
    """The error has the code, the file and the end of the output."""
    with pytest.raises(ServerUnavailable, match=r"(?s)thing ended at once with code 3.*log.*  why"):
        start_server(
            "thing",
            lambda port: ["sh", "-c", "echo why; exit 3"],
            log=tmp_path / "log",
            ready=lambda endpoint: False,
        )


def test_a_server_that_never_answers_is_given_up(tmp_path):
    """Waiting for a server ends, and so does the server."""
    with pytest.raises(ServerUnavailable, match=r"thing did not answer within 0\.1 s"):
        start_server(
            "thing",
            lambda port: ["sleep", "600"],
            log=tmp_path / "log",
            ready=lambda endpoint: False,
            seconds=0.1,
        )


def test_a_taken_port_is_left_to_the_other(tmp_path, monkeypatch):
    """Where another program was quicker to take the port, the next one is tried."""
    serve = (
        "import http.server as h, sys; at = ('127.0.0.1', int(sys.argv[1]));"
        "h.HTTPServer(at, h.SimpleHTTPRequestHandler).serve_forever()"
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0)
        taken, free = other.getsockname()[1], process._free_port()
        ports = iter([taken, free])
        monkeypatch.setattr(process, "_free_port", lambda: next(ports))
        child, endpoint = start_server(
            "web",
            lambda port: [sys.executable, "-c", serve, str(port)],
            log=tmp_path / "log",
            ready=lambda endpoint: endpoint.endswith(str(free)) and process.answers(endpoint),
        )
        child.stop()
    assert f"http://127.0.0.1:{free}" == endpoint


def test_servers_see_none_of_the_users_keys():
    """Variables that name servers, keys and proxies are not passed on; others are."""
    given = {
        "AWS_PROFILE": "x",
        "LAKECTL_SERVER_ENDPOINT_URL": "x",
        "https_proxy": "x",
        "PATH": "/bin",
    }
    assert {"PATH": "/bin"} == scrubbed(given)


def test_every_test_is_alone(clean_environment):
    """The home folder is empty and no variable names a server or key."""
    assert str(clean_environment) == os.environ["HOME"]
    assert [] == list(clean_environment.iterdir())
    named = [name for name in os.environ if process.is_private(name)]
    assert ["AWS_EC2_METADATA_DISABLED"] == named


def test_the_pictures_are_what_they_are_called(digits):
    """Three classes of four pictures each, PNG and JPEG."""
    from PIL import Image

    found = {}
    for path in sorted(digits.rglob("*.*")):
        with Image.open(path) as picture:
            found.setdefault(path.parent.name, []).append(picture.format)
    assert dict.fromkeys("012", ["PNG", "JPEG"] * 2) == found
