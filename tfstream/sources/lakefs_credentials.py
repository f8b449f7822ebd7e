"""
Where the lakeFS server is, and who asks: found field by field.

```
field               argument      variable, LAKECTL_…           lakectl's file
endpoint            endpoint=     SERVER_ENDPOINT_URL           server.endpoint_url
access_key_id       credentials=  CREDENTIALS_ACCESS_KEY_ID     credentials.access_key_id
secret_access_key   credentials=  CREDENTIALS_SECRET_ACCESS_KEY credentials.secret_access_key
token               credentials=  CREDENTIALS_SESSION_TOKEN     credentials.session_token
```

* Earlier columns win. The file is `LAKECTL_CONFIG_FILE`, else `~/.lakectl.yaml`; it is read
  only for what the others lack.
* A token stands in place of the two keys. The first column that has any of the three decides
  which of both is used; within a column the token wins, as in lakeFS' own Python client.
* An empty value is no value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tfstream.errors import AuthenticationError
from tfstream.sources.base import Credentials

ALLOWED = ("access_key_id", "secret_access_key", "token")
KEYS = ALLOWED[:2]
VARIABLES = {
    "endpoint": "LAKECTL_SERVER_ENDPOINT_URL",
    "access_key_id": "LAKECTL_CREDENTIALS_ACCESS_KEY_ID",
    "secret_access_key": "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY",
    "token": "LAKECTL_CREDENTIALS_SESSION_TOKEN",
}
IN_FILE = {
    "endpoint": ("server", "endpoint_url"),
    "access_key_id": ("credentials", "access_key_id"),
    "secret_access_key": ("credentials", "secret_access_key"),
    "token": ("credentials", "session_token"),
}
Values = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Access:
    """
    A server and the right to ask it: either both keys or a token.

    Attributes:
        endpoint: The server's root, without `/api/v1` and without a slash at its end.
        found_in: Where the keys or the token were found, for messages.
    """

    endpoint: str
    found_in: str
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ALLOWED:
            value = getattr(self, name)
            if value and not (value.isascii() and value.isprintable() and " " not in value):
                raise AuthenticationError(
                    f"lakeFS: {name} from {self.found_in} has a space, a line break or another "
                    "character that does not belong there"
                )


def find_access(endpoint: str | None, credentials: Credentials | None) -> Access:
    """
    What the arguments say, then the environment, then lakectl's file.

    Errors:
        AuthenticationError: what is missing, and where it was looked for.
        ValueError: an unknown name, or a value that cannot be.
    """
    given = _given(endpoint, credentials)
    variables = {key: os.environ.get(name, "") for key, name in VARIABLES.items()}
    columns = {"the arguments": given, "the LAKECTL_* variables": variables}
    found, origins = _merge(columns)
    file, note = _file(), ""
    if _missing(found):
        values, note = _read(file)
        found, origins = _merge(columns | {file: values})
    if missing := _missing(found):
        names = ", ".join(VARIABLES[key] for key in missing)
        raise AuthenticationError(
            f"lakeFS: {' and '.join(missing)} not found: not in the arguments (endpoint=, "
            f"credentials=), not in {names}, not in {file}{note}. Keys may be replaced by a token"
        )
    found["endpoint"] = root_of(found["endpoint"])
    return Access(**found, found_in=origins)


def root_of(endpoint: str) -> str:
    """
    The server's root: `lakefs.example.com/api/v1/` is `http://lakefs.example.com`.

    Without a scheme it is http, as for lakeFS' own clients.

    Errors:
        ValueError: no http(s) URL, or one with a user, a query or a fragment in it.
    """
    url = endpoint if "://" in endpoint else f"http://{endpoint}"
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError("endpoint has a user or password in it: pass them as credentials=")
    try:
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # the port is no number
        valid = False
    if not valid or parts.query or parts.fragment or any(char <= " " for char in url):
        raise ValueError(f"endpoint is a URL such as https://lakefs.example.com, got {endpoint!r}")
    path = parts.path.rstrip("/").removesuffix("/api/v1").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _given(endpoint: str | None, credentials: Credentials | None) -> Values:
    unknown = sorted(set(credentials or {}) - set(ALLOWED), key=repr)
    if unknown:
        raise ValueError(
            f"credentials of lakeFS are {', '.join(ALLOWED)}, got {', '.join(map(repr, unknown))}"
        )
    for name, value in (credentials or {}).items():
        if not isinstance(value, str | None):
            raise ValueError(f"credentials[{name!r}] is a text, got a {type(value).__name__}")
    return {"endpoint": endpoint or "", **(credentials or {})}


def _merge(columns: Mapping[str, Mapping[str, str]]) -> tuple[Values, str]:
    """The fields that were found, and where the keys or the token are from."""
    found: Values = {}
    origins: dict[str, None] = {}
    for origin, values in columns.items():
        wanted = ["endpoint"]
        if not any(key in found for key in KEYS):
            wanted.append("token")
        if "token" not in found and not (values.get("token") and "token" in wanted):
            wanted += KEYS
        for key in wanted:
            if values.get(key) and key not in found:
                found[key] = values[key]
                origins |= {origin: None} if key != "endpoint" else {}
    return found, " and ".join(origins)


def _missing(found: Values) -> list[str]:
    keys = () if "token" in found else KEYS
    return [key for key in ("endpoint", *keys) if key not in found]


def _file() -> str:
    return os.environ.get("LAKECTL_CONFIG_FILE") or "~/.lakectl.yaml"


def _read(file: str) -> tuple[Values, str]:
    """The fields in lakectl's file, and why there are none."""
    import yaml

    try:
        with open(os.path.expanduser(file), encoding="utf-8") as stream:
            content = yaml.safe_load(stream)
    except OSError as error:
        return {}, f" ({(error.strerror or 'unreadable').lower()})"
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise AuthenticationError(f"{file} is not YAML{line}") from None  # it may hold a secret
    return {key: _entry(content, file, *address) for key, address in IN_FILE.items()}, ""


def _entry(content: Any, file: str, section: str, key: str) -> str:
    values = content.get(section) if isinstance(content, Mapping) else None
    value = values.get(key) if isinstance(values, Mapping) else None
    if not isinstance(value, str | None):
        raise AuthenticationError(f"{file}: {section}.{key} is no text: write it in quotes")
    return value or ""
