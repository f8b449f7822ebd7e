"""Azure: the contract, against an imitation of the part of its interface that is used."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

from tfstream.errors import AccessDeniedError, AuthenticationError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.azure import AzureSource, parse_az_url
from tfstream.sources.base import ObjectInfo, Page, TransientError
from tfstream.sources.obstore_errors import addressable
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import Fault, FaultProxy
from tfstream.testing.sources import SourceTests

KEY = "c2VjcmV0LW9mLXRoZS10ZXN0cw=="
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
PAGE = 400  # less than obstore's pages, so that one of those takes several


class Blobs(BaseHTTPRequestHandler):
    """List Blobs and Get Blob for the container `photos` of any account."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing."""

    def do_HEAD(self):
        """Get Blob Properties."""
        self.do_GET()

    def do_GET(self):
        """A listing or a blob."""
        address = urlsplit(self.path)
        container, _, key = unquote(address.path).removeprefix("/account/").partition("/")
        if container != "photos":
            self.send(404, b"<Error><Code>ContainerNotFound</Code></Error>")
        elif not key:
            self.send(200, self.listing(parse_qs(address.query)))
        elif key not in self.server.blobs:
            self.send(404, b"<Error><Code>BlobNotFound</Code></Error>")
        else:
            self.blob(self.server.blobs[key])

    def listing(self, query):
        """One page of blobs, and the marker of the next."""
        prefix, marker = (query.get(name, [""])[0] for name in ("prefix", "marker"))
        keys = sorted(key for key in self.server.blobs if key.startswith(prefix) and key >= marker)
        parts = [self.entry(key) for key in keys[:PAGE]]
        after = escape(keys[PAGE]) if len(keys) > PAGE else ""
        text = f"<Blobs>{''.join(parts)}</Blobs><NextMarker>{after}</NextMarker>"
        return f"<EnumerationResults>{text}</EnumerationResults>".encode()

    def entry(self, key):
        """A blob in a listing; its etag has no quotes there."""
        data = self.server.blobs[key]
        return (
            f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>{DATE}</Last-Modified>"
            f"<Content-Length>{len(data)}</Content-Length><Content-Type>a/b</Content-Type>"
            f"<Etag>{etag(data)}</Etag><BlobType>BlockBlob</BlobType></Properties></Blob>"
        )

    def blob(self, data):
        """The blob, or its range."""
        headers = {"ETag": f'"{etag(data)}"', "Last-Modified": DATE}
        wanted = self.headers.get("Range")
        if wanted is None:
            return self.send(200, data, headers)
        start, end = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        return self.send(206, data[start : end + 1], headers)

    def send(self, status, body, headers=None):
        """An answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def etag(data):
    """As Azure writes them."""
    return f"0x{hashlib.md5(data).hexdigest()[:15].upper()}"


@pytest.fixture(scope="module")
def azure():
    """The running imitation; `blobs` is what it holds."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Blobs) as server:
        server.daemon_threads, server.block_on_close = True, False
        server.endpoint = f"http://127.0.0.1:{server.server_port}/account"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def blobs(azure):
    """The container's blobs, none at first."""
    azure.blobs = {}
    return azure.blobs


class TestContract(SourceTests):
    """The contract, for keys that obstore can address."""

    pages_are_bounded = True
    odd_keys = tuple(key for key in ODD_KEYS if addressable(key))
    credentials = {"account_key": KEY}  # noqa: RUF012

    @pytest.fixture(autouse=True)
    def location(self, azure, blobs):
        """An empty container."""
        self.endpoint, self.blobs = azure.endpoint, blobs

    def source(self):
        """Over that container."""
        return AzureSource(account="account", container="photos", endpoint=self.endpoint)

    def missing_source(self):
        """Over a container that nobody made."""
        return AzureSource(account="account", container="missing", endpoint=self.endpoint)

    def put(self, path, data):
        """Into the imitation's memory."""
        self.blobs[path] = data

    def remove(self, path):
        """From the imitation's memory."""
        del self.blobs[path]


@pytest.fixture
def proxy(azure):
    """What stands between a store and the imitation."""
    with FaultProxy(azure.endpoint.removesuffix("/account")) as proxy:
        yield proxy


@pytest.fixture
def store(proxy):
    """A store whose requests pass the proxy."""
    endpoint = f"{proxy.endpoint}/account"
    source = AzureSource(account="account", container="photos", endpoint=endpoint)
    return source.open({"account_key": KEY}, ReadOptions())


def test_a_listing_goes_on_after_a_failure(store, proxy, blobs):
    """A page that failed is asked for again and neither lost nor repeated; so is any page."""
    keys = [f"many/{number:04}" for number in range(2100)]
    blobs |= dict.fromkeys(keys, b"data")
    first = store.list_page("many/")
    proxy.add(Fault("status", status=503))
    with pytest.raises(TransientError) as error:
        store.list_page("many/", first.after)
    assert "503" == error.value.kind
    second = store.list_page("many/", first.after)
    again = store.list_page("many/", first.after)
    assert second.objects == again.objects
    third = store.list_page("many/", second.after)
    assert keys == [info.path for page in (first, second, third) for info in page.objects]
    assert third.after is None


def test_a_listing_that_changes_on_the_way(store, blobs):
    """Where a page cannot be found again, that is an error, not a shorter listing."""
    blobs |= {f"many/{number:04}": b"data" for number in range(1001)}
    first = store.list_page("many/")
    store.list_page("many/", first.after)
    del blobs["many/0999"]
    with pytest.raises(SourceError, match="changed while it was listed"):
        store.list_page("many/", first.after)


def test_exactly_one_page(store, blobs):
    """After a full page that is the last one there is an empty page and the end."""
    blobs |= {f"many/{number:04}": b"data" for number in range(1000)}
    first = store.list_page("many/")
    assert 1000 == len(first.objects)
    assert Page([], None) == store.list_page("many/", first.after)


def test_an_object_before_its_folder(store, blobs):
    """The object named as the prefix comes first, and once, among thousands beside it."""
    blobs |= {f"a{number:04}": b"data" for number in range(1500)} | {"z": b"data", "z/b": b"data"}
    first = store.list_page("z")
    second = store.list_page("z", first.after)
    assert [["z"], ["z/b"]] == [[info.path for info in page.objects] for page in (first, second)]


def test_directory_markers(store, blobs):
    """An empty blob whose name ends in a slash is a directory."""
    blobs |= {"a/": b"", "a/b": b"data"}
    expected = [
        ObjectInfo("a/", 0, etag(b""), "directory"),
        ObjectInfo("a/b", 4, etag(b"data")),
    ]
    assert expected == store.list_page("").objects


@pytest.mark.parametrize(
    ("status", "code", "error", "message"),
    [
        (403, "AuthorizationPermissionMismatch", AccessDeniedError, "Storage Blob Data Reader"),
        (403, "AuthenticationFailed", AuthenticationError, "credentials are not accepted"),
    ],
)
def test_a_refusal(store, proxy, blobs, status, code, error, message):
    """Azure's code tells whether the key is wrong or may not do this; no secret is told."""
    blobs["a"] = b"data"
    store = store.source.open({"sas_key": "sv=2024-01-01&sig=given-secret"}, ReadOptions())
    info = store.list_page("").objects[0]
    assert "sig=given-secret" in proxy.requests[0].target
    body = f"<Error><Code>{code}</Code></Error>".encode()
    proxy.add(Fault("status", status=status, body=body, times=None))
    with pytest.raises(error, match=message) as raised:
        store.get(info)
    assert "az://photos@account/a" in str(raised.value)
    assert "given-secret" not in str(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("az://photos@lab/train/*.jpg", ("lab", "photos", "train/*.jpg")),
        ("az://photos@lab", ("lab", "photos", "**")),
        ("az://photos/a%20b@c", ("named", "photos", "a%20b@c")),
    ],
)
def test_a_url_is_taken_literally(monkeypatch, url, expected):
    """The account is before the slash, or in the environment; nothing is decoded."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "named")
    assert expected == parse_az_url(url)


def test_wrong_names(monkeypatch):
    """What is no account, container, URL or credential is refused by name."""
    with pytest.raises(ValueError, match="write az://photos@account/… or set AZURE_STORAGE_ACC"):
        parse_az_url("az://photos/a")
    with pytest.raises(ValueError, match="container is a name, got 'a/b'"):
        AzureSource(account="lab", container="a/b")
    source = AzureSource(account="lab", container="photos")
    with pytest.raises(ValueError, match=r"Azure credentials are account_key, .*; got 'key'"):
        source.open({"key": "a"}, ReadOptions())
    with pytest.raises(AuthenticationError, match="az://photos@lab/ cannot be used"):
        source.open({"account_key": "no base64"}, ReadOptions())
    assert ("azure", {"endpoint"}) == (source.name, source.location)
