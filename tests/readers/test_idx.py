"""IDX shards, plain and gzip'd, against numpy."""

import gzip
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tfstream.errors import ShardError
from tfstream.readers.idx import (
    PEEK_BYTES,
    IdxHeader,
    IdxReader,
    label_values,
    parse_header,
    peek_header,
    unpack,
)
from tfstream.testing.readers import ReaderTests

CODES = {"uint8": 8, "int8": 9, "int16": 11, "int32": 12, "float32": 13, "float64": 14}
PATH = "train-images-idx3-ubyte"

any_array = st.sampled_from(sorted(CODES)).flatmap(
    lambda dtype: arrays.arrays(
        np.dtype(dtype).newbyteorder(">"),
        arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4),
    )
)


def idx(array):
    """An array as an IDX file."""
    header = bytes([0, 0, CODES[array.dtype.newbyteorder("=").name], array.ndim])
    sides = struct.pack(f">{array.ndim}I", *array.shape)
    return header + sides + array.astype(array.dtype.newbyteorder(">")).tobytes()


def of_records(records):
    """Records of six bytes as an IDX file."""
    return idx(np.frombuffer(b"".join(records), np.uint8).reshape(len(records), 6))


class TestPlain(ReaderTests):
    """Shards as they are."""

    def shard(self, records):
        """An IDX file."""
        return of_records(records)

    def read(self, data, path):
        """All records."""
        header, body = unpack(data, path)
        size = header.record_bytes
        return [bytes(body[at * size : (at + 1) * size]) for at in range(header.records)]


class TestGzip(TestPlain):
    """Shards packed whole."""

    def shard(self, records):
        """A gzip'd IDX file, with the name in front as `gzip` writes it."""
        packed = gzip.compress(of_records(records), mtime=0)
        return packed[:3] + b"\x08" + packed[4:10] + b"a.bin\0" + packed[10:]


class TestMembers(TestPlain):
    """Shards packed in several gzip members, as `pigz` and `bgzip` do."""

    def shard(self, records):
        """Members that are cut inside the header and inside a record."""
        data = of_records(records)
        return b"".join(gzip.compress(part, mtime=0) for part in (data[:3], data[3:16], data[16:]))


@given(any_array, st.booleans())
def test_every_dtype_and_shape_comes_back(array, packed):
    """The header says dtype, shape and count; the data is numpy's big-endian bytes."""
    data = idx(array)
    stored = gzip.compress(data) if packed else data
    header, body = unpack(stored, PATH)
    name = array.dtype.newbyteorder("=").name
    assert IdxHeader(name, array.shape[1:], len(array), 4 + 4 * array.ndim) == header
    assert array.tobytes() == bytes(body)
    assert (len(data), header) == (header.size, peek_header(stored[:PEEK_BYTES], PATH))
    assert array[:1].nbytes == header.record_bytes or len(array) == 0


@given(any_array, st.booleans(), st.data())
def test_every_truncation_is_an_error(array, packed, data):
    """A shard of any dtype and shape that ends early raises, wherever it is cut."""
    whole = gzip.compress(idx(array)) if packed else idx(array)
    size = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ShardError):
        unpack(whole[:size], PATH)


@given(st.binary(max_size=60).map(lambda data: b"\0\0" + data))
def test_any_bytes_are_read_or_refused(data):
    """Whatever follows the two zeros, there is a shard of exactly that size or a ShardError."""
    try:
        header, body = unpack(data, PATH)
    except ShardError:
        return
    assert (len(data), header.offset) == (header.size, len(data) - len(body))


def test_peek_needs_no_more_than_its_bytes():
    """The largest header that there can be, packed behind a long name, fits PEEK_BYTES."""
    sides = np.random.default_rng(0).integers(0, 1 << 32, 255, np.uint32)
    header = b"\0\0\x0e\xff" + sides.astype(">u4").tobytes()
    packed = gzip.compress(header + bytes(10_000))
    named = packed[:3] + b"\x08" + packed[4:10] + b"n" * 1000 + b"\0" + packed[10:]
    found = peek_header(named[:PEEK_BYTES], PATH)
    assert ((*map(int, sides),), 1024) == ((found.records, *found.shape), found.offset)


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (b"", "truncated: 0 bytes of an IDX header", 0),
        (b"\0\0\x08\x02\0\0\0\x01", "truncated: 8 bytes of an IDX header", 8),
        (b"\0\x01\x08\x01", "not an IDX file: it starts with 00010801", 0),
        (b"\0\0\x0a\x01\0\0\0\0", "not an IDX file: dtype code 0x0a", 2),
        (b"\0\0\x08\0", "an IDX file of rank 0 has no records", 3),
    ],
)
def test_bad_headers(data, message, offset):
    """A header that cannot be says what is wrong and where."""
    with pytest.raises(ShardError) as caught:
        parse_header(data, PATH)
    assert (message, PATH, offset) == (str(caught.value), caught.value.path, caught.value.offset)


def test_wrong_sizes_are_told():
    """The message has the bytes that are there and those that belong there."""
    whole = idx(np.zeros((1000, 28, 28), np.uint8))
    with pytest.raises(ShardError, match=r"^truncated: 10,000 of 784,016 bytes$"):
        unpack(whole[:10_000], PATH)
    with pytest.raises(ShardError, match="longer than the 784,016 bytes that its header says"):
        unpack(whole + b"\0", PATH)
    with pytest.raises(ShardError, match=r"^truncated: 10,000 of 784,016 bytes$"):
        unpack(gzip.compress(whole[:10_000]), PATH)
    with pytest.raises(ShardError, match="longer than the 784,016 bytes"):
        unpack(gzip.compress(whole + b"\0"), PATH)
    with pytest.raises(ShardError, match="the gzip stream ends within 784,016 of 784,016 bytes"):
        unpack(gzip.compress(whole)[:-1], PATH)


def test_damage_inside_a_gzip_stream():
    """A changed byte in the data, the sum or behind the end is a broken stream."""
    whole = gzip.compress(idx(np.arange(20_000, dtype=np.int32)))
    for at in (3000, len(whole) // 2, len(whole) - 8):
        damaged = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
        with pytest.raises(ShardError, match="broken gzip stream") as caught:
            unpack(damaged, PATH)
        assert at < caught.value.offset <= len(whole)
    with pytest.raises(ShardError, match="broken gzip stream: Not a gzipped file"):
        unpack(whole + b"garbage", PATH)


def test_peek_names_what_a_stream_unpacks_to():
    """A gzip stream of something else is not an IDX file, a damaged one is broken."""
    with pytest.raises(ShardError, match=r"^unpacked: not an IDX file: it starts with 3c68746d$"):
        peek_header(gzip.compress(b"<html>"), PATH)
    with pytest.raises(ShardError, match="broken gzip stream"):
        peek_header(b"\x1f\x8b\x07" + bytes(20), PATH)


def test_a_bomb_takes_no_memory():
    """A stream that would unpack to more than is allowed, or than it says, is not unpacked."""
    bomb = gzip.compress(b"\0\0\x08\x01\xff\xff\xff\xff" + bytes(20_000_000))
    liar = gzip.compress(b"\0\0\x08\x01\0\0\0\x05" + bytes(20_000_000))
    with pytest.raises(ShardError, match="unpacks to 4,294,967,303 bytes, more than the 2,147,483"):
        unpack(bomb, PATH)
    with pytest.raises(ShardError, match="unpacks to 13 bytes, more than the 12 that"):
        unpack(liar, PATH, max_bytes=12)
    tracemalloc.start()
    with pytest.raises(ShardError, match="longer than the 13 bytes"):
        unpack(liar, PATH)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4_000_000


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
def test_labels_are_whole_numbers(dtype):
    """Labels of every integer dtype come as int64, with their sign."""
    values = np.array([0, 1, 9, 127], dtype)
    values = values if dtype == "uint8" else -values
    found = label_values(*unpack(idx(values), PATH), PATH)
    assert ("int64", values.tolist()) == (found.dtype.name, found.tolist())


@pytest.mark.parametrize("array", [np.zeros(3, np.float32), np.zeros((3, 8), np.int32)])
def test_what_is_no_label(array):
    """Floats and several numbers a record are refused, with dtype and shape."""
    with pytest.raises(ShardError, match=f"{array.dtype.name} of shape") as caught:
        label_values(*unpack(idx(array), PATH), PATH)
    assert PATH == caught.value.path


def test_reader_is_a_plain_description():
    """`IdxReader` has a name for JSON, no fields, and says that objects are shards."""
    assert IdxReader() == IdxReader()
    assert ("idx", True) == (IdxReader.name, IdxReader.shards)


def test_real_mnist(capsys):
    """The real MNIST test set: 10,000 pictures, balanced labels. Its folder may be absent."""
    root = os.environ.get("TFSTREAM_TEST_DATA", Path(__file__).parents[3] / "shared" / "data")
    folder = Path(root) / "mnist"
    if not folder.is_dir():
        with capsys.disabled():
            print(f"\nnot tested on the real MNIST: no folder {folder} (TFSTREAM_TEST_DATA)")
        return
    images, body = unpack((folder / "t10k-images-idx3-ubyte.gz").read_bytes(), PATH)
    assert (IdxHeader("uint8", (28, 28), 10_000, 16), 7_840_000) == (images, len(body))
    labels = label_values(*unpack((folder / "t10k-labels-idx1-ubyte.gz").read_bytes(), PATH), PATH)
    assert [7, 2, 1, 0, 4] == labels[:5].tolist()
    assert [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009] == np.bincount(labels).tolist()
