"""S3: who signs a request, and where to: arguments, environment, profiles, programs."""

from __future__ import annotations

import json
import sys

import pytest

from tfstream.errors import AuthenticationError, SourceError
from tfstream.options import ReadOptions
from tfstream.sources.s3 import S3Source
from tfstream.testing.proxy import FaultProxy

KEYS = {"access_key_id": "AKIDGIVEN", "secret_access_key": "given-secret"}
POISON = {
    "AWS_ACCESS_KEY_ID": "AKIDPOISON",
    "AWS_SECRET_ACCESS_KEY": "poison-secret",
    "AWS_SESSION_TOKEN": "poison-token",
    "AWS_TOKEN": "poison-token",
    "AWS_ENDPOINT": "http://127.0.0.1:9",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
    "AWS_REGION": "poison-1",
    "AWS_DEFAULT_REGION": "poison-2",
    "AWS_BUCKET": "poison-bucket",
    "AWS_BUCKET_NAME": "poison-bucket",
    "AWS_SKIP_SIGNATURE": "true",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true",
    "AWS_S3_EXPRESS": "true",
    "AWS_REQUEST_PAYER": "true",
    "AWS_UNSIGNED_PAYLOAD": "true",
    "AWS_SERVER_SIDE_ENCRYPTION": "sse-c",
    "AWS_SSE_CUSTOMER_KEY_BASE64": "cG9pc29u",
    "AWS_CHECKSUM_ALGORITHM": "nonsense",
    "AWS_CONDITIONAL_PUT": "nonsense",
    "AWS_COPY_IF_NOT_EXISTS": "nonsense",
    "AWS_DISABLE_TAGGING": "nonsense",
    "AWS_DISABLE_BULK_DELETE": "nonsense",
    "AWS_SSE_BUCKET_KEY_ENABLED": "nonsense",
    "AWS_IMDSV1_FALLBACK": "nonsense",
    "AWS_ALLOW_HTTP": "false",
    "AWS_HTTP2_ONLY": "true",
    "AWS_PROXY_URL": "http://127.0.0.1:9",
}


@pytest.fixture
def proxy(s3_server, s3_bucket):
    """Sees every request; moto behind it takes any key."""
    s3_server.upload(s3_bucket, "a", b"data")
    with FaultProxy(s3_server.endpoint) as proxy:
        yield proxy


def read(source, credentials=None):
    """One listing and both clients' ways to read."""
    store = source.open(credentials, ReadOptions())
    info = store.list_page("").objects[0]
    assert b"data" == store.get(info) == store.get(info, attempt=2)


def signers(proxy):
    """Key, region and session token of each request."""
    found = set()
    for request in proxy.requests:
        scope = request.headers.get("authorization", "").partition("Credential=")[2]
        region = scope.split("/")[2] if scope else None
        token = request.headers.get("x-amz-security-token")
        found.add((request.access_key_id, region, token))
    return found


def test_two_stores_with_two_keys(proxy, s3_bucket):
    """Each store of a process signs with its own key, whichever client sends."""
    source = S3Source(bucket=s3_bucket, endpoint=proxy.endpoint)
    one, two = (
        source.open({"access_key_id": name, "secret_access_key": "secret"}, ReadOptions())
        for name in ("AKIDONE", "AKIDTWO")
    )
    for store, name in [(one, "AKIDONE"), (two, "AKIDTWO"), (one, "AKIDONE")]:
        proxy.clear()
        info = store.list_page("").objects[0]
        assert b"data" == store.get(info) == store.get(info, attempt=2)
        assert [name] * 3 == [request.access_key_id for request in proxy.requests]


def test_a_poisoned_environment_changes_nothing(proxy, s3_bucket, monkeypatch):
    """Given credentials, endpoint and region are all that counts, whatever AWS_* says."""
    for name, value in POISON.items():
        monkeypatch.setenv(name, value)
    read(S3Source(bucket=s3_bucket, endpoint=proxy.endpoint, region="eu-west-1"), KEYS)
    assert {("AKIDGIVEN", "eu-west-1", None)} == signers(proxy)
    for request in proxy.requests:
        assert request.target.startswith(f"/{s3_bucket}")
        strange = ("request-payer", "server-side-encryption", "s3session", "checksum")
        assert [] == [name for name in request.headers if any(word in name for word in strange)]


def test_a_session_token_is_sent(proxy, s3_bucket):
    """A token that is given goes with its key."""
    read(S3Source(bucket=s3_bucket, endpoint=proxy.endpoint), {**KEYS, "session_token": "token"})
    assert {("AKIDGIVEN", "us-east-1", "token")} == signers(proxy)


def test_the_environment(proxy, s3_bucket, monkeypatch):
    """Without arguments the AWS_* variables say who, where and in which region."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "env-token")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.endpoint)
    read(S3Source(bucket=s3_bucket))
    assert {("AKIDENV", "eu-central-1", "env-token")} == signers(proxy)


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9000", "http://me:given-secret@host"])
def test_an_endpoint_that_is_configured_wrongly(monkeypatch, endpoint):
    """The variable is named, and its value where that cannot be a secret."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    store = S3Source(bucket="photos").open(KEYS, ReadOptions())
    with pytest.raises(SourceError, match="AWS_ENDPOINT_URL") as error:
        store.list_page("")
    assert "given-secret" not in str(error.value)


def test_an_endpoint_that_is_configured_may_be_ignored(proxy, s3_bucket, monkeypatch):
    """AWS_IGNORE_CONFIGURED_ENDPOINT_URLS holds here too."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    store = S3Source(bucket=s3_bucket).open(KEYS, ReadOptions())
    client = store._connect().client
    assert client.meta.endpoint_url.endswith(".amazonaws.com")


def write_config(home, text):
    """The user's ~/.aws/config."""
    (home / ".aws").mkdir(exist_ok=True)
    (home / ".aws" / "config").write_text(text)


def test_a_profile(proxy, s3_bucket, clean_environment, monkeypatch):
    """A profile named as a credential gives key, region and endpoint; AWS_PROFILE does too."""
    write_config(
        clean_environment,
        "[profile lab]\n"
        "aws_access_key_id = AKIDLAB\naws_secret_access_key = secret\n"
        f"region = ap-south-1\nservices = lab-services\n"
        f"[services lab-services]\ns3 =\n  endpoint_url = {proxy.endpoint}\n",
    )
    read(S3Source(bucket=s3_bucket), {"profile": "lab"})
    monkeypatch.setenv("AWS_PROFILE", "lab")
    read(S3Source(bucket=s3_bucket))
    assert {("AKIDLAB", "ap-south-1", None)} == signers(proxy)


def test_credentials_that_are_renewed(proxy, s3_bucket, clean_environment, tmp_path):
    """Credentials that end soon are asked for again, and both clients sign with the new ones."""
    count, program = tmp_path / "count", tmp_path / "program.py"
    program.write_text(
        "import datetime, json, pathlib\n"
        f"count = pathlib.Path({str(count)!r})\n"
        "number = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(number))\n"
        "end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=60)\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'AKIDNUMBER{number}',\n"
        "    'SecretAccessKey': 's', 'SessionToken': 't', 'Expiration': end.isoformat()}))\n"
    )
    command = f"{sys.executable} -S {program}"
    write_config(clean_environment, f"[default]\ncredential_process = {command}\n")
    source = S3Source(bucket=s3_bucket, endpoint=proxy.endpoint)
    read(source)
    keys = [request.access_key_id for request in proxy.requests]
    assert 3 == len(set(keys)) == len(keys)


def test_anonymous(proxy, s3_server, s3_bucket, monkeypatch):
    """Anonymous requests carry no signature, whatever the environment has."""
    s3_server.client().put_object_acl(Bucket=s3_bucket, Key="a", ACL="public-read")
    for name, value in POISON.items():
        monkeypatch.setenv(name, value)
    read(S3Source(bucket=s3_bucket, endpoint=proxy.endpoint, anonymous=True))
    assert [None] * 3 == [request.headers.get("authorization") for request in proxy.requests]


def test_no_credentials_anywhere(proxy, s3_bucket):
    """Who has none is told where they were looked for; nothing is sent."""
    store = S3Source(bucket=s3_bucket, endpoint=proxy.endpoint).open(None, ReadOptions())
    words = "credentials argument.*AWS_ACCESS_KEY_ID.*~/.aws/config.*roles.*anonymous=True"
    with pytest.raises(AuthenticationError, match=words):
        store.list_page("")
    assert [] == proxy.requests


@pytest.mark.parametrize(
    ("config", "credentials", "message"),
    [
        ("", {"profile": "nobody"}, "profile \\(nobody\\) could not be found"),
        ("[default]\naws_access_key_id = AKID\n", {}, "PartialCredentialsError"),
        ("[default]\ncredential_process = printf secret\n", {}, "prints no JSON"),
        ("[default]\ncredential_process = false\n", {}, "CredentialRetrievalError"),
    ],
)
def test_credentials_that_cannot_be_had(clean_environment, config, credentials, message):
    """A profile or program that gives none is named, without what it printed."""
    write_config(clean_environment, config)
    store = S3Source(bucket="photos", endpoint="http://127.0.0.1:9").open(
        credentials, ReadOptions()
    )
    with pytest.raises(AuthenticationError, match=message) as error:
        store.list_page("")
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__


@pytest.mark.parametrize(
    ("credentials", "anonymous", "message"),
    [
        ({"key": "a"}, False, "are access_key_id, .*, profile; got 'key'"),
        ({"access_key_id": "a"}, False, "access_key_id and secret_access_key together"),
        ({"secret_access_key": "hush"}, False, "access_key_id and secret_access_key together"),
        (
            {"session_token": "hush", "profile": "p"},
            False,
            "access_key_id and secret_access_key together",
        ),
        (KEYS, True, "anonymous=True takes no credentials"),
    ],
)
def test_credentials_that_cannot_be(credentials, anonymous, message):
    """Wrong names and half pairs are errors at once, and no value is shown."""
    source = S3Source(bucket="photos", anonymous=anonymous)
    with pytest.raises(ValueError, match=message) as error:
        source.open(credentials, ReadOptions())
    assert "hush" not in str(error.value)
    assert "given-secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.pem", None, "absent.pem: No such file"),
        ("bad.pem", "-----BEGIN", "obstore refuses"),
    ],
)
def test_certificates_that_cannot_be_used(monkeypatch, tmp_path, name, text, message):
    """A bundle of certificates that is absent or no bundle is an error that says so."""
    if text is not None:
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / name))
    store = S3Source(bucket="photos", region="eu-west-1").open(KEYS, ReadOptions())
    with pytest.raises(SourceError, match=message):
        store.list_page("")


def test_aws_itself(monkeypatch):
    """Without an endpoint both clients go to the bucket's own host, or by path if it has dots."""
    for bucket, expected in [
        ("photos", "https://photos.s3.eu-west-1.amazonaws.com"),
        ("my.photos", "https://s3.eu-west-1.amazonaws.com"),
    ]:
        store = S3Source(bucket=bucket, region="eu-west-1").open(KEYS, ReadOptions())
        assert expected == store._connect().fast.config["endpoint"]


def test_the_region_of_the_bucket_is_learned(proxy, s3_bucket, monkeypatch):
    """A listing that tells another region makes both clients use that one from then on."""
    store = S3Source(bucket=s3_bucket).open(KEYS, ReadOptions())
    answer = {"ResponseMetadata": {"HTTPHeaders": {"x-amz-bucket-region": "eu-north-1"}}}
    store._learn_region(answer)
    connection = store._connect()
    assert "eu-north-1" == connection.client.meta.region_name
    assert "https://s3.eu-north-1.amazonaws.com" == connection.client.meta.endpoint_url
    assert "eu-north-1" == connection.fast.config["region"]
    store._learn_region(answer)
    assert connection is store._connect()


def test_no_text_has_a_secret(s3_bucket):
    """Neither source, store nor connection shows what was given."""
    store = S3Source(bucket=s3_bucket).open({**KEYS, "session_token": "given-token"}, ReadOptions())
    texts = json.dumps([repr(part) for part in (store, store.source, store._connect())])
    assert "given-" not in texts
