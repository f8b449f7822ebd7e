"""lakeFS: which way an object is read, and what every failure on that way means."""

from __future__ import annotations

import json
import socket
from email.utils import formatdate

import pytest

from tfstream.errors import (
    AccessDeniedError,
    AuthenticationError,
    ObjectNotFoundError,
    SourceError,
    TfstreamError,
)
from tfstream.options import ReadOptions
from tfstream.sources.base import TransientError
from tfstream.sources.lakefs import LakeFSSource
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import Fault, FaultProxy
from tfstream.testing.sources import found, one

DATA = b"0123456789" * 10
ONLY_BY_API = {
    *("tab\tin.jpg", "line\nbreak.jpg", "double//slash.jpg", "/leading slash.jpg"),
    *("dots/../up.jpg", "dots/./here.jpg", "./first.jpg", "folder with content/"),
}
NO_RIGHT = json.dumps({"message": "insufficient permissions"}).encode()


def gateway(request):
    """Whether a request is to the S3 gateway."""
    return not request.target.startswith("/api/")


def api(request):
    """Whether a request is to the API."""
    return request.target.startswith("/api/v1/")


@pytest.fixture
def proxy(lakefs_server):
    with FaultProxy(lakefs_server.endpoint) as proxy:
        yield proxy


@pytest.fixture
def open_store(lakefs_server, lakefs_repository, proxy):
    """Opens the test's repository through the proxy."""

    def opened(credentials=None, **options):
        source = LakeFSSource(repository=lakefs_repository, ref="main", endpoint=proxy.endpoint)
        return source.open(credentials or lakefs_server.credentials, ReadOptions(**options))

    return opened


@pytest.fixture
def info(lakefs_server, lakefs_repository, open_store, proxy):
    """The object `a.jpg` of 100 bytes, committed; the proxy has forgotten how it was found."""
    lakefs_server.upload(lakefs_repository, "main", "a.jpg", DATA)
    lakefs_server.commit(lakefs_repository, "main", "one")
    info = one(open_store(), "a.jpg")
    proxy.clear()
    return info


@pytest.fixture
def store(open_store, info, proxy):
    """A pinned store that gives up after 0.4 s."""
    store = open_store(read_timeout=0.4)
    store.pin()
    proxy.clear()
    return store


def ways(proxy):
    """What was asked through the proxy, in order."""
    return ["gateway" if gateway(request) else "api" for request in proxy.requests]


# Ways


def test_the_first_attempt_is_the_gateways_and_the_next_the_apis(store, info, proxy):
    """Each attempt is one request: the first to the gateway, all others to the API."""
    assert [DATA] * 3 == [store.get(info, attempt=attempt) for attempt in (1, 2, 3)]
    assert ["gateway", "api", "api"] == ways(proxy)


def test_the_way_fits_the_key(lakefs_server, lakefs_repository, open_store, proxy):
    """Every key takes one request, to the API where the gateway would read another key."""
    for key in ODD_KEYS:
        lakefs_server.upload(lakefs_repository, "main", key, key.encode())
    lakefs_server.commit(lakefs_repository, "main", "odd")
    store = open_store()
    for info in found(store):
        proxy.clear()
        assert info.path.encode() == store.get(info)
        expected = "api" if info.path in ONLY_BY_API else "gateway"
        assert [expected] == ways(proxy), info.path


def test_a_token_reads_by_the_api(lakefs_server, open_store, info, proxy):
    """With a token in place of keys the gateway, which needs keys, is not asked."""
    login = lakefs_server.request("POST", "/auth/login", lakefs_server.credentials)
    store = open_store({"token": login["token"]})
    store.pin()
    proxy.clear()
    assert DATA == store.get(info)
    assert ["api"] == ways(proxy)


def test_ranges(store, info, proxy):
    """A range is one request; where the gateway refuses it, or something ignores it, the API's."""
    proxy.add(Fault("ignore_range", skip=1, times=2))
    for _ in range(2):
        assert DATA[5:25] == store.get_range(info, start=5, length=20)
    assert ["gateway", "gateway", "api"] == ways(proxy)
    assert [(206, None), (403, "ignore_range"), (200, "ignore_range")] == [
        (request.status, request.fault) for request in proxy.requests
    ]


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 410, 501])
def test_a_gateway_that_refuses_what_the_api_gives_is_left(store, info, proxy, status):
    """The API is asked in the same attempt; when it succeeds, the gateway is not asked again."""
    proxy.add(Fault("status", match=gateway, status=status, times=None))
    assert [DATA, DATA] == [store.get(info), store.get(info)]
    assert ["gateway", "api", "api"] == ways(proxy)


def test_only_the_apis_answer_counts(store, info, proxy):
    """Where both refuse, the error is the API's, and the gateway is asked again next time."""
    proxy.add(Fault("status", match=gateway, status=404, times=None))
    refusal = Fault("status", match=api, status=401, body=NO_RIGHT, times=None)
    proxy.add(refusal)
    for _ in range(2):
        with pytest.raises(AccessDeniedError, match="needs fs:ReadObject"):
            store.get(info)
    assert ["gateway", "api"] * 2 == ways(proxy)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429), "429"),
        (Fault("status", status=503), "503"),
        (Fault("reset"), "connection"),
        (Fault("hang"), "timeout"),
        (Fault("trickle", seconds=0.05), "timeout"),
        (Fault("cut", after=10), "cut body"),
        (Fault("change", body=b"short"), "cut body"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_a_gateway_that_stumbles_is_tried_again(store, info, proxy, fault, kind):
    """One bad attempt is one request and a TransientError; the next object goes there again."""
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        store.get(info)
    assert kind == error.value.kind
    assert DATA == store.get(info)
    assert ["gateway", "gateway"] == ways(proxy)


# Failures of the API


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        *((Fault("status", status=status), f"{status}") for status in (408, 429, 500, 502, 504)),
        (Fault("reset"), "connection"),
        (Fault("hang"), "timeout"),
        (Fault("trickle", seconds=0.05), "timeout"),
        (Fault("cut", after=10), "cut body"),
        (Fault("length", by=5), "cut body"),
        (Fault("change", body=b"short"), "cut body"),
        (Fault("change", body=DATA + b"more"), "cut body"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_what_may_pass_is_transient(store, info, proxy, fault, kind):
    """Each is one request, never repeated here; then all is well."""
    proxy.add(fault)
    with pytest.raises(TransientError) as error:
        store.get(info, attempt=2)
    assert kind == error.value.kind
    assert DATA == store.get(info, attempt=2)
    assert ["api", "api"] == ways(proxy)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7, 7),
        ("0.5", 0.5, 0.5),
        ("-3", 0, 0),
        (formatdate(4102444800, usegmt=True), 1e7, 4102444800),  # in the year 2100
        (formatdate(0, usegmt=True), 0, 0),
    ],
)
def test_retry_after_is_passed_on(store, info, proxy, header, least, most):
    """A server's Retry-After, in seconds or as a date, is the error's `retry_after`."""
    proxy.add(Fault("status", status=429, retry_after=header))
    with pytest.raises(TransientError) as error:
        store.get(info, attempt=2)
    assert least <= error.value.retry_after <= most


@pytest.mark.parametrize("header", [None, "soon", "nan", "inf", ""])
def test_no_retry_after_is_none(store, info, proxy, header):
    """Without a Retry-After, or with one that says nothing, there is no wait asked for."""
    proxy.add(Fault("status", status=503, retry_after=header))
    with pytest.raises(TransientError) as error:
        store.get(info, attempt=2)
    assert error.value.retry_after is None


def test_a_missing_permission_is_named(open_store, info, proxy):
    """Pinning, listing and reading without permission name the one that is missing."""
    proxy.add(Fault("status", match=api, status=401, body=NO_RIGHT, times=None))
    store = open_store()
    with pytest.raises(AccessDeniedError, match="needs fs:ReadCommit"):
        store.pin()
    proxy.clear()
    store.pin()
    proxy.add(Fault("status", match=api, status=401, body=NO_RIGHT, times=None))
    with pytest.raises(AccessDeniedError, match="needs fs:ListObjects"):
        store.list_page("")
    with pytest.raises(AccessDeniedError, match="needs fs:ReadObject") as error:
        store.get_range(info, start=0, length=1, attempt=2)
    assert "a.jpg" == error.value.path
    assert [] == list(store.notices(""))
    assert "" == store.near("x")


@pytest.mark.parametrize("field", ["access_key_id", "secret_access_key", "token"])
def test_unknown_credentials_are_named_but_not_shown(lakefs_server, open_store, field):
    """A wrong key, secret or token is an AuthenticationError that says where it is from."""
    wrong = "wrongwrongwrong"
    credentials = {**lakefs_server.credentials, field: wrong}
    with pytest.raises(AuthenticationError, match="from the arguments") as error:
        open_store(credentials).pin()
    shown = f"{error.value!r} {error.value.__cause__!r} {error.value.__context__!r}"
    assert [] == [value for value in credentials.values() if value in shown]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("html"), "text/html.*check the endpoint"),
        (Fault("status", status=404, body=b"<html>nginx"), "404.*<html>nginx.*check the endpoint"),
        (Fault("change", body=b"[1]"), "check the endpoint"),
        (Fault("change", body=b'{"id": null}'), "check the endpoint"),
        (Fault("change", body=b'{"id": "main"}'), "check the endpoint"),
        (Fault("status", status=418, body=b'{"message": "no tea"}'), "418: no tea"),
        (
            Fault("status", status=308, headers={"Location": "https://me:pw@lakefs.test/x"}),
            r"sends on to https://lakefs\.test \(308\)",
        ),
    ],
)
def test_what_is_not_lakefs_is_final(open_store, info, proxy, fault, message):
    """A page, a redirect or other JSON in place of a commit is an error that shows it."""
    proxy.add(fault)
    with pytest.raises(SourceError, match=message):
        open_store().pin()
    assert ["api"] == ways(proxy)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"results": []},
        {"results": [{"path": "a"}], "pagination": {"has_more": False, "next_offset": ""}},
        {"results": [], "pagination": {"has_more": True, "next_offset": ""}},
        {"results": [], "pagination": {"has_more": True, "next_offset": "a"}},
    ],
)
def test_a_listing_without_its_parts_is_final(store, proxy, content):
    """An incomplete listing, or one that would go round in circles, is never a short one."""
    proxy.add(Fault("change", body=json.dumps(content).encode()))
    with pytest.raises(SourceError, match="check the endpoint"):
        store.list_page("", "a")


def test_a_listing_asks_for_as_much_as_there_may_be(store, proxy):
    """A page is one request for 1,000 objects, ten times lakeFS' default."""
    store.list_page("a")
    (request,) = proxy.requests
    assert "amount=1000" in request.target


def test_a_forbidden_object_is_denied(store, info, proxy):
    """A 403 of the storage below lakeFS is a missing permission too."""
    body = json.dumps({"message": "forbidden by the bucket's policy"}).encode()
    proxy.add(Fault("status", status=403, body=body))
    with pytest.raises(AccessDeniedError, match="forbidden by the bucket's policy"):
        store.get(info, attempt=2)


def test_a_stumbling_server_is_no_silence(store, proxy):
    """A server error while looking for uncommitted objects is told, not taken for none."""
    proxy.add(Fault("status", status=503))
    with pytest.raises(TransientError):
        store.notices("")


def test_a_missing_repository_is_told_though_others_cannot_be_listed(lakefs_server, proxy):
    """The names nearby are an addition: failing to get them changes no error."""
    proxy.add(Fault("status", match="/repositories?", status=503))
    source = LakeFSSource(repository="nope", ref="main", endpoint=proxy.endpoint)
    store = source.open(lakefs_server.credentials, ReadOptions())
    with pytest.raises(ObjectNotFoundError, match="no lakeFS repository 'nope'"):
        store.pin()


def test_a_server_that_is_not_there_is_transient(lakefs_server):
    """A refused connection may be a server that starts again."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
    source = LakeFSSource(repository="photos", ref="main", endpoint=endpoint)
    store = source.open(lakefs_server.credentials, ReadOptions())
    with pytest.raises(TransientError) as error:
        store.pin()
    assert "connection" == error.value.kind
    assert endpoint in str(error.value)
    assert not isinstance(error.value, TfstreamError)


def test_a_path_in_the_endpoint_is_kept(lakefs_server, proxy):
    """Behind a front-end that serves lakeFS under a path, that path comes before `/api/v1`."""
    endpoint = f"{proxy.endpoint}/data/lakefs/api/v1/"
    source = LakeFSSource(repository="photos", ref="main", endpoint=endpoint)
    with pytest.raises(SourceError, match="check the endpoint"):  # this server has no such path
        source.open(lakefs_server.credentials, ReadOptions()).pin()
    (request,) = proxy.requests
    assert "/data/lakefs/api/v1/repositories/photos/commits/main" == request.target


def test_used_after_closing_it_connects_again(store, info):
    """`close` drops connections, not the store."""
    store.close()
    assert [DATA, DATA] == [store.get(info), store.get(info, attempt=2)]
    store.close()
