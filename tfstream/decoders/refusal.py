"""
How this folder says no: `DecodeError("broken PNG: no IHDR chunk", kind="broken PNG")`.

A kind is one of few, so that failures can be counted by it: it has no sizes, no bytes of the
file and no words of a library. The text has the rest.
"""

from __future__ import annotations

from tfstream.errors import DecodeError


def refused(kind: str, why: str) -> DecodeError:
    """The kind, and what more there is to say."""
    return DecodeError(f"{kind}: {why}", kind=kind)


def broken(name: str, why: str) -> DecodeError:
    """A file of format `name` that breaks its own rules."""
    return refused(f"broken {name}", why)


def unsupported(name: str, what: str, size: tuple[int | None, int | None]) -> DecodeError:
    """A whole file that nothing here reads; `what` is one of few, `size` is width and height."""
    pixels = "" if None in size else f", {size[0]:,} x {size[1]:,}"
    return DecodeError(
        f"{name}{pixels}, {what}: not supported", kind=f"{name} not supported ({what})"
    )


_SIGNS = (
    ("truncated", "truncated {}"),
    ("not enough image data", "truncated {}"),
    ("exceeds limit", "{} too large"),
    ("not installed", "{} needs a package"),
    ("unknown pixel mode", "{} not supported"),
    ("unsupported", "{} not supported"),
    ("cannot handle", "{} not supported"),
)
"""Words of Pillow, and what they mean; anything else is a broken file."""


def of_pillow(name: str, error: Exception) -> DecodeError:
    """What Pillow raised for a file of format `name`."""
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    kinds = (kind for words, kind in _SIGNS if words in reason.lower())
    return refused(next(kinds, "broken {}").format(name), reason)
