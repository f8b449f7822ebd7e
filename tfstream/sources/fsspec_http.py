"""
Keys in the pages by which a web server lists a folder, and back to URLs.

fsspec finds the links of a page but does not say which are files of the folder: that is here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from tfstream.errors import SourceError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SAFE = "/~!$&'()*+,;=:@"


def is_http(path: str) -> bool:
    """Whether a filesystem's path is a URL of HTTP."""
    return path.startswith(("http://", "https://"))


def encoded(key: str) -> str:
    """The key as it stands in a URL."""
    return quote(key, safe=_SAFE, errors="surrogateescape")


def completed(url: str) -> str:
    """A URL as typed with its illegal characters encoded; what is encoded stays so."""
    return quote(url, safe=_SAFE + "%?#[]")


def link_of(name: str, above: str) -> str:
    """
    A link as its page means it, with the scheme of the page's own URL.

    fsspec gives it as it is written in HTML, and takes https for http and the reverse.
    """
    return above.partition("://")[0] + "://" + html.unescape(name).partition("://")[2]


def child(link: str) -> str | None:
    """
    The name, decoded, that a link from a folder's page has in this folder; a folder ends with
    a slash. None for a link that leads elsewhere: sorting (`?C=N`), `../`, `mailto:`.

    Errors:
        SourceError: it leads further down, so the page does not list this folder's files.
    """
    link = link.removeprefix("./")
    if link in ("", "/", ".", "..") or link.startswith("../"):
        return None
    if "?" in link or "#" in link or _SCHEME.match(link):
        return None
    name = unquote(link, errors="surrogateescape")
    if "/" in name[:-1] or link[-3:].upper() == "%2F":
        raise SourceError(f"the page is no listing of a folder: it links to {name!r} further down")
    return name


def is_page(info: Mapping[str, Any], key: str) -> bool:
    """Whether what is said about a URL is about a folder's page and not about a file."""
    ends = str(info.get("url", "")).partition("?")[0].endswith("/")
    named = key.lower().endswith((".html", ".htm"))
    return ends or (info.get("mimetype") == "text/html" and not named)
