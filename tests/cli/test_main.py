"""The program as a process: exit codes, streams, signals and a terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event

import pytest
from ran import Ran
from scans import BAD, GOOD, PHOTO, fill

import tfstream as package
from tfstream.cli import check
from tfstream.testing.proxy import Fault, FaultProxy


def raising(error):
    """A function that raises it, whatever it is called with."""

    def call(*_, **__):
        raise error

    return call


@pytest.mark.slow
def test_all_good(program, good):
    """0, and nothing but the report."""
    ran = program("check", good)
    assert (0, "") == (ran.code, ran.err)
    assert f"{len(GOOD)} of {len(GOOD)} objects checked, none bad" in ran.out


@pytest.mark.slow
def test_some_bad(program, scans):
    """1; with `--json` stdout is one document, and without a terminal stderr is empty."""
    ran = program("check", scans, "--json")
    assert (1, "", len(BAD)) == (ran.code, ran.err, ran.report["bad"])
    ran = program("check", scans, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (1, "") == (ran.code, ran.err)
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "usage: tfstream"),
        (["chekc"], "invalid choice: 'chekc'"),
        (["check"], "required: target"),
        (["check", ".", "--limit", "0"], "must be a whole number of at least 1, got '0'"),
        (["check", ".", "--threads", "many"], "must be a whole number of at least 1, got 'many'"),
        (["check", ".", "--color-mode", "cmyk"], "invalid choice: 'cmyk'"),
    ],
)
def test_usage(tfstream, capsys, arguments, words):
    """2 for a command line that cannot be."""
    with pytest.raises(SystemExit) as ended:
        tfstream(*arguments)
    assert 2 == ended.value.code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no such folder"], "no such folder"),
        (["ftp9://host/x"], "ftp9"),
        (["lakefs://repo"], "lakefs://repo"),
        ([".", "--endpoint", "http://127.0.0.1:1"], "`endpoint` is not for local sources"),
        ([".", "--write", "no such folder/bad.txt"], "no such folder/bad.txt"),
    ],
)
def test_what_cannot_be(tfstream, arguments, words):
    """2, one line that says why, and an empty stdout, for a place that cannot be looked at."""
    ran = tfstream("check", *arguments)
    assert (2, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert ran.err.startswith("tfstream: ")
    assert words in ran.err


@pytest.mark.slow
def test_unknown_repositories_and_credentials(program, lakefs_server):
    """2 for a repository that is not there, keys that nobody knows, and none at all."""
    endpoint = ("--endpoint", lakefs_server.endpoint)
    known = {
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": lakefs_server.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": lakefs_server.secret_access_key,
    }
    unknown = {**known, "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "another"}
    for variables in (known, unknown, {}):
        ran = program("check", "lakefs://nothing/main/**", *endpoint, **variables)
        assert (2, "", 1) == (ran.code, ran.out, ran.err.count("\n"))


def test_a_server_that_is_down(tfstream, monkeypatch):
    """2 where the server does not answer from the beginning."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    monkeypatch.setattr("tfstream.fetch.retry.delay", lambda *_: 0.0)
    ran = tfstream("check", "s3://bucket/**", "--endpoint", "http://127.0.0.1:1")
    assert (2, "") == (ran.code, ran.out)
    assert "gave up after 5 attempts" in ran.err


def test_a_bug_is_not_a_bad_image(tfstream, good, monkeypatch):
    """2 and a traceback for what nobody expected: 1 would say that an object is bad."""
    monkeypatch.setattr(check, "target_of", raising(ZeroDivisionError))
    ran = tfstream("check", good)
    assert (2, "") == (ran.code, ran.out)
    assert "ZeroDivisionError" in ran.err


def test_without_tensorflow(tfstream, good, monkeypatch):
    """2 and the pip line where there is no TensorFlow, before anything is read."""
    monkeypatch.setattr(check, "find_spec", lambda name: None)
    ran = tfstream("check", good)
    assert (2, 'tfstream: a package is missing: pip install "tfstream[tf]"\n') == ran[::2]


HELP = {
    "": r"check '?(lakefs|s3)://",
    "check": r"check '?(lakefs|s3)://",
    "dispatcher": r"dispatcher --port \d+",
    "worker": r"worker --dispatcher grpc://\S+:\d+",
}


@pytest.mark.parametrize("command", HELP)
def test_help(tfstream, capsys, command):
    """Help has an example that can be copied."""
    with pytest.raises(SystemExit) as ended:
        tfstream(*command.split(), "--help")
    assert 0 == ended.value.code
    assert re.search(rf"(?m)^  tfstream {HELP[command]}", capsys.readouterr().out)


def test_version(tfstream, capsys):
    """`--version` is the package's."""
    with pytest.raises(SystemExit):
        tfstream("--version")
    assert f"tfstream {package.__version__}\n" == capsys.readouterr().out


@pytest.mark.slow
def test_ctrl_c(start, s3_server, s3_bucket, tmp_path):
    """130, with what was found so far: the report, the written keys, and no traceback."""
    for key, data in {"a.jpg": b"no image", "b.jpg": PHOTO, "c.jpg": PHOTO}.items():
        s3_server.upload(s3_bucket, key, data)
    reached = Event()

    def is_last(request):
        if "/c.jpg" in request.target:
            reached.set()
        return reached.is_set()

    file = tmp_path / "bad.txt"
    options = ("--json", "--threads", "1", "--write", file)
    with FaultProxy(s3_server.endpoint) as proxy:
        proxy.add(Fault("hang", match=is_last, times=None))
        variables = {
            "AWS_ACCESS_KEY_ID": s3_server.access_key_id,
            "AWS_SECRET_ACCESS_KEY": s3_server.secret_access_key,
            "AWS_ENDPOINT_URL": proxy.endpoint,
        }
        child = start("check", f"s3://{s3_bucket}/**", *options, more=variables)
        assert reached.wait(60)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (130, "") == (child.returncode, err)
    ran = Ran(child.returncode, out, err)
    assert (3, False) == (ran.report["objects"], ran.report["complete"])
    assert {"not an image (text)": ["a.jpg"]} == ran.kinds
    assert "a.jpg\n" == file.read_text()


def test_ctrl_c_before_anything_is_found(tfstream, good, monkeypatch):
    """130 and no report where there is none yet."""
    monkeypatch.setattr(check, "target_of", raising(KeyboardInterrupt))
    assert (130, "", "") == tfstream("check", good)


@pytest.mark.slow
def test_a_terminal(start, tmp_path):
    """On a terminal there are a bar and colours, but no control code that comes from a key."""
    fill(tmp_path, {"a.jpg": PHOTO, "\x1b]0;owned\x07.jpg": b"", "[red]b.jpg": b""})
    ours, theirs = pty.openpty()
    variables = {"TERM": "xterm-256color"}
    child = start("check", tmp_path, stdout=theirs, stderr=theirs, more=variables)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # that is how the end of the other side looks
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert 1 == child.wait(timeout=60)
    text = shown.decode()
    assert "\x1b[1;31m3 of 3 objects checked, 2 bad" in text
    assert "0/3" in text  # the bar
    assert "MB/s" in text
    assert "[red]b.jpg" in text
    assert r"\x1b]0;owned\x07.jpg" in text
    assert "\x1b]0;owned" not in text


def test_light():
    """Neither `import tfstream` nor the command line loads rich or TensorFlow before its use."""
    code = "import sys, tfstream.cli.main; print({'rich', 'tensorflow'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "set()\n" == done.stdout
