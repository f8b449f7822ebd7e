"""`TFRecordReader`: records as TensorFlow writes them; images in Examples; what it refuses."""

import io
from pathlib import Path

import pytest
import tensorflow as tf

from tfstream.errors import ShardError
from tfstream.readers.base import Fields
from tfstream.readers.tfrecord import TFRecordReader
from tfstream.testing.readers import PATHS, ArchiveTests


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A function that gives a file of these records."""
    folder = tmp_path_factory.mktemp("tfrecord")

    def write(records):
        path = Path(folder) / "a.tfrecord"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for each in records:
                writer.write(each)
        return path.read_bytes()

    return write


def example(**features):
    """An Example with bytes, whole numbers or floats."""
    lists = {bytes: "bytes_list", int: "int64_list", float: "float_list"}
    fields = {}
    for name, value in features.items():
        values = value if isinstance(value, list) else [value]
        kind = lists[type(values[0])]
        fields[name.replace("__", "/")] = tf.train.Feature(**{kind: {"value": values}})
    return tf.train.Example(features=tf.train.Features(feature=fields)).SerializeToString()


class TestTFRecord(ArchiveTests):
    """Records that are images."""

    reader = TFRecordReader()
    content = (b"\xff\xd8\xff first", b"\x89PNG", b"\xff\xd8\xff" + bytes(2000))

    @pytest.fixture(autouse=True)
    def _written(self, written):
        self._write = written

    def archive(self, records):
        return self._write(records.values())

    def name_of(self, name, number):
        return f"{number:08d}"

    def may_change(self, records, found):
        """Everything has a sum."""
        return False

    @pytest.mark.parametrize("path", PATHS)
    def test_any_truncation_is_an_error(self, path):
        """A file cut within a record raises. Cut between two it is a whole file of fewer."""
        whole = self.archive(self.records())
        starts = {each.start for each in self.reader.index(io.BytesIO(whole), path, Fields())}
        for size in set(range(1, len(whole))) - starts:
            with pytest.raises(ShardError, match="truncated"):
                self.read(whole[:size], path)


def first(data, **fields):
    """The first record, and its bytes."""
    reader = TFRecordReader()
    packed = next(reader.index(io.BytesIO(data), "a.tfrecord", Fields(**fields)))
    return packed, reader.unpack(data[packed.start :][: packed.size], 0, "a", fields.get("image"))


def test_images_in_examples(written):
    """The image is in `image/encoded` unless another field is named; the label in any."""
    record = example(image__encoded=b"first", other=b"second", label=3)
    packed, data = first(written([record]), label="label")
    assert (3, b"first") == (packed.label, data)
    assert first(written([record]), image="other")[1] == b"second"


@pytest.mark.parametrize(
    ("value", "label"),
    [(b"cat", "cat"), (2, 2), (0.5, 0.5), ([1, 2], [1, 2]), ([b"a", b"b"], ["a", "b"])],
)
def test_labels_of_every_kind(written, value, label):
    """Bytes are text; several values are a list; a field that is not there is no label."""
    data = written([example(image__encoded=b"1", label=value)])
    assert label == first(data, label="label")[0].label
    assert first(data, label="none")[0].label is None


@pytest.mark.parametrize("record", [example(text=b"1"), example(image__encoded=[b"1", b"2"])])
def test_examples_without_an_image(written, record):
    """The error says which fields there are."""
    with pytest.raises(ShardError, match=r"no one image in its field 'image/encoded': its fields"):
        first(written([record]))


def test_what_is_neither(written):
    """A record that is no image and no Example."""
    with pytest.raises(ShardError, match="neither an image nor an Example"):
        first(written([b"\x0a\xff\xff"]))
