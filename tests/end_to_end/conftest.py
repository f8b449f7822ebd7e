"""Places on the real servers, behind proxies that inject faults."""

from __future__ import annotations

import pytest
from places import LakeFSPlace, S3Place, picture

from tfstream.testing.proxy import FaultProxy


@pytest.fixture(scope="session")
def lakefs_proxy(lakefs_server):
    """A proxy in front of lakeFS, its API and its gateway."""
    with FaultProxy(lakefs_server.endpoint) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def s3_proxy(s3_server):
    """A proxy in front of the S3 server."""
    with FaultProxy(s3_server.endpoint) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def make_place(request):
    """`make_place("s3")`: a new place of that store."""

    def made(store):
        server, proxy = (request.getfixturevalue(f"{store}_{part}") for part in ("server", "proxy"))
        proxy.clear()
        return {"lakefs": LakeFSPlace, "s3": S3Place}[store](server, proxy)

    return made


@pytest.fixture
def lakefs_place(make_place):
    """A new lakeFS repository; no faults yet."""
    return make_place("lakefs")


@pytest.fixture
def s3_place(make_place):
    """A new bucket; no faults yet."""
    return make_place("s3")


@pytest.fixture(params=["lakefs", "s3"])
def place(request, make_place):
    """A new place of each store in turn; no faults yet."""
    return make_place(request.param)


@pytest.fixture(scope="session", params=["lakefs", "s3"])
def many(request, make_place):
    """A place with 2,500 objects, `many/0000.png` and so on, and one beside them. Read only."""
    place = make_place(request.param)
    objects = {f"many/{number:04}.png": picture(number % 256) for number in range(2500)}
    place.put({**objects, "other.png": picture(0)})
    return place
