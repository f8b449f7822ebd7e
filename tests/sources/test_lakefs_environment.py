"""lakeFS: what the user's environment changes (proxies, certificates, forks) and what not."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
import subprocess
import sys
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tfstream.errors import SourceError
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.lakefs_api import proxy_for
from tfstream.testing.proxy import FaultProxy

DATA = b"some bytes"
INFO = ObjectInfo("a.jpg", len(DATA), "")
POISON = {
    "AWS_ACCESS_KEY_ID": "AKIAPOISON",
    "AWS_SECRET_ACCESS_KEY": "poison",
    "AWS_SESSION_TOKEN": "poison",
    "AWS_TOKEN": "poison",
    **dict.fromkeys(["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"], "http://poison:1"),
    **dict.fromkeys(["AWS_STS_ENDPOINT", "AWS_METADATA_ENDPOINT"], "http://poison:1"),
    **dict.fromkeys(["AWS_REGION", "AWS_DEFAULT_REGION"], "mars-1"),
    **dict.fromkeys(["AWS_BUCKET", "AWS_BUCKET_NAME", "AWS_PROFILE"], "poison"),
    **dict.fromkeys(["AWS_SKIP_SIGNATURE", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"], "true"),
    **dict.fromkeys(["AWS_S3_EXPRESS", "AWS_UNSIGNED_PAYLOAD", "AWS_REQUEST_PAYER"], "true"),
    **dict.fromkeys(["AWS_ALLOW_INVALID_CERTIFICATES", "AWS_IMDSV1_FALLBACK"], "poison"),
    **dict.fromkeys(["AWS_CHECKSUM_ALGORITHM", "AWS_COPY_IF_NOT_EXISTS"], "poison"),
    **dict.fromkeys(["AWS_CONDITIONAL_PUT", "AWS_DISABLE_TAGGING"], "poison"),
    **dict.fromkeys(["AWS_DISABLE_BULK_DELETE", "AWS_SSE_BUCKET_KEY_ENABLED"], "poison"),
    "AWS_SERVER_SIDE_ENCRYPTION": "sse-c",
    "AWS_SSE_CUSTOMER_KEY_BASE64": "cG9pc29u",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/poison",
    "AWS_ROLE_ARN": "arn:aws:iam::1:role/poison",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://poison:1",
    **dict.fromkeys(["AWS_PROXY_URL", "AWS_TIMEOUT", "AWS_ALLOW_HTTP"], "poison"),
}


@pytest.fixture
def source(lakefs_server, lakefs_repository):
    """A repository with `a.jpg` on `main`."""
    lakefs_server.upload(lakefs_repository, "main", "a.jpg", DATA)
    lakefs_server.commit(lakefs_repository, "main", "one")
    return LakeFSSource(repository=lakefs_repository, ref="main", endpoint=lakefs_server.endpoint)


@pytest.fixture
def proxy(lakefs_server):
    with FaultProxy(lakefs_server.endpoint) as proxy:
        yield proxy


def through(source, endpoint):
    """The same source at another address."""
    fields = {"repository": source.repository, "ref": source.ref}
    return LakeFSSource(**fields, endpoint=endpoint)


# AWS variables


def test_no_aws_variable_has_any_influence(lakefs_server, source, proxy, monkeypatch):
    """With every AWS variable poisoned the gateway gets the same request, signed by our key."""
    seen = []
    for variables in ({}, POISON):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        opened = through(source, proxy.endpoint).open(lakefs_server.credentials, ReadOptions())
        opened.pin()
        proxy.clear()
        assert DATA == opened.get(INFO)
        (request,) = proxy.requests
        key, _, *scope = request.headers["authorization"].split(",")[0].split("/")  # _ is the day
        ours = {"authorization", "x-amz-date"}  # differ by the second
        seen.append((request.target, key, scope, {**request.headers, **dict.fromkeys(ours, "")}))
    assert seen[0] == seen[1]
    assert lakefs_server.access_key_id == request.access_key_id


# Proxies


@pytest.mark.parametrize(
    ("endpoint", "variables", "expected"),
    [
        ("http://lakefs.test", {}, None),
        ("http://lakefs.test", {"http_proxy": "http://p:1"}, "http://p:1"),
        ("https://lakefs.test", {"http_proxy": "http://p:1"}, None),
        ("https://lakefs.test", {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ("https://lakefs.test", {"all_proxy": "http://p:1"}, "http://p:1"),
        ("https://lakefs.test", {"all_proxy": "http://p:1", "no_proxy": ".test"}, None),
        ("https://lakefs.test:8000", {"https_proxy": "http://p:1", "no_proxy": "*"}, None),
        ("http://localhost:8000", {"http_proxy": "http://p:1"}, None),
        ("http://127.0.0.1:8000", {"http_proxy": "http://p:1"}, None),
        ("http://[::1]:8000", {"http_proxy": "http://p:1"}, None),
    ],
)
def test_the_usual_variables_name_a_proxy(endpoint, variables, expected, monkeypatch):
    """HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY mean what they mean elsewhere."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert expected == proxy_for(endpoint)


@pytest.fixture
def forward_proxy(lakefs_server):
    """A forward proxy that takes every host for the lakeFS server; it keeps what it was asked."""
    asked = []
    target = urlsplit(lakefs_server.endpoint).netloc

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers["Proxy-Authorization"]))
            path = "/" + self.path.split("/", 3)[3]  # the host is for the proxy alone
            server = HTTPConnection(target)
            server.request("GET", path, headers=dict(self.headers))
            answer = server.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Length", "ETag", "Last-Modified"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(body)
            server.close()

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Forward) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://me:pw@127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_both_ways_go_through_a_proxy(lakefs_server, source, forward_proxy, monkeypatch):
    """A server that only a proxy can reach is read by gateway and API, with the proxy's user."""
    proxy, asked = forward_proxy
    monkeypatch.setenv("http_proxy", proxy)
    endpoint = "http://lakefs.test:8000"
    store = through(source, endpoint).open(lakefs_server.credentials, ReadOptions())
    commit = store.pin().commit
    asked.clear()
    assert [DATA, DATA] == [store.get(INFO), store.get(INFO, attempt=2)]
    api = f"{endpoint}/api/v1/repositories/{source.repository}/refs/{commit}/objects?path=a.jpg"
    paths = [f"{endpoint}/{source.repository}/{commit}/a.jpg", api]
    assert [(path, "Basic bWU6cHc=") for path in paths] == asked


def test_without_a_proxy_the_gateway_is_asked_directly(lakefs_server, source, proxy, monkeypatch):
    """obstore, which would take a proxy for loopback too, keeps to our rule."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    store = through(source, proxy.endpoint).open(lakefs_server.credentials, ReadOptions())
    store.pin()
    proxy.clear()
    assert DATA == store.get(INFO)
    assert [False] == [request.target.startswith("/api/") for request in proxy.requests]


# Certificates


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate for 127.0.0.1 that nobody signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "lakefs.test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    signed = builder.sign(key, hashes.SHA256())
    pem, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file = tmp_path / "certificate.pem"
    secret = key.private_bytes(pem, private, serialization.NoEncryption())
    file.write_bytes(secret + signed.public_bytes(pem))
    return file


@pytest.fixture
def tls_endpoint(certificate):
    """An https server that answers every request like lakeFS does to an unknown repository."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    body = b'{"message": "repository not found"}'
    head = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as client:
                    client.recv(65536)
                    client.sendall(head + body)
            except OSError:  # the client did not trust us
                plain.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_an_untrusted_certificate_is_final(lakefs_server, tls_endpoint):
    """A certificate that nobody vouches for is an error that says how to trust it."""
    source = LakeFSSource(repository="photos", ref="main", endpoint=tls_endpoint)
    with pytest.raises(SourceError, match=r"not trusted.*SSL_CERT_FILE"):
        source.open(lakefs_server.credentials, ReadOptions()).pin()


def test_a_private_authority_can_be_trusted(lakefs_server, tls_endpoint, certificate, monkeypatch):
    """With SSL_CERT_FILE the same server is asked, over TLS."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    source = LakeFSSource(repository="photos", ref="main", endpoint=tls_endpoint)
    with pytest.raises(SourceError, match="no lakeFS repository 'photos'"):
        source.open(lakefs_server.credentials, ReadOptions()).pin()


def test_https_to_a_plain_server_says_so(lakefs_server):
    """An https endpoint of a server without TLS is final, not a connection to try again."""
    endpoint = lakefs_server.endpoint.replace("http:", "https:")
    source = LakeFSSource(repository="photos", ref="main", endpoint=endpoint)
    with pytest.raises(SourceError, match="try http://"):
        source.open(lakefs_server.credentials, ReadOptions()).pin()


# Forks

FORK = """
import os, sys
from tfstream.options import ReadOptions
from tfstream.sources.base import ObjectInfo
from tfstream.sources.lakefs import LakeFSSource

store = LakeFSSource(repository=sys.argv[1], ref="main").open(None, ReadOptions())
info = ObjectInfo("a.jpg", 10, "")
assert store.get(info) == store.get(info, attempt=2) == b"some bytes"
child = os.fork()
if child == 0:
    assert store.get(info) == store.get(info, attempt=2) == b"some bytes"
    assert store.list_page("").objects[0].path == "a.jpg"
    os._exit(0)
assert store.get(info) == store.get(info, attempt=2) == b"some bytes"
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_reads_on(lakefs_server, source, monkeypatch):
    """A store that was used before a fork works in the child and, undisturbed, in the parent."""
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", lakefs_server.endpoint)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", lakefs_server.access_key_id)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", lakefs_server.secret_access_key)
    command = [sys.executable, "-c", FORK, source.repository]
    subprocess.run(command, check=True, timeout=60, env={**os.environ, "PYTHONPATH": os.getcwd()})
