"""No secret in anything that can be seen: texts, specs, graphs, errors, logs, warnings, stats."""

from __future__ import annotations

import base64
import logging
import traceback
import warnings
from urllib.parse import quote

import fsspec
import pytest
import tensorflow as tf
from places import BRIEF, SIZE, classes, examples, picture

import tfstream
from tfstream import TfstreamError
from tfstream.testing.proxy import Fault

CANARY = "c4n4ry/S3cret+Key=0123456789abcdefghijkl"
TOKEN = "c4n4ryT0kenThatNobodyMaySee"
KEYS = {"access_key_id": "AKIDCANARY", "secret_access_key": CANARY}
FAULTS = [
    Fault("status", status=503, times=None),
    Fault("status", status=403, times=None, body=b"<Error><Code>AccessDenied</Code></Error>"),
    Fault("status", status=401, times=None, body=b'{"message": "insufficient permissions"}'),
    Fault("status", status=404, times=None),
    Fault("reset", times=None),
    Fault("cut", times=None, after=3),
    Fault("html", times=None),
]


def forms(*secrets):
    """A secret as it is, percent-encoded and in Basic credentials."""
    found = set()
    for secret in secrets:
        basic = base64.b64encode(f"{KEYS['access_key_id']}:{secret}".encode()).decode()
        found |= {secret, quote(secret, safe=""), basic}
    return found


def text_of(error):
    """All that an error and those behind it say, also in a traceback."""
    texts, seen = [], []
    while error is not None and error not in seen:
        seen.append(error)
        texts += [str(error), repr(error), repr(error.args), repr(vars(error))]
        texts += traceback.format_exception(error)
        hidden = error.__suppress_context__  # by `from None`: no traceback shows it
        error = error.__cause__ or (None if hidden else error.__context__)
    return "\n".join(texts)


def seen_of(data):
    """All that a dataset shows of itself."""
    graph = tf.raw_ops.DatasetToGraphV2(input_dataset=data._variant_tensor)
    spec = data.spec
    shown = [repr(data), str(data), repr(spec), spec.to_json(), spec.digest, repr(data.stats())]
    shown += [repr(vars(data)), repr(data.element_spec), repr(data.file_paths)]
    return "\n".join([*shown, graph.numpy().decode("latin-1")])


@pytest.fixture
def clean(caplog):
    """
    `clean(text, *secrets)`: none of them is in it, nor in what was logged until now.

    Other packages' DEBUG lines do not count: botocore writes whole requests there.
    """
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "tfstream")

    def check(text, *secrets):
        logged = "\n".join(f"{each.getMessage()} {each.args}" for each in caplog.records)
        assert [] == [form for form in forms(*secrets) if form in text + logged]

    return check


def test_what_is_looked_for_would_be_found(clean):
    """The check itself sees a secret in the cause of an error, in each of its forms."""
    for form in forms(CANARY):
        try:
            raise ValueError(form)
        except ValueError as error:
            with pytest.raises(AssertionError):
                clean(text_of(error), CANARY)


def test_a_dataset_shows_none(place, clean):
    """Neither texts nor spec nor graph of a dataset hold what it reads with."""
    place.put(classes(2))
    data = place.open("train/**")
    examples(data)
    secret = place.credentials["secret_access_key"]
    clean(seen_of(data) + seen_of(data.with_read_options(BRIEF)), secret)


def test_a_warning_shows_none(lakefs_place, clean):
    """The warning about uncommitted objects holds no secret."""
    lakefs_place.put(classes(2))
    lakefs_place.upload("train/1/9.png", picture(0))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lakefs_place.open("train/**")
    assert 1 == len(told)
    clean(str(told[0]), lakefs_place.credentials["secret_access_key"])


@pytest.mark.slow
def test_no_error_shows_one(place, clean):
    """Whatever fails, while listing or reading, no text of the error holds the keys' secret."""
    place.put(classes(2))
    good = place.open("train/**")
    credentials = KEYS | ({"session_token": TOKEN} if place.store == "s3" else {})
    for fault in FAULTS:
        place.proxy.clear()
        stream = tfstream.load(good.spec, credentials=credentials, options=BRIEF)
        place.proxy.add(fault)
        with pytest.raises(TfstreamError) as while_listing:
            place.open("train/**", credentials=credentials)
        with pytest.raises(TfstreamError) as while_reading:
            examples(stream)
        clean(text_of(while_listing.value) + text_of(while_reading.value), CANARY, TOKEN)
    clean(seen_of(stream), CANARY, TOKEN)


def test_refusals_show_none(place, clean):
    """Names that do not exist and values that cannot be are told without the credentials."""
    for wrong in (
        {"endpoint": "http://127.0.0.1:1"},
        {"endpoint": f"http://me:{TOKEN}@127.0.0.1:1"},
        {"credentials": {**KEYS, "passwort": TOKEN}},
        {"credentials": {"secret_access_key": CANARY}},
        {"credentials": {**KEYS, "secret_access_key": f"{CANARY}\n"}},
        {"credentials": {**KEYS, "secret_access_key": [CANARY]}},
        {"batch_size": -1},
        {"labels": "nonsense"},
    ):
        with pytest.raises((TfstreamError, ValueError)) as error:
            place.open("train/**", **{"credentials": KEYS, **wrong})
        clean(text_of(error.value), CANARY, TOKEN)


def test_a_token_is_not_shown(lakefs_place, clean):
    """A lakeFS token that is refused is in no text either."""
    with pytest.raises(tfstream.AuthenticationError) as error:
        lakefs_place.open("train/**", credentials={"token": TOKEN})
    clean(text_of(error.value), TOKEN)


def test_inside_the_graph(place, clean):
    """TensorFlow's own error, from a derived dataset, shows none."""
    place.put(classes(2))
    good = place.open("train/**")
    stream = tfstream.load(good.spec, credentials=KEYS, options=BRIEF)
    place.proxy.add(Fault("status", status=503, times=None))
    with pytest.raises(tf.errors.OpError, match="RetriesExhaustedError: read") as error:
        list(stream.map(lambda image, label: image))
    clean(text_of(error.value), CANARY)


def test_an_fsspec_url(clean):
    """Options of an fsspec filesystem are in no text of the dataset, nor of its errors."""
    system = fsspec.filesystem("memory")
    for key, data in classes(2).items():
        system.pipe(f"/hidden/{key}", data)
    common = {"credentials": {"token": TOKEN}, "verbose": False, "image_size": SIZE}
    data = tfstream.from_url("memory://hidden/train/**", **common)
    examples(data)
    clean(seen_of(data), TOKEN)
    system.rm("/hidden/train/1/2.png")
    for failing in (
        lambda: examples(data),
        lambda: tfstream.from_url("memory://hidden/none/**", **common),
    ):
        with pytest.raises(TfstreamError) as error:
            failing()
        clean(text_of(error.value), TOKEN)
    system.rm("/hidden", recursive=True)


@pytest.mark.parametrize(
    ("url", "credentials"),
    [
        ("gs://photos/train/**", {"service_account_key": f'{{"private_key": "{TOKEN}"}}'}),
        (
            "az://account/photos/train/**",
            {"account_key": base64.b64encode(TOKEN.encode()).decode()},
        ),
        ("az://account/photos/train/**", {"nonsense": TOKEN}),
        (f"s3://me:{TOKEN}@photos/**", {}),
        (f"gs://me:{TOKEN}@photos/**", {}),
        (f"az://me:{TOKEN}@account/photos", {}),
        (f"lakefs://me:{TOKEN}@photos/main", {}),
    ],
    ids=["gs", "az", "names", "s3", "gs url", "az url", "lakefs"],
)
def test_other_stores(url, credentials, clean):
    """Keys of other stores, and passwords in URLs, are refused or fail unseen."""
    options = tfstream.ReadOptions(attempts=1, connect_timeout=1, read_timeout=1)
    endpoint = {"endpoint": "http://127.0.0.1:1"} if url.startswith(("gs", "az")) else {}
    with pytest.raises((TfstreamError, ValueError)) as error:
        tfstream.from_url(url, credentials=credentials, options=options, **endpoint)
    clean(text_of(error.value), TOKEN, *[str(value) for value in credentials.values()])
