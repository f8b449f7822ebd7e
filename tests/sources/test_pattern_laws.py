"""What a pattern stands for, by law and against a plain recursive matcher."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfstream.errors import SpecError
from tfstream.sources.pattern import (
    as_folder,
    escape,
    has_wildcard,
    hidden,
    literal_prefix,
    matcher,
    unescape,
)

UNHURRIED = settings(deadline=None)
"""The machine may be busy: how long one example takes says nothing."""

# Against a plain matcher: a pattern here is a list of segments, a segment a list of tokens,
# a token one of `*`, `?`, ("text", text) and ("set", negated, characters).

LETTERS = "abA.\n"
token = st.one_of(
    st.just("*"),
    st.just("?"),
    st.tuples(st.just("text"), st.text(LETTERS, min_size=1, max_size=3)),
    st.tuples(st.just("set"), st.booleans(), st.sets(st.sampled_from("ab."), min_size=2)),
)
segment = st.one_of(
    st.just("**"),
    st.lists(token, max_size=4).filter(lambda tokens: ("*", "*") not in pairwise(tokens)),
)
key = st.text(LETTERS + "/", max_size=12)


def text_of(segment):
    """The segment as it is written in a pattern."""
    parts = []
    for token in segment:
        if token in ("*", "?"):
            parts.append(token)
        elif token[0] == "text":
            parts.append(token[1])
        else:
            parts.append(f"[{'!' if token[1] else ''}{''.join(sorted(token[2]))}]")
    return "".join(parts)


def is_wild(segment):
    return any(token[0] != "text" for token in segment)


def any_case(segment):
    """The segment with the extension at its end as a token of its own."""
    words = []
    rest = list(segment)
    while rest and rest[-1][0] == "text":
        words.insert(0, rest.pop()[1])
    text = "".join(words)
    for start in range(0 if rest else 1, len(text)):
        parts = text[start + 1 :].split(".")
        if text[start] == "." and all(part.isalnum() for part in parts):
            return [*rest, ("text", text[:start]), ("extension", text[start:])]
    return segment


def fits(tokens, text):
    """Whether a segment's tokens match the text, by trying everything."""
    if not tokens:
        return text == ""
    first, *rest = tokens
    if first == "*":
        return any(fits(rest, text[end:]) for end in range(len(text) + 1))
    if first == "?":
        return text != "" and fits(rest, text[1:])
    if first[0] == "set":
        return text != "" and (text[0] in first[2]) != first[1] and fits(rest, text[1:])
    part = text[: len(first[1])]
    same = part == first[1] or (first[0] == "extension" and part.lower() == first[1].lower())
    return same and fits(rest, text[len(first[1]) :])


def fits_all(segments, names, *, visible):
    """Whether the segments match the names, by trying everything."""
    if not segments:
        return not names
    first, *rest = segments
    if first == "**":
        least = 0 if rest else 1  # at the end, something follows the slash
        for end in range(least, len(names) + 1):
            if visible and any(map(is_hidden, names[:end])):
                return False
            if fits_all(rest, names[end:], visible=visible):
                return True
        return False
    if not names:
        return False
    spelled = bool(first) and first[0][0] == "text" and first[0][1].startswith(".")
    if spelled and is_wild(first) and names[0] in (".", ".."):
        return False
    if visible and not spelled and is_hidden(names[0]):
        return False
    return fits(first, names[0]) and fits_all(rest, names[1:], visible=visible)


def is_hidden(name):
    return name.startswith(".") and name not in (".", "..")


@UNHURRIED
@given(st.lists(segment, min_size=1, max_size=5), key)
@example(["**", [("text", "."), "*"], [("text", "."), "*"], "**"], "../.a/.b/e")
def test_as_the_plain_matcher(segments, key):
    """The regular expression says what trying everything says, of matching and of hidden."""
    segments = [segment if segment == "**" else list(segment) for segment in segments]
    pattern = "/".join(s if s == "**" else text_of(s) for s in segments)
    if pattern == "" or pattern.endswith("/"):
        segments = [*segments[:-1], "**"]
    if has_wildcard(pattern) and segments[-1] != "**":
        segments[-1] = any_case(segments[-1])
    names = key.split("/")
    expected = fits_all(segments, names, visible=False)
    assert expected == matcher(pattern)(key)
    if expected:
        assert hidden(key, pattern) != fits_all(segments, names, visible=True)
        assert key.startswith(literal_prefix(pattern))


@UNHURRIED
@given(st.text())
def test_escaping_any_text(text):
    """Any text at all can be escaped and comes back."""
    assert (False, text) == (has_wildcard(escape(text)), unescape(escape(text)))


@UNHURRIED
@given(st.text("ab/.", min_size=1), key)
def test_a_folder_is_its_prefix(text, key):
    """A folder's pattern has exactly the keys that start with its text and a slash."""
    prefix = text if text.endswith("/") else f"{text}/"
    assert key.startswith(prefix) == matcher(as_folder(escape(text)))(key)


@UNHURRIED
@given(st.text("ab*?[]!-/.\n", max_size=8), key)
def test_any_pattern_is_answered(pattern, key):
    """Any text is a pattern or a SpecError, nothing else; what matches has the prefix."""
    try:
        match = matcher(pattern)
    except SpecError:
        assert re.search(r"\*\*|\[", pattern)
        return
    assert match(key) in (True, False)
    if match(key):
        assert key.startswith(literal_prefix(pattern))


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("*a" * 50 + "b", "a" * 5000),
        ("**/a/" * 50 + "b", "a/" * 2500 + "c"),
        ("**/*a*/" * 20 + "b", "aa/" * 1000 + "c"),
        ("**/.*/" * 20 + "b", ".a/" * 1000 + "c"),
    ],
)
def test_no_pattern_takes_for_ever(pattern, key):
    """Many stars against a long key that fails at its end are answered (else: a time-out)."""
    assert not matcher(pattern)(key)
    assert hidden(f"{key}/.x", pattern)
