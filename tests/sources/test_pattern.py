"""What a pattern stands for: by example."""

from __future__ import annotations

import pytest

from tfstream.errors import SpecError
from tfstream.sources.pattern import (
    as_folder,
    escape,
    extension_of,
    has_wildcard,
    hidden,
    literal_prefix,
    matcher,
    unescape,
)
from tfstream.testing.odd_keys import ODD_KEYS

EXAMPLES = [
    ("**", ["a", "a/b", "/a", "a//b", "", "a\nb", ".a/b"], []),
    ("*", ["a", "", "a\nb", "a.jpg"], ["a/b", "/a", "a/"]),
    (
        "train/**",
        ["train/a", "train/a/b", "train/", "train//a"],
        ["train", "trainer/a", "a/train/b"],
    ),
    ("train/", ["train/a", "train/a/b", "train/"], ["train", "trainer/a"]),
    ("train/*/", ["train/a/b", "train/a/b/c", "train/a/", "train//b"], ["train/a", "train/"]),
    ("", ["a", "a/b", ""], []),
    ("train", ["train"], ["train/a", "trai", "trainer", "train\n", "TRAIN"]),
    ("train/x.jpg", ["train/x.jpg"], ["train/x.JPG", "train/x_jpg"]),
    ("**/x", ["x", "a/x", "a/b/x", "/x", "//x"], ["ax", "x/a", "a/x/"]),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a//b"], ["ab", "a/xb", "a", "a/b/c"]),
    ("a/**/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb"]),
    ("**/a/**/b/**", ["a/b/", "a/b/c", "x/a/y/b/z"], ["a/b", "b/a/c"]),
    ("**/*.jpg", ["x.jpg", "a/x.JPG", "a/.jpg", ".Jpg"], ["x.jpeg", "x.jpg/a", "xjpg", "x.jpg\n"]),
    ("*.tar.gz", ["x.tar.gz", "x.TAR.Gz"], ["x.tar", "x.gz", "x.tar_gz"]),
    ("A*.b-c.Z", ["A.b-c.z", "Ax.b-c.Z"], ["a.b-c.z", "A.B-c.z"]),
    ("*/X.y", ["a/X.Y", "a/X.y"], ["a/x.y", "A/Xxy"]),
    ("*.k", ["x.K"], ["x.\u212a"]),  # the Kelvin sign, which re.IGNORECASE takes for a k
    ("t10k-?-*", ["t10k-a-", "t10k-\n-x"], ["t10k--x", "t10k-/-x", "T10K-a-"]),
    ("[a-c]x", ["ax", "bx", "cx"], ["dx", "-x", "Ax", "x"]),
    ("[!a-c]x", ["dx", "-x", "\nx"], ["ax", "/x", "x"]),
    ("[-a]", ["-", "a"], ["b"]),
    ("[a-]", ["-", "a"], ["b"]),
    ("[]a]", ["]", "a"], ["[", "b"]),
    ("[!]a]", ["b"], ["]", "a"]),
    ("[+-9]", ["+", "-", "9"], ["/"]),
    ("[[-^]", ["[", "\\", "^", "]"], ["_"]),
    ("[&|~^-]", ["&", "|", "~", "^", "-"], ["a"]),
    ("a[[]1]", ["a[1]"], ["a1"]),
    ("[*][?]", ["*?"], ["ab"]),
    ("{a,b}", ["{a,b}"], ["a", "b"]),
    ("a]", ["a]"], ["a"]),
    ("a//b", ["a//b"], ["a/b"]),
    ("/a/*", ["/a/b"], ["a/b"]),
    ("a/../*", ["a/../b"], ["b"]),
    (".*", [".a", "...", "..a"], [".", "..", "a"]),
    ("*", [".", "..", ".a"], []),
]


@pytest.mark.parametrize(("pattern", "keys", "others"), EXAMPLES)
def test_examples(pattern, keys, others):
    """A pattern matches its keys and none of the others."""
    match = matcher(pattern)
    assert keys == [key for key in keys + others if match(key)]


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("", ""),
        ("**", ""),
        ("train", ""),
        ("train/", "train/"),
        ("train/x.jpg", "train/"),
        ("train/**/*.jpg", "train/"),
        ("train/a*/b/c", "train/"),
        ("train/1/t10k-?", "train/1/"),
        ("/a//b/*", "/a//b/"),
        ("a[[]1]/b[ab]/c", "a[1]/"),
        ("*/a/b", ""),
        ("a/{b}/[*]/*", "a/{b}/*/"),
    ],
)
def test_literal_prefix(pattern, prefix):
    """The prefix is plain text up to the last slash before the first wildcard."""
    assert prefix == literal_prefix(pattern)


@pytest.mark.parametrize("key", ODD_KEYS)
def test_a_key_can_be_escaped(key):
    """An escaped key has no wildcard, matches itself, and comes back from `unescape`."""
    pattern = escape(key)
    assert (False, key) == (has_wildcard(pattern), unescape(pattern))
    assert matcher(pattern)(key)
    assert not hidden(key, pattern)
    assert literal_prefix(pattern) == key[: key.rfind("/") + 1]


@pytest.mark.parametrize("pattern", ["*", "a?", "[ab]", "[!a]", "a/**", "[a-b]"])
def test_wildcards(pattern):
    """A pattern with a wildcard says so and names no single key."""
    assert has_wildcard(pattern)
    with pytest.raises(SpecError, match="names no single object"):
        unescape(pattern)


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [("train", "train/**"), ("train/", "train/**"), ("", "**"), ("/", "/**"), ("a[[]", "a[[]/**")],
)
def test_as_folder(pattern, folder):
    """What names no object is a folder, once."""
    assert folder == as_folder(pattern)


@pytest.mark.parametrize(
    ("pattern", "extension"),
    [
        ("**/*.jpg", ".jpg"),
        ("**/*.JPG", ".jpg"),
        ("x.jpg", ".jpg"),
        ("*.tar.gz", ".tar.gz"),
        ("t10k-*.gz", ".gz"),
        ("a.b/*", None),
        ("**", None),
        ("train/", None),
        ("*.j*g", None),
        ("*.jpg*", None),
        ("*.[jp]ng", None),
        ("*.", None),
        ("*.a-b", None),
        (".jpg", None),
        ("**/.jpg", None),
        (".x.jpg", ".jpg"),
        ("jpg", None),
    ],
)
def test_extension_of(pattern, extension):
    """The extension that a pattern names is the literal one at its very end."""
    assert extension == extension_of(pattern)


@pytest.mark.parametrize(
    ("pattern", "key", "expected"),
    [
        ("**", ".a", True),
        ("**", "a/.b/c", True),
        ("**", "a/._x.jpg", True),
        ("**", "...", True),
        ("**", "a/./b/../c", False),
        ("**", "a.b/c.d", False),
        ("train/*", "train/.x", True),
        ("train/?x", "train/.x", True),
        ("train/[.a]x", "train/.x", True),
        ("train/[.]x", "train/.x", False),
        ("train/.*", "train/.x", False),
        ("train/.*/*", "train/.x/.y", True),
        (".a/**", ".a/b", False),
        (".a/**", ".a/.b", True),
        ("**/.cache/*", "a/.cache/x", False),
        ("**/.cache/*", ".git/.cache/x", True),
        ("**/.cache/*", "a/.cache/.x", True),
        (".a/b", ".a/b", False),
        (".a/", ".a/b", False),
        (".a/", ".a/.b", True),
        ("a/**/.b/**/.c", "a/x/.b/y/.c", False),
        ("a/**/.b/**/.c", "a/x/.b/.y/.c", True),
    ],
)
def test_hidden(pattern, key, expected):
    """Hidden is what starts with a dot where the pattern does not say so."""
    assert matcher(pattern)(key)
    assert expected == hidden(key, pattern)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("train/**.jpg", r"write '\*\.jpg' for this folder only, or '\*\*/\*\.jpg'"),
        ("a**", r"write 'a\*' for"),
        ("***", r"write '\*' for"),
        ("a[b", r"unclosed \[: write \[\[\]"),
        ("[", r"unclosed \["),
        ("[]", r"unclosed \["),
        ("[!]", r"unclosed \["),
        ("[a/b]", r"unclosed \["),
        ("[z-a]", "empty range z-a"),
    ],
)
def test_slips(pattern, hint):
    """What is most likely a slip is an error that says what to write."""
    with pytest.raises(SpecError, match=hint) as error:
        matcher(pattern)
    assert repr(pattern) in str(error.value)
