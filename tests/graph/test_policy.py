"""`on_error`: exactly the records that should come, in their places, with their labels."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numbered import (
    COUNT,
    SIZE,
    batches_of,
    folder_of,
    key_of,
    kind_of,
    numbers,
    picture,
    skipped,
    streamed,
    substituted,
)
from test_pipeline import graph_of, in_another_process

import tfstream
from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.routes import PNG
from tfstream.fetch.stats import FailedKeys
from tfstream.testing.images import encode

BAD = {3, 8, 9, 10, 11, 21}
"""With batches of 4 in order: one bad, all bad, one bad."""
FEW = {3, 9, 10, 21}
"""No batch of nothing else."""
POLICIES = ["skip", "substitute"]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """All pictures."""
    return folder_of(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Those in FEW are bad."""
    return folder_of(tmp_path_factory.mktemp("few"), FEW)


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """Those in BAD are bad."""
    return folder_of(tmp_path_factory.mktemp("some"), BAD)


WAYS = [
    {},
    {"batch_size": 5, "shuffle": True, "seed": 1},
    {"batch_size": 24, "image_size": None},
    {"num_shards": 2, "shard_index": 1, "shuffle": True},
    {"num_shards": 3, "shard_index": 0, "remainder": "pad", "batch_size": 5},
    {"validation_split": 0.25, "subset": "training", "shuffle": True, "seed": 3},
]
SINGLE = [{}, {"image_size": None}, {"shuffle": True, "num_shards": 2, "shard_index": 0}]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_skip_leaves_out_the_bad_ones(few, way):
    """Every batch is as it would be without the bad records, and there are as many batches."""
    data = streamed(few, **way, on_error="skip")
    assert skipped(data, FEW) == numbers(data)
    assert len(data) == len(batches_of(data)[0])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_substitute_fills_the_places(some, way):
    """The next good record of the batch, or of the whole epoch's order, with its label."""
    data = streamed(some, **way, on_error="substitute")
    assert substituted(data, BAD) == numbers(data)
    assert len(data) == len(batches_of(data)[0])


@pytest.mark.parametrize("way", SINGLE, ids=str)
def test_single_records_are_left_out(some, way):
    """Without batches, the rest comes one after the other, and nobody knows how many."""
    data = streamed(some, **way, batch_size=None, on_error="skip")
    assert skipped(data, BAD) == numbers(data)
    assert tf.data.UNKNOWN_CARDINALITY == int(data.cardinality())


@pytest.mark.parametrize("way", SINGLE, ids=str)
def test_single_records_are_replaced(some, way):
    """Each bad one by the next good one of the epoch's order; their number is known."""
    data = streamed(some, **way, batch_size=None, on_error="substitute")
    assert substituted(data, BAD) == numbers(data)
    assert len(data) == len(batches_of(data)[0])


@pytest.mark.parametrize(("policy", "model"), [("skip", skipped), ("substitute", substituted)])
def test_epochs_and_positions_stay_where_they_are(few, policy, model):
    """Each epoch has its own order; `at` enters it anywhere, since a position counts bad ones."""
    data = streamed(few, on_error=policy, shuffle=True, seed=5, batch_size=6)
    expected = model(data, FEW, epochs=3)
    assert expected == numbers(data.epochs(3))
    assert expected[6:] == numbers(data.at(epoch=1, step=2).epochs(2))


def test_a_decoder_is_as_it_was_asked_for(some):
    """16 bits stay 16 bits, in batches and alone."""
    decoder = tfstream.ImageDecoder(dtype="uint16")
    for batch_size in (4, None):
        way = {"decoder": decoder, "image_size": None, "batch_size": batch_size}
        data = streamed(some, **way, on_error="substitute")
        first = next(iter(data.skip(1)))[0].numpy().reshape(-1, *SIZE, 3)[0]
        np.testing.assert_array_equal(np.full((*SIZE, 3), first[0, 0, 0], np.uint16), first)
        assert (np.uint16, 257 * (4 if batch_size else 1)) == (first.dtype, first[0, 0, 0])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("batch_size", [4, None])
def test_the_bad_ones_are_named_once_each_time(few, policy, batch_size):
    """By kind, however often decoders tried, and those that only stand in are not counted."""
    data = streamed(few, on_error=policy, batch_size=batch_size)
    expected = {kind_of(n): FailedKeys([key_of(n)], total=2) for n in FEW}
    both = FailedKeys([key_of(9), key_of(21)], total=4)  # of one kind
    for _ in range(2):
        list(data)
    assert {**expected, kind_of(9): both} == data.stats().errors


def test_all_is_well(good):
    """Without bad records the policies change nothing, and name nothing."""
    for policy in POLICIES:
        data = streamed(good, on_error=policy)
        assert batches_of(data)[0] == numbers(data)
        assert ({}, {"png": COUNT}) == (data.stats().errors, data.stats().decode_paths)
        assert COUNT == data.stats().objects


def test_a_batch_of_nothing_else(some):
    """Under `skip` it is an error that names its records, after the batches before it."""
    seen = []
    with pytest.raises(tfstream.DecodeError, match="none of the 4 records of a batch") as error:
        seen.extend(images.shape[0] for images, _ in streamed(some, on_error="skip"))
    assert [3, 4] == seen
    for number in (8, 9, 10, 11):
        assert f"{key_of(number)}: {kind_of(number)}" in str(error.value)
    assert 'on_error="substitute"' in str(error.value)
    assert (key_of(8), kind_of(8)) == (error.value.key, error.value.kind)


@pytest.mark.parametrize("batch_size", [4, None])
@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_good(tmp_path, policy, batch_size):
    """A dataset of bad records only is an error, never an empty dataset or an endless search."""
    folder = folder_of(tmp_path / "bad", range(20), count=20)
    data = streamed(folder, on_error=policy, batch_size=batch_size, count=20)
    batch = "none of the 4 records of a batch can be decoded"
    words = batch if (policy, batch_size) == ("skip", 4) else "no record of epoch 0 can be decoded"
    with pytest.raises(tfstream.DecodeError, match=words) as error:
        list(data)
    assert f"{key_of(0)}: {kind_of(0)}" in str(error.value)


def test_nothing_is_good_for_one_worker(tmp_path):
    """Nor is that worker's part of an epoch, even where others have good records."""
    folder = folder_of(tmp_path / "odd", range(0, COUNT, 2))
    way = {"batch_size": None, "on_error": "skip", "num_shards": 2}
    assert 12 == len(numbers(streamed(folder, **way, shard_index=1)))
    with pytest.raises(tfstream.DecodeError, match="no record of epoch 0 can be decoded"):
        list(streamed(folder, **way, shard_index=0))


@pytest.mark.parametrize("policy", POLICIES)
def test_what_pillow_reads_is_not_bad(few, monkeypatch, policy):
    """Where its header promised too much, an image still comes, in its place."""
    monkeypatch.setattr(ImageDecoder, "route", lambda self, data, least: PNG)
    (few / key_of(0)).write_bytes(encode(np.full((*SIZE, 3), 0, np.uint8), "TIFF"))
    data = streamed(few, on_error=policy)
    assert [0, 1, 2] == numbers(data)[0][:3]
    assert 1 == data.stats().decode_paths["pillow"]
    (few / key_of(0)).write_bytes(picture(0))


@pytest.mark.parametrize("policy", ["raise", *POLICIES])
def test_a_bug_is_no_bad_record(few, monkeypatch, policy):
    """Only a DecodeError is: anything else that decoding raises comes out."""

    def broken(data, decoder):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("tfstream.decoders.pillow.decode", broken)
    monkeypatch.setattr(ImageDecoder, "route", lambda self, data, least: PNG)
    with pytest.raises(tf.errors.OpError, match="ZeroDivisionError: a bug"):
        list(streamed(few, on_error=policy))


@pytest.mark.parametrize("policy", POLICIES)
def test_unequal_sizes_are_still_an_error(few, policy):
    """A picture of another size is good; that it fits into no batch is the user's to solve."""
    (few / key_of(1)).write_bytes(encode(np.full((5, 9, 3), 1, np.uint8), "PNG"))
    with pytest.raises(tfstream.SpecError, match="have different sizes"):
        list(streamed(few, on_error=policy, image_size=None))
    (few / key_of(1)).write_bytes(picture(1))


@pytest.mark.parametrize("policy", POLICIES)
def test_shards_know_no_bad_records(tmp_path, policy):
    """For IDX the policy changes nothing: not the elements, not what is known of their number."""
    images = struct.pack(">4B3I", 0, 0, 8, 3, 10, 2, 2) + bytes(range(40))
    (tmp_path / "t-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
    way = {"labels": None, "batch_size": None, "shuffle": False, "verbose": False}
    expected = tfstream.from_url(tmp_path, **way)
    data = tfstream.from_url(tmp_path, **way, on_error=policy)
    assert len(data) == 10
    for one, other in zip(expected, data, strict=True):
        np.testing.assert_array_equal(one, other)
    (tmp_path / "t-images-idx3-ubyte.gz").write_bytes(gzip.compress(images)[:-8])
    with pytest.raises(tfstream.TfstreamError, match="t-images"):
        list(tfstream.from_url(tmp_path, **way, on_error=policy))


@pytest.mark.slow
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(bad=st.sets(st.integers(0, 11)), batch_size=st.integers(1, 7), seed=st.integers(0, 9))
def test_any_bad_records(tmp_path_factory, bad, batch_size, seed):
    """
    Whatever records are bad: `skip` is the order without them; `substitute` has every shape.

    A batch of nothing else ends the one, and an epoch of nothing else the other.
    """
    way = {"batch_size": batch_size, "seed": seed, "shuffle": True, "count": 12}
    folder = folder_of(tmp_path_factory.mktemp("bad"), bad, count=12)
    skip, fill = (streamed(folder, **way, on_error=policy) for policy in POLICIES)
    if all(skipped(skip, bad)):
        assert skipped(skip, bad) == numbers(skip)
    else:
        with pytest.raises(tfstream.DecodeError, match="of a batch can be decoded"):
            list(skip)
    if len(bad) < 12:
        assert substituted(fill, bad) == numbers(fill)
    else:
        with pytest.raises(tfstream.DecodeError, match="no record of epoch 0"):
            list(fill)


REBUILD = """
import sys
import tensorflow as tf
import tfstream.dataset
variant = tf.raw_ops.DatasetFromGraph(graph_def=open(sys.argv[1], "rb").read())
spec = (tf.TensorSpec([None, 8, 8, 3]), tf.TensorSpec([None], tf.int32))
for _, labels in tf.data.experimental.from_variant(variant, spec):
    print(labels.numpy().tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "folder"), [("skip", "few"), ("substitute", "some")])
def test_the_same_in_another_process(request, tmp_path, policy, folder):
    """The graph travels, and gives the same batches there."""
    data = streamed(request.getfixturevalue(folder), on_error=policy, batch_size=4)
    (tmp_path / "graph").write_bytes(graph_of(data))
    out, _ = in_another_process(REBUILD, tmp_path / "graph")
    assert [str(batch) for batch in numbers(data)] == out.splitlines()


def test_four_python_ops(few):
    """Fixed tokens; the report of what is counted is one of them."""
    graph = tf.compat.v1.GraphDef.FromString(graph_of(streamed(few, on_error="skip")))
    nodes = [node for function in graph.library.function for node in function.node_def]
    tokens = {node.attr["token"].s for node in nodes if node.op == "PyFuncStateless"}
    names = ("fetch", "decode", "report", "differs")
    assert {f"tfstream.{name}".encode() for name in names} == tokens


def test_a_fraction_of_a_small_epoch(few):
    """Below 100 records `max_errors` as a fraction waits for the epoch's end."""
    passing = streamed(few, on_error="skip", max_errors=0.17)  # 4 of 24 are 0.167
    assert skipped(passing, FEW) == numbers(passing)
    data = iter(streamed(few, on_error="skip", max_errors=0.16))
    assert 5 == len([next(data) for _ in range(5)])
    with pytest.raises(
        tfstream.DecodeError, match=r"4 of 24 records .* more than max_errors=0\.16"
    ):
        next(data)


def test_an_epoch_that_is_entered_late_is_no_small_one(few):
    """Of its last four records one is bad: no fraction of the epoch."""
    data = streamed(few, on_error="skip", max_errors=0.17)
    assert 3 == len(next(iter(data.at(step=5)))[0])


def test_the_first_of_each_kind_is_logged(some, caplog, capfd):
    """One line with its key, and none of TensorFlow's tracebacks; the rest is in the stats."""
    data = streamed(some, on_error="substitute")
    list(data)
    list(data)
    lines = [record.getMessage() for record in caplog.records]
    assert len(data.stats().errors) == len(lines)
    assert all("on_error='substitute': see stats().errors" in line for line in lines)
    assert any(key_of(3) in line for line in lines)
    assert "Traceback" not in capfd.readouterr().err


def test_the_error_says_the_ways_out(some):
    """For those who do not know that there are any."""
    with pytest.raises(tfstream.DecodeError, match=r'on_error="skip" goes on .*tfstream check'):
        list(streamed(some))


def test_a_stand_in_of_another_size(tmp_path):
    """Where none are resized, only the images of one batch have to agree, not those looked at."""
    folder = folder_of(tmp_path / "sizes", range(5))
    for number in range(8, COUNT):
        (folder / key_of(number)).write_bytes(encode(np.full((5, 9, 3), number, np.uint8), "PNG"))
    data = streamed(folder, on_error="substitute", image_size=None)
    assert [5] * 4 + [5, 5, 6, 7] + list(range(8, COUNT)) == [
        int(image[0, 0, 0]) for images, *_ in data for image in images
    ]


def test_the_last_batch_of_a_small_epoch_is_good(tmp_path):
    """Then the fraction is looked at all the same, and there is no bad record to blame."""
    folder = folder_of(tmp_path / "first", {3})
    assert 23 == sum(map(len, numbers(streamed(folder, on_error="skip", max_errors=0.05))))
    with pytest.raises(tfstream.DecodeError, match=r"1 of 24 records .* max_errors=0\.04"):
        list(streamed(folder, on_error="skip", max_errors=0.04))
