"""Images in zip, tar and TFRecord archives: the same examples as from single files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
import webdataset
from archives import FORMATS, shards, tarred, zipped
from places import classes, examples, expected, picture, values

import tfstream
from tfstream import DecodeError, FieldLabels, ObjectNotFoundError, ShardError, SpecError
from tfstream.testing.proxy import Fault

SAME = {"zip": "zip", "tar": "tar"}


@pytest.mark.slow
@pytest.mark.parametrize("form", SAME)
def test_class_folders_within(place, form):
    """Every example comes once, with the label of its folder in the archive."""
    place.put(shards(classes(), form))
    data = place.open("shards/**")
    assert (form, ["0", "1", "2"]) == (data.spec.reader.name, data.class_names)
    assert expected() == sorted(examples(data))
    assert f"shards/0.{form}/0/0.png" == data.file_paths[0]


@pytest.mark.slow
def test_tfrecords(place):
    """Records have no folders, so there are no labels unless a field is named."""
    place.put(shards(classes(), "tfrecord"))
    data = place.open("shards/**", labels=None)
    assert sorted(value for value, _ in expected()) == sorted(values(data))
    assert "shards/0.tfrecord/00000000" == data.file_paths[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_one_order(lakefs_place, form):
    """Another perfect order each epoch; any entry gives the rest; workers share it."""
    lakefs_place.put(shards(classes(), form))
    data = lakefs_place.open("shards/**", labels=None, batch_size=2)
    first, second = values(data), values(data)
    assert sorted(first) == sorted(second)
    assert first != second
    assert first[4:] == values(data.at(epoch=0, step=2))
    shared = [
        values(tfstream.load(data.spec, num_shards=2, shard_index=index, **_of(lakefs_place)))
        for index in range(2)
    ]
    assert sorted(first) == sorted([*shared[0], *shared[1]])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_in_another_process(place, form, tmp_path):
    """The spec gives the same examples in the same order there."""
    place.put(shards(classes(), form))
    data = place.open("shards/**", labels=None)
    script = (
        "import sys, json, tfstream; from places import values;"
        "spec, credentials, endpoint = json.load(sys.stdin);"
        "print(values(tfstream.load(spec, credentials=credentials, endpoint=endpoint)))"
    )
    known = json.dumps([data.spec.to_json(), dict(place.credentials), place.server.endpoint])
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=known,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(values(data)) == done.stdout.splitlines()[-1]


def _of(place):
    return {"credentials": place.credentials, "endpoint": place.proxy.endpoint}


@pytest.mark.slow
def test_side_by_side_is_one_request(s3_place):
    """Without shuffling, what lies side by side is read by one request."""
    s3_place.put(shards(classes(2, 8), "tar", count=1))
    data = s3_place.open("shards/**", shuffle=False, batch_size=16)
    s3_place.proxy.clear()
    assert expected(2, 8) == examples(data)
    assert len(s3_place.reads()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_faults_on_the_way(place, form):
    """A part of an archive that comes cut or not at all is asked for again."""
    place.put(shards(classes(), form, count=1))
    data = place.open("shards/**", labels=None)
    for fault in (Fault("cut", after=9, times=2), Fault("status", status=503), Fault("reset")):
        place.proxy.clear()
        place.proxy.add(fault)
        assert sorted(value for value, _ in expected()) == sorted(values(data)), fault


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_faults_while_the_index_is_read(s3_place, form):
    """Nothing is lost there either."""
    s3_place.put(shards(classes(), form))
    s3_place.proxy.clear()
    s3_place.proxy.add(Fault("cut", match=f"1.{form}", after=5, times=2))
    assert len(s3_place.open("shards/**", labels=None).file_paths) == 12


@pytest.mark.slow
def test_an_image_that_is_broken_in_a_good_archive(s3_place):
    """Its name says where it is; `on_error` goes on without it."""
    files = {**classes(2), "train/1/2.png": b"no image"}
    s3_place.put(shards(files, "tar"))
    with pytest.raises(DecodeError, match=r"shards/0\.tar/1/2\.png"):
        examples(s3_place.open("shards/**"))
    data = s3_place.open("shards/**", on_error="skip")
    assert [each for each in expected(2) if each != (52, 1)] == sorted(examples(data))
    assert ["shards/0.tar/1/2.png"] == [
        key for keys in data.stats().errors.values() for key in keys
    ]


@pytest.mark.slow
def test_a_record_that_does_not_unpack(s3_place):
    """A wrong sum is an error with the record's name; `on_error` goes on without it."""
    whole = bytearray(
        zipped({f"{label}/{at}.png": picture(9 * at) for label in "ab" for at in (1, 2)})
    )
    whole[60] ^= 1
    s3_place.put({"a.zip": bytes(whole)})
    with pytest.raises(ShardError, match=r"a\.zip/a/1\.png: broken zip member"):
        examples(s3_place.open("a.zip"))
    data = s3_place.open("a.zip", on_error="skip")
    assert [(9, 1), (18, 0), (18, 1)] == sorted(examples(data))
    assert {"broken record": ("a.zip/a/1.png",)} == {
        kind: tuple(keys) for kind, keys in data.stats().errors.items() if "record" in kind
    }


@pytest.mark.slow
def test_a_broken_archive(place):
    """It is named when the dataset is made: nothing of it is lost in silence."""
    good = zipped({"0/a.png": picture(1), "1/b.png": picture(2)})
    place.put({"shards/a.zip": good, "shards/b.zip": good[:-30]})
    with pytest.raises(ShardError, match=r"shards/b\.zip: not a zip archive, or truncated"):
        place.open("shards/**")
    assert [(1, 0), (2, 1)] == sorted(examples(place.open("shards/**", ignore=["shards/b.zip"])))


@pytest.mark.slow
def test_what_is_ignored(s3_place):
    """Patterns are of keys within archives too; other files there are counted."""
    files = {"0/a.png": picture(1), "1/b.png": picture(2), "1/c.png": picture(3)}
    s3_place.put({"a.tar": tarred({**files, "notes.txt": b"?", ".hidden/d.png": b"?"})})
    data = s3_place.open("a.tar", ignore=["**/c.png"])
    assert [(1, 0), (2, 1)] == sorted(examples(data))
    assert {"not data": 1, "hidden": 1, "ignored": 1} == data.stats().left_out


@pytest.mark.slow
def test_mixtures_and_nothing(s3_place):
    """Archives beside images are counted; archives without an image are an error."""
    s3_place.put({"m/a.zip": zipped({"x.txt": b""}), "m/b.png": picture(1), "m/c.tar": tarred({})})
    with pytest.raises(SpecError, match=r"1 \w+ files? and 1 \w+|1 images"):
        s3_place.open("m/**")
    with pytest.raises(ObjectNotFoundError, match=r"no images in the 1 archives .* 1 not data"):
        s3_place.open("m/*.zip")
    with pytest.raises(ObjectNotFoundError, match="they are empty"):
        s3_place.open("m/*.tar")


@pytest.mark.slow
def test_recognised_by_its_bytes(s3_place):
    """Names that say nothing: the first bytes of the first one do."""
    s3_place.put(
        {f"blobs/{at}.bin": data for at, data in enumerate(shards(classes(), "zip").values())}
    )
    assert expected() == sorted(examples(s3_place.open("blobs/*.bin")))


def _dataset(count=6):
    """Pictures with a class in `cls` and a number in `json`, as WebDataset has them."""
    files = {}
    for at in range(count):
        files[f"{at:03}.png"] = picture(10 * at)
        files[f"{at:03}.cls"] = str(at % 3).encode()
        files[f"{at:03}.json"] = json.dumps(
            {"weight": at / 2, "tags": ["a", "b"][: at % 3]}
        ).encode()
    return files


@pytest.mark.slow
def test_fields_are_labels(lakefs_place):
    """Inferred from `cls`; from a value in `json`; a field that is not there is named."""
    lakefs_place.put({"shards/0.tar": tarred(_dataset())})
    data = lakefs_place.open("shards/**")
    assert [(10 * at, at % 3) for at in range(6)] == sorted(examples(data))
    assert (FieldLabels("cls"), ["0", "1", "2"]) == (data.spec.labels, data.class_names)
    weights = lakefs_place.open("shards/**", labels=FieldLabels("json.weight"), shuffle=False)
    assert [0.0, 0.5, 1.0, 1.5, 2.0, 2.5] == [
        float(each) for _, batch in weights for each in batch.numpy()
    ]
    tags = lakefs_place.open("shards/**", labels=FieldLabels("json.tags"), shuffle=False)
    assert [[0, 0], [1, 0], [1, 1]] * 2 == [
        row.tolist() for _, rows in tags for row in rows.numpy()
    ]
    with pytest.raises(ValueError, match=r"6 of 6 records have no field 'txt': 'shards/0\.tar/000"):
        lakefs_place.open("shards/**", labels=FieldLabels("txt"))


@pytest.mark.slow
def test_fields_of_single_files(s3_place):
    """They have none."""
    s3_place.put(classes(2))
    with pytest.raises(ValueError, match="FieldLabels is for archives"):
        s3_place.open("train/**", labels=FieldLabels("cls"))


@pytest.mark.slow
def test_written_by_webdataset(s3_place, tmp_path):
    """Shards by WebDataset's own writer."""
    with webdataset.ShardWriter(f"{tmp_path}/%d.tar", maxcount=4, verbose=0) as writer:
        for at in range(10):
            writer.write({"__key__": f"{at:06}", "png": picture(10 * at), "cls": at % 2})
    s3_place.put({f"shards/{path.name}": path.read_bytes() for path in tmp_path.glob("*.tar")})
    data = s3_place.open("shards/*.tar")
    assert [(10 * at, at % 2) for at in range(10)] == sorted(examples(data))


@pytest.mark.slow
def test_examples_written_by_tensorflow(s3_place, tmp_path):
    """Images and labels in `tf.train.Example`, by TensorFlow's own writer."""
    path = tmp_path / "train.tfrecord-00000-of-00001"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for at in range(6):
            image = tf.train.Feature(bytes_list={"value": [picture(10 * at)]})
            label = tf.train.Feature(int64_list={"value": [at % 2]})
            fields = {"image/encoded": image, "image/class/label": label}
            features = tf.train.Features(feature=fields)
            writer.write(tf.train.Example(features=features).SerializeToString())
    s3_place.put({f"records/{path.name}": path.read_bytes()})
    data = s3_place.open("records/**", labels=FieldLabels("image/class/label"))
    assert [(10 * at, at % 2) for at in range(6)] == sorted(examples(data))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_an_index_is_read_once(place, form):
    """Whoever opens the same archives again on this machine reads none of them."""
    place.put(shards(classes(), form))
    first = place.open("shards/**", labels=None)
    place.proxy.clear()
    again = place.open("shards/**", labels=None)
    assert ([], 2) == (place.reads(), again.stats().cache_hits)
    assert first.spec == again.spec
    assert values(first) == values(again)
