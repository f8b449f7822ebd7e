"""
Which keys: a pattern is matched against a whole key, exactly as the store has it.

```
*           any characters within a segment          ?     one character, not a slash
[a-z_]      one character of a set                   [!x]  one that is not in it
**          as a whole segment: any number of segments, also none
[[] [*] [?] the character itself (a set of one); { } and all else stand for themselves
folder/     the same as folder/**                    (also the empty pattern: everything)
```

* Segments are what is between slashes; they may be empty (`a//b`, `/a`). No character but the
  slash is special: a newline is one like others.
* The literal prefix ends at the last `/` before the first wildcard. Stores list by it.
* Without a wildcard a pattern is that object, or else that folder (`as_folder`).
* With one, the extension at its end (`.jpg`, `.tar.gz`: literal ASCII letters and digits)
  matches in any case: `*.jpg` finds `X.JPG`. Everything else is case-sensitive.
* Hidden is a segment after the literal prefix that starts with `.`, except `.` and `..`,
  unless the pattern spells it: `**/.cache/*` finds `.cache`. Such a segment of the pattern
  (`.*`) never stands for `.` or `..`, as in shells.
* `**` beside other characters and an unclosed `[` are errors: both are slips, and the
  message says what to write instead.

A pattern becomes one regular expression that never goes back: what is between two stars is
matched where it first can be (a lookahead and its group is Python 3.10's atomic group), so
`*a*a*a*b` takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from tfstream.errors import SpecError

_TOKENS = re.compile(
    r"(?P<star>\*+)|(?P<one>\?)|\[(?P<set>(?:!.|[^!])[^\]]*)\]|(?P<open>\[)|(?P<text>[^*?\[]+)",
    re.DOTALL,
)
_EXTENSION = re.compile(r"(?:\.[A-Za-z0-9]+)+\Z")
_ANY = "[^/]*"
_NOT_HIDDEN = r"(?!\.(?!\.?(?:/|\Z)))"
_NOT_DOTS = r"(?!\.\.?(?:/|\Z))"


class _Token(NamedTuple):
    """A part of a segment: its regular expression and, unless it is a wildcard, its text."""

    regex: str
    text: str | None = None


_Segment = Sequence[_Token]
_STAR = _Token(_ANY)
_DEEP: _Segment = (_Token("**"),)


def has_wildcard(pattern: str) -> bool:
    """Whether the pattern may stand for more than one key; a set of one character does not."""
    return any(_is_wild(segment) for segment in _split(pattern))


def literal_prefix(pattern: str) -> str:
    """The text, up to its last slash, that every matching key starts with; unescaped."""
    prefix = ""
    for segment in _split(pattern)[:-1]:
        if _is_wild(segment):
            break
        prefix += _text(segment) + "/"
    return prefix


def escape(text: str) -> str:
    """The pattern that stands for exactly this text."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def unescape(pattern: str) -> str:
    """The key that a pattern without wildcard stands for."""
    if has_wildcard(pattern):
        raise SpecError(f"pattern {pattern!r} has a wildcard, so it names no single object")
    return "/".join(_text(segment) for segment in _split(pattern))


def as_folder(pattern: str) -> str:
    """What a pattern without wildcard means where there is no object of that name."""
    return f"{pattern}**" if _is_folder(pattern) else f"{pattern}/**"


def extension_of(pattern: str) -> str | None:
    """The extension that the pattern names, in lower case (`.jpg`, `.tar.gz`), or None."""
    return _extension(_split(pattern)[-1]).lower() or None


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a key is one of the pattern's, hidden or not."""
    expression = _compile(pattern, visible=False)
    return lambda key: expression.match(key) is not None


def hidden(key: str, pattern: str) -> bool:
    """Whether a key that matches has a hidden segment that the pattern does not spell."""
    if not key.startswith(".") and "/." not in key:
        return False
    return _compile(pattern, visible=True).match(key) is None


@lru_cache(maxsize=64)
def _compile(pattern: str, *, visible: bool) -> re.Pattern[str]:
    """The pattern as a regular expression; if `visible`, no wildcard stands for a hidden name."""
    if not has_wildcard(pattern) and not _is_folder(pattern):
        return re.compile(re.escape(unescape(pattern)) + r"\Z")
    *segments, last = _split(as_folder(pattern) if _is_folder(pattern) else pattern)
    groups = count()
    sections: list[list[str]] = [[]]  # what is between one `**` and the next
    for segment in [*segments, _any_case(last)]:
        if segment is _DEEP:
            sections.append([])
        else:
            sections[-1].append(_regex(segment, groups, visible=visible))
    return re.compile(_join(sections, groups, visible=visible) + r"\Z")


def _join(sections: Sequence[Sequence[str]], groups: Iterator[int], *, visible: bool) -> str:
    """The sections with any number of segments between each two."""
    if len(sections) == 1:
        return "/".join(sections[0])
    segment = _NOT_HIDDEN + _ANY if visible else _ANY
    first, *middle, last = sections
    regex = "".join(f"{part}/" for part in first)
    for section in filter(None, middle):
        regex += _first_fit(f"(?:{segment}/)*?" + "".join(f"{part}/" for part in section), groups)
    return regex + f"(?:{segment}/)*" + ("/".join(last) if last else segment)


def _regex(segment: _Segment, groups: Iterator[int], *, visible: bool) -> str:
    """A segment's regular expression."""
    runs = [""]
    for token in segment:
        if token is _STAR:
            runs.append("")
        else:
            runs[-1] += token.regex
    guard = ""
    if _is_wild(segment):
        spelled = (segment[0].text or "").startswith(".")
        guard = _NOT_DOTS if spelled else _NOT_HIDDEN if visible else ""
    first, *middle, last = runs if len(runs) > 1 else (runs[0], "")
    regex = guard + first + "".join(_first_fit(f"{_ANY}?{run}", groups) for run in middle)
    return regex + (_ANY if len(runs) > 1 else "") + last


def _first_fit(regex: str, groups: Iterator[int]) -> str:
    """What the expression matches first; never tried again further on."""
    name = f"g{next(groups)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


@lru_cache(maxsize=64)
def _split(pattern: str) -> Sequence[_Segment]:
    """The pattern's segments, each as its tokens."""
    return [
        _DEEP if segment == "**" else tuple(_tokens(segment, pattern))
        for segment in pattern.split("/")
    ]


def _tokens(segment: str, pattern: str) -> Iterator[_Token]:
    for found in _TOKENS.finditer(segment):
        kind, text = found.lastgroup, found.group(found.lastgroup or 0)
        if kind == "text":
            yield _Token(re.escape(text), text)
        elif kind == "one":
            yield _Token("[^/]")
        elif kind == "set":
            yield _Token(re.escape(text), text) if len(text) == 1 else _Token(_set(text, pattern))
        elif kind == "open":
            raise SpecError(f"pattern {pattern!r} has an unclosed [: write [[] for a bracket")
        elif text == "*":
            yield _STAR
        else:
            one = segment.replace(text, "*")
            raise SpecError(
                f"pattern {pattern!r} has ** beside other characters in {segment!r}: write "
                f"{one!r} for this folder only, or '**/{one}' for any depth"
            )


def _set(text: str, pattern: str) -> str:
    """What is between the brackets as a class of a regular expression; never a slash."""
    negated = text.startswith("!")
    members, start = "", int(negated)
    while start < len(text):
        one = text[start]
        if text[start + 1 : start + 2] == "-" and start + 2 < len(text):
            other = text[start + 2]
            if other < one:
                raise SpecError(f"pattern {pattern!r} has an empty range {one}-{other} in a set")
            members += f"{re.escape(one)}-{re.escape(other)}"
            start += 3
        else:
            members += re.escape(one)
            start += 1
    return f"(?!/)[{'^' if negated else ''}{members}]"


def _is_wild(segment: _Segment) -> bool:
    return any(token.text is None for token in segment)


def _is_folder(pattern: str) -> bool:
    return pattern == "" or pattern.endswith("/")


def _text(segment: _Segment) -> str:
    return "".join(token.text or "" for token in segment)


def _ending(segment: _Segment) -> tuple[_Segment, str]:
    """The segment up to its last wildcard, and the text after that."""
    size = next(
        (n for n, token in enumerate(reversed(segment)) if token.text is None), len(segment)
    )
    cut = len(segment) - size
    return segment[:cut], _text(segment[cut:])


def _extension(segment: _Segment) -> str:
    """The extension at the segment's end; the dot that a name starts with begins none."""
    wild, text = _ending(segment)
    found = _EXTENSION.search(text, 0 if wild else 1)
    return found.group() if found else ""


def _any_case(segment: _Segment) -> _Segment:
    """The segment with an extension that matches in any case."""
    extension = _extension(segment)
    if not extension:
        return segment
    wild, text = _ending(segment)
    stem = text[: -len(extension)]
    regex = "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in extension)
    return (*wild, _Token(re.escape(stem) + regex, text))
