"""The end of the process: prompt, with the right code, whatever is under way."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from servers.s3 import ACCESS_KEY_ID, SECRET_ACCESS_KEY
from tfstream.fetch import lifetime
from tfstream.fetch.lifetime import Inside, ShuttingDownError, closing, pause
from tfstream.testing.images import encode, noise
from tfstream.testing.proxy import Fault, FaultProxy

SECONDS = 100
"""Far less than the programs would take if they waited for what never comes."""
FATAL = ("terminate called", "Fatal", "fatal", "Aborted", "core dumped", "panicked", "SIGSEGV")


def run(program, *arguments, code=0):
    """A program's output. It ends by itself with this code and without a fatal error."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (code, []) == (done.returncode, [word for word in FATAL if word in done.stderr]), (
        done.stderr[-3000:]
    )
    return done.stdout


def test_pausing(monkeypatch):
    """A pause lasts as long as it should, or until the interpreter shuts down."""
    pause(0)
    monkeypatch.setattr(lifetime, "_closing", threading.Event())
    assert not closing()
    lifetime._closing.set()
    assert closing()
    with pytest.raises(ShuttingDownError, match="shutting down"):
        pause(3600)


def test_no_call_comes_in_after_the_end(closing):
    """A call from another library's thread is refused once the interpreter shuts down."""
    with Inside():
        assert lifetime._count == 1
    closing.set()
    with pytest.raises(ShuttingDownError), Inside():
        raise AssertionError("inside")
    assert lifetime._count == 0


def test_the_exit_waits_for_calls_inside(closing):
    """The exit goes on when the last call inside has returned, and not before."""
    inside, leave, order = threading.Event(), threading.Event(), []

    def call():
        with Inside():
            inside.set()
            assert leave.wait(20)
            order.append("call")

    def close():
        lifetime._close()
        order.append("exit")

    threads = [threading.Thread(target=target) for target in (call, close)]
    threads[0].start()
    assert inside.wait(20)
    threads[1].start()
    assert closing.wait(20)
    leave.set()
    for thread in threads:
        thread.join(20)
    assert ["call", "exit"] == order


def test_the_exit_does_not_wait_for_ever(closing, monkeypatch):
    """A call inside that never returns holds up the exit for the grace alone."""
    monkeypatch.setattr(lifetime, "_GRACE_SECONDS", 0.05)
    with Inside():
        lifetime._close()
    assert closing.is_set()


WORKERS = """
import sys, threading
from tfstream.fetch.workers import Workers

started = threading.Event()

def job():
    started.set()
    threading.Event().wait()

threading.Thread(target=Workers(4).run, args=([job] * 4,), daemon=True).start()
started.wait()
print("reading", flush=True)
sys.exit(3)
"""


def test_a_read_that_hangs():
    """A process whose threads hang in a read ends at once."""
    assert run(WORKERS, code=3) == "reading\n"


FORK = """
import os
from tfstream.fetch.workers import Workers

workers = Workers(2)
assert [1, 2] == workers.run([lambda: 1, lambda: 2])
child = os.fork()
if not child:
    os._exit(0 if [3, 4, 5] == workers.run([lambda: 3, lambda: 4, lambda: 5]) else 1)
assert os.waitpid(child, 0)[1] == 0
assert [6] == workers.run([lambda: 6])
print("done")
"""


def test_forking():
    """A forked process, which has none of the threads, starts its own; the parent goes on."""
    assert run(FORK) == "done\n"


STREAM = """
import os, sys, threading
from fsspec.implementations.memory import MemoryFileSystem
import tfstream
from tfstream.testing.images import encode, noise

how, place, ending = sys.argv[1:]

class Filesystem(MemoryFileSystem):
    cachable = False
    hanging = threading.Event()

    def cat_file(self, path, **options):
        if how == "hang" and int(path[-7:-4]) == 148:  # past what the first call of the op reads
            self.hanging.set()
            threading.Event().wait()
        if how == "slow":
            threading.Event().wait(0.01)
        return super().cat_file(path, **options)

files = Filesystem(skip_instance_cache=True)
for number in range(100, 500):
    image = encode(noise(8, 8, seed=number), "BMP")
    files.pipe(f"/data/{number // 300}/{number}.bmp", image)
data = tfstream.from_url(
    "mine://data",
    image_size=(8, 8),
    batch_size=4,
    shuffle=False,
    credentials={"filesystem": files},
    options=tfstream.ReadOptions(read_timeout=3600 if place != "local" else 0.5, attempts=1),
    verbose=False,
).repeat()

def take():
    iterator = iter(data)
    next(iterator)
    return iterator

def consume():
    try:
        for batch in data:
            taking.set()
    except Exception as error:  # the interpreter shuts down, or a read took too long
        pass

if place == "global":
    iterator = take()
elif place == "derived":
    iterator = iter(data.map(lambda images, labels: images * 2).prefetch(4))
    next(iterator)
elif place == "local":
    take()
else:
    taking = threading.Event()
    threads = [threading.Thread(target=consume, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert taking.wait(50)
if how == "hang":
    assert Filesystem.hanging.wait(50)
print("streaming", flush=True)
if ending == "error":
    raise RuntimeError("the user's own")
if ending == "exit":
    sys.exit(3)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "place", "ending"),
    [
        ("hang", "global", "normal"),
        ("hang", "global", "error"),
        ("hang", "derived", "exit"),
        ("hang", "local", "normal"),
        ("slow", "global", "exit"),
        ("slow", "threads", "normal"),
        ("fast", "threads", "error"),
    ],
)
def test_a_dataset_in_the_middle(how, place, ending):
    """
    A process that ends while TensorFlow's threads wait inside the op ends at once, with its own
    code: however it ends, and wherever the iterator is. Where the iterator is dropped first, as
    at the end of a function, TensorFlow waits for the reads, and each ends by its timeout.
    """
    code = {"normal": 0, "error": 1, "exit": 3}[ending]
    assert run(STREAM, how, place, ending, code=code) == "streaming\n"


S3 = """
import sys, threading
import tfstream

endpoint, bucket, key, secret, ending = sys.argv[1:]
data = tfstream.from_s3(
    bucket,
    endpoint=endpoint,
    region="us-east-1",
    image_size=(8, 8),
    batch_size=4,
    labels=None,
    credentials={"access_key_id": key, "secret_access_key": secret},
    options=tfstream.ReadOptions(read_timeout=3600, attempts=1),
    verbose=False,
)
def consume():
    try:
        for batch in data:
            pass
    except Exception:  # the interpreter shuts down
        pass

threading.Thread(target=consume, daemon=True).start()
turn = threading.Event()
while data.stats().requests < 60:
    turn.wait(0.001)
print("streaming", flush=True)
if ending == "error":
    raise RuntimeError("the user's own")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hang", "delay"])
@pytest.mark.parametrize("ending", ["normal", "error"])
def test_a_server_that_hangs(s3_server, s3_bucket, kind, ending):
    """So does one with requests under way to a server that never answers, or answers now."""
    for number in range(100):
        s3_server.upload(s3_bucket, f"{number}.bmp", encode(noise(8, 8, seed=number), "BMP"))
    with FaultProxy(s3_server.endpoint) as proxy:
        proxy.add(Fault(kind, match=".bmp", times=None, seconds=0.3 if kind == "delay" else 0))
        arguments = (proxy.endpoint, s3_bucket, ACCESS_KEY_ID, SECRET_ACCESS_KEY, ending)
        assert run(S3, *arguments, code=int(ending == "error")) == "streaming\n"
        assert any(".bmp" in request.target for request in proxy.requests)
