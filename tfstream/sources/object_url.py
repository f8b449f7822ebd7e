"""URLs of object stores, taken literally: nothing in them is percent-decoded."""

from __future__ import annotations

from urllib.parse import urlsplit


def split_url(url: str, scheme: str) -> tuple[str, str]:
    """
    The two parts of `scheme://first/rest`; the rest is `**` where it is empty.

    Errors: ValueError for anything else.
    """
    start = f"{scheme}://"
    first, _, rest = url.removeprefix(start).partition("/")
    if not url.startswith(start) or not first:
        raise ValueError(f"expected {start}name/pattern, got {url!r}")
    if ":" in first.partition("@")[0] and "@" in first:  # not shown: it may be a password
        raise ValueError(f"a {start} URL has no user or password in it: pass credentials={{...}}")
    return first, rest or "**"


def check_endpoint(field: str, endpoint: str | None) -> None:
    """Errors: ValueError unless it is None or `http(s)://host[:port][/path]` without a secret."""
    if endpoint is None:
        return
    parts = urlsplit(endpoint)
    if "@" in parts.netloc or parts.query:  # not shown: it may be a password or a signature
        raise ValueError(f"{field} holds no user, password or query: pass credentials={{...}}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment:
        raise ValueError(f"{field} is like https://host:port, got {endpoint!r}")
