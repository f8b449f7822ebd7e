"""Stages of tf.data that keep, mix or split streams; and forks: all work, or fail clearly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import tensorflow as tf
from cluster import Store
from numbered import COUNT, folder_of, numbers, streamed

import tfstream
from tfstream.testing.images import encode, noise

ROOT = Path(__file__).parents[2]
ALL = list(range(COUNT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Numbered pictures."""
    return folder_of(tmp_path_factory.mktemp("interop") / "numbers")


def flat(batches: list[list[int]]) -> list[int]:
    """The records, one after the other."""
    return [number for batch in batches for number in batch]


def test_save_and_load(folder, tmp_path):
    """What was saved is the epoch as it came, and is read without the source."""
    data = streamed(folder, shuffle=True)
    expected = numbers(data.epochs(1))
    data.epochs(1).save(str(tmp_path / "saved"))
    read = data.stats().objects
    assert expected == numbers(tf.data.Dataset.load(str(tmp_path / "saved")))
    assert read == data.stats().objects


def test_a_snapshot(folder, tmp_path):
    """The first iteration writes it, and another one reads nothing else."""
    data = streamed(folder, shuffle=True)
    snapshot = data.snapshot(str(tmp_path / "snapshot"))
    first = numbers(snapshot)
    assert sorted(flat(first)) == ALL
    read = data.stats().objects
    assert first == numbers(snapshot)
    assert read == data.stats().objects


@pytest.mark.parametrize("where", ["memory", "files"])
def test_a_cache(folder, tmp_path, where):
    """The first epoch is what every epoch is then, and each record is read once."""
    data = streamed(folder, shuffle=True)
    cached = data.cache(str(tmp_path / "cache") if where == "files" else "")
    first = numbers(cached)
    assert sorted(flat(first)) == ALL
    assert [first, first] == [numbers(cached), numbers(cached)]
    assert data.stats().objects == COUNT


def test_prefetch(folder):
    """Changes nothing."""
    assert numbers(streamed(folder)) == numbers(streamed(folder).prefetch(3))


def test_rejection_resample(folder):
    """Classes are made equally frequent; every element that comes is one of the stream's."""
    data = streamed(folder, batch_size=None).map(lambda image, label: (image, label // 18))
    resampled = data.repeat().rejection_resample(
        lambda _, label: label, target_dist=[0.5, 0.5], initial_dist=[0.75, 0.25], seed=1
    )
    found = [(int(image[0, 0, 0]) // 18, int(label)) for _, (image, label) in resampled.take(400)]
    assert all(number == label for number, label in found)
    assert 160 < sum(label for _, label in found) < 240


@pytest.mark.parametrize("again", [False, True])
def test_sample_from_datasets(folder, again):
    """Each record of both comes once, and batches of both are mixed."""
    both = [streamed(folder, shuffle=True, seed=seed) for seed in (0, 1)]
    mixed = tf.data.Dataset.sample_from_datasets(
        both, [0.5, 0.5], seed=1, rerandomize_each_iteration=again
    )
    found = numbers(mixed)
    assert Counter(flat(found)) == Counter(ALL * 2)
    first = numbers(streamed(folder, shuffle=True, seed=0))
    assert found[: len(first)] != first


def test_choose_from_datasets(folder):
    """Elements come from whichever the choice says."""
    one, other = (streamed(folder, shuffle=True, seed=seed) for seed in (0, 1))
    turns = tf.data.Dataset.range(2).repeat(COUNT // 4)
    chosen = numbers(tf.data.Dataset.choose_from_datasets([one, other], turns))
    again = (numbers(streamed(folder, shuffle=True, seed=seed)) for seed in (0, 1))
    assert [batch for pair in zip(*again, strict=True) for batch in pair] == chosen


def test_zip_of_two(folder):
    """Each keeps its own order, and one dataset zipped with itself is in step."""
    one, other = (streamed(folder, shuffle=True, seed=seed) for seed in (0, 1))
    expected = [numbers(streamed(folder, shuffle=True, seed=seed)) for seed in (0, 1)]
    pairs = list(tf.data.Dataset.zip(one, other))
    assert expected == [numbers(pair[at] for pair in pairs) for at in (0, 1)]
    twins = list(tf.data.Dataset.zip(one, one))
    assert numbers(pair[0] for pair in twins) == numbers(pair[1] for pair in twins)


@pytest.mark.slow
def test_two_datasets_of_other_credentials(s3_server, s3_bucket):
    """Zipped in one graph, each still reads with its own, though their specs are equal."""
    for number in range(4):
        s3_server.upload(s3_bucket, f"{number}.bmp", encode(noise(8, 8, seed=number), "BMP"))
    with Store(s3_server, s3_bucket) as store:
        keys = ["AKIAFIRST", "AKIASECOND"]
        datasets = [
            tfstream.from_s3(
                s3_bucket,
                endpoint=store.proxy.endpoint,
                region="us-east-1",
                credentials={"access_key_id": key, "secret_access_key": "secret"},
                image_size=(8, 8),
                labels=None,
                verbose=False,
            )
            for key in keys
        ]
        assert datasets[0].spec == datasets[1].spec
        store.proxy.clear()
        assert len(list(tf.data.Dataset.zip(*datasets))) == 1
        signers = Counter(
            key for request in store.proxy.requests for key in keys if key in str(request.headers)
        )
    assert dict.fromkeys(keys, 4) == signers


FORK = """
import multiprocessing, os, sys, threading
from numbered import numbers, streamed
import tfstream

folder, how, what = sys.argv[1:]
data = streamed(folder)
iterator = iter(data)
next(iterator)
spec = data.spec.to_json()

def child():
    try:
        if what == "go on":
            numbers(iterator)
        elif what == "iterate":
            print(numbers(data), flush=True)
        else:
            print(numbers(tfstream.load(spec)), flush=True)
    except tfstream.TfstreamError as error:
        print(f"{type(error).__name__}: {error}", flush=True)

if how == "os.fork":
    number = os.fork()
    if not number:
        child()
        sys.exit(0)  # which destroys everything
    assert os.waitpid(number, 0)[1] == 0
else:
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
print(numbers(iterator))
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["os.fork", "multiprocessing"])
@pytest.mark.parametrize("what", ["go on", "iterate", "load"])
def test_forks_after_the_start(folder, how, what):
    """In a child a dataset is an error, which TensorFlow may wait for ever in; both end."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK, str(folder), how, what],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).parent)))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    child, parent = done.stdout.splitlines()
    whole = numbers(streamed(folder))
    assert str(whole[1:]) == parent
    assert child.startswith("TfstreamError: this process is a fork of one in which TensorFlow")
