"""lakeFS: where the server's address and the keys are looked for, and what they may be."""

from __future__ import annotations

import pytest

from tfstream.errors import AuthenticationError
from tfstream.options import ReadOptions
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.lakefs_credentials import Access, find_access, root_of

ENDPOINT = "http://lakefs.test"
KEYS = {"access_key_id": "AKIAARGUMENT", "secret_access_key": "secret-of-argument"}
VARIABLES = {
    "LAKECTL_SERVER_ENDPOINT_URL": "http://variable.test/api/v1",
    "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": "AKIAVARIABLE",
    "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "secret-of-variable",
}
FILE = """
credentials:
  access_key_id: AKIAFILE
  secret_access_key: secret-of-file
server:
  endpoint_url: https://file.test
metastore: {type: hive}
"""


@pytest.fixture
def variables(monkeypatch):
    """The environment of a user who has everything in variables."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def file(clean_environment):
    """lakectl's file in the home folder."""
    path = clean_environment / ".lakectl.yaml"
    path.write_text(FILE)
    return path


def keys_of(access):
    """The parts of an access that are compared."""
    return access.endpoint, access.access_key_id, access.secret_access_key, access.token


# Places


def test_arguments_alone_are_enough():
    """With all arguments given nothing else is needed."""
    access = find_access(ENDPOINT, KEYS)
    assert (ENDPOINT, *KEYS.values(), None) == keys_of(access)
    assert "the arguments" == access.found_in


def test_variables_alone_are_enough(variables):
    """lakectl's variables say everything."""
    access = find_access(None, None)
    expected = ("http://variable.test", "AKIAVARIABLE", "secret-of-variable", None)
    assert expected == keys_of(access)
    assert "the LAKECTL_* variables" == access.found_in


def test_the_file_alone_is_enough(file):
    """lakectl's file in the home folder says everything; what else it has does not matter."""
    access = find_access(None, {})
    assert ("https://file.test", "AKIAFILE", "secret-of-file", None) == keys_of(access)
    assert "~/.lakectl.yaml" == access.found_in


def test_a_variable_names_another_file(file, tmp_path, monkeypatch):
    """LAKECTL_CONFIG_FILE stands in place of the file in the home folder."""
    other = tmp_path / "other.yaml"
    other.write_text(FILE.replace("AKIAFILE", "AKIAOTHER"))
    monkeypatch.setenv("LAKECTL_CONFIG_FILE", str(other))
    assert "AKIAOTHER" == find_access(None, None).access_key_id


def test_places_are_merged_field_by_field(variables, file, monkeypatch):
    """Each field is from the first place that has it, whatever the others are from."""
    monkeypatch.delenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY")
    access = find_access(ENDPOINT, {"access_key_id": "AKIAARGUMENT"})
    assert (ENDPOINT, "AKIAARGUMENT", "secret-of-file", None) == keys_of(access)
    assert "the arguments and ~/.lakectl.yaml" == access.found_in
    assert ("http://variable.test", "AKIAVARIABLE") == keys_of(find_access(None, None))[:2]


def test_arguments_win_over_variables_and_these_over_the_file(variables, file):
    """The order is arguments, variables, file."""
    assert (ENDPOINT, *KEYS.values(), None) == keys_of(find_access(ENDPOINT, KEYS))
    assert "AKIAVARIABLE" == find_access(None, None).access_key_id


def test_an_empty_value_is_none(variables, file, monkeypatch):
    """An argument or variable that is empty or None is as if it were not there."""
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", "")
    access = find_access(None, {"access_key_id": "", "secret_access_key": None})
    assert ("AKIAFILE", "secret-of-variable") == keys_of(access)[1:3]


# Tokens


def test_a_token_stands_in_place_of_keys(monkeypatch):
    """A token alone is enough, and in one place it wins over keys."""
    assert (ENDPOINT, None, None, "tok") == keys_of(find_access(ENDPOINT, {"token": "tok"}))
    both = find_access(ENDPOINT, {**KEYS, "token": "tok"})
    assert (ENDPOINT, None, None, "tok") == keys_of(both)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SESSION_TOKEN", "tok-of-variable")
    assert "tok-of-variable" == find_access(ENDPOINT, None).token


def test_a_token_in_the_file(clean_environment):
    """lakectl's file has it as `credentials.session_token`."""
    text = "credentials: {session_token: tok}\nserver: {endpoint_url: http://file.test}"
    (clean_environment / ".lakectl.yaml").write_text(text)
    assert ("http://file.test", None, None, "tok") == keys_of(find_access(None, None))


def test_the_first_place_decides_between_token_and_keys(variables, file, monkeypatch):
    """A token of a later place never replaces keys of an earlier one, nor the reverse."""
    file.write_text(FILE.replace("credentials:", "credentials:\n  session_token: tok"))
    assert ("AKIAVARIABLE", "secret-of-variable", None) == keys_of(find_access(None, None))[1:]
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SESSION_TOKEN", "tok")
    keys = find_access(None, {"access_key_id": "AKIAARGUMENT"})
    assert ("AKIAARGUMENT", "secret-of-variable", None) == keys_of(keys)[1:]


# What is missing or wrong


def test_what_is_missing_is_named_with_every_place(variables, monkeypatch):
    """The error names the missing fields alone, and everywhere that they were looked for."""
    monkeypatch.delenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationError) as error:
        find_access(None, None)
    text = str(error.value)
    assert text.startswith("lakeFS: secret_access_key not found")
    for place in ["credentials=", "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "~/.lakectl.yaml"]:
        assert place in text
    assert "no such file" in text
    assert "AKIAVARIABLE" not in text


def test_nothing_at_all_names_everything():
    """A user without any configuration is told all three fields."""
    source = LakeFSSource(repository="photos", ref="main")
    with pytest.raises(AuthenticationError, match="endpoint and access_key_id and secret_access"):
        source.open(None, ReadOptions())


def test_a_missing_endpoint_is_named():
    """Keys without a server say which variable names it."""
    with pytest.raises(AuthenticationError, match=r"endpoint not .*LAKECTL_SERVER_ENDPOINT_URL"):
        find_access(None, KEYS)


def test_an_unknown_name_is_refused():
    """A misspelt credential is a ValueError that names those that there are."""
    with pytest.raises(ValueError, match="access_key_id, secret_access_key, token, got 'key'"):
        find_access(ENDPOINT, {"key": "x"})


def test_a_value_that_is_no_text_is_refused_unseen():
    """A credential of another type is refused without being shown."""
    with pytest.raises(ValueError, match=r"\['secret_access_key'\] is a text, got a int") as error:
        find_access(ENDPOINT, {"secret_access_key": 8675309})
    assert "8675309" not in str(error.value)


@pytest.mark.parametrize("name", ["access_key_id", "secret_access_key", "token"])
def test_a_line_break_is_refused_unseen(name):
    """A key that was read from a file with its line break says so, and is not shown."""
    with pytest.raises(AuthenticationError, match=f"{name} .*line break") as error:
        find_access(ENDPOINT, {**KEYS, name: "hunter22\n"})
    assert "hunter22" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("credentials: {secret_access_key: hunter22", "is not YAML"),
        ("credentials:\n  secret_access_key: 123456", "secret_access_key is no text"),
        ("!!python/object/apply:os.getcwd []", "is not YAML"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_unseen(file, text, message):
    """A broken file is an error that names it and shows nothing of it; no tag makes objects."""
    file.write_text(text)
    with pytest.raises(AuthenticationError, match=rf"~/\.lakectl\.yaml.*{message}") as error:
        find_access(None, None)
    shown = f"{error.value!r} {error.value.__cause__!r}"
    assert not {"hunter22", "123456"} & set(shown.replace("'", " ").split())


@pytest.mark.parametrize("text", ["", "just text", "[1]", "credentials: text", "server: null"])
def test_a_file_without_the_fields_is_no_more_than_that(file, text):
    """A file that has other things, or nothing, is one more place without the fields."""
    file.write_text(text)
    with pytest.raises(AuthenticationError, match="not found"):
        find_access(None, None)


def test_a_file_is_not_opened_without_need(variables, file):
    """A broken file does not matter to who has everything in variables."""
    file.write_text("}")
    assert "AKIAVARIABLE" == find_access(None, None).access_key_id


def test_no_secret_is_in_a_repr():
    """What was found can be printed."""
    access = Access(endpoint=ENDPOINT, found_in="here", **KEYS, token="tok-secret")
    assert [] == [text for text in (*KEYS.values(), "tok-secret") if text in repr(access)]


# Endpoints


@pytest.mark.parametrize(
    ("endpoint", "root"),
    [
        ("https://lakefs.test", "https://lakefs.test"),
        ("https://lakefs.test/", "https://lakefs.test"),
        ("https://lakefs.test:8000/api/v1", "https://lakefs.test:8000"),
        ("https://lakefs.test/api/v1/", "https://lakefs.test"),
        ("https://lakefs.test/data/lakefs", "https://lakefs.test/data/lakefs"),
        ("https://lakefs.test/data/api/v1", "https://lakefs.test/data"),
        ("lakefs.test", "http://lakefs.test"),
        ("localhost:8000/api/v1", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_root_of_an_endpoint(endpoint, root):
    """With or without scheme, slash or /api/v1 an endpoint is the same server."""
    assert root == root_of(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        *("", "ftp://x", "http://", "http:///api/v1", "http://x:abc", "http://x?a=b"),
        *("http://x#y", "http://x y", "http://x\n", "http://x:0"),
    ],
)
def test_an_endpoint_that_is_none_is_refused(endpoint):
    """What is no http or https URL is a ValueError that shows it."""
    with pytest.raises(ValueError, match="endpoint is a URL such as") as error:
        root_of(endpoint)
    assert repr(endpoint) in str(error.value)


def test_an_endpoint_with_a_password_is_refused_unseen():
    """A password in the endpoint would be in the spec: it is refused and not shown."""
    with pytest.raises(ValueError, match="credentials=") as error:
        LakeFSSource(repository="photos", ref="main", endpoint="http://me:hunter22@lakefs.test")
    assert "hunter22" not in str(error.value)


def test_the_environment_never_gets_into_a_source(variables):
    """What is found when a source is opened is not in its description."""
    source = LakeFSSource(repository="photos", ref="main")
    store = source.open(None, ReadOptions())
    assert source == store.source
    shown = f"{source!r} {store!r} {vars(source)}"
    assert [] == [value for value in VARIABLES.values() if value in shown]
