"""`StreamDataset`: a `tf.data.Dataset` like any other, with what users ask it for; and `load`."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import tfstream
from tfstream.errors import NotPortableError
from tfstream.fetch import handles
from tfstream.spec import Position, Shard
from tfstream.testing.images import encode, noise

QUIET = {"verbose": 0, "shuffle": False}  # Keras 3.15 warns of its own default for any dataset
READING = tfstream.ReadOptions(max_in_flight=2)
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten pictures of 8 x 8 in two classes; every pixel of picture n is n."""
    root = tmp_path_factory.mktemp("numbers")
    for number in range(10):
        place = root / ("even", "odd")[number % 2] / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((8, 8, 3), number, np.uint8)).save(place)
    return root


def streamed(folder, **arguments) -> tfstream.StreamDataset:
    """Batches of three."""
    arguments = {"image_size": (8, 8), "batch_size": 3, "verbose": False, **arguments}
    return tfstream.from_url(folder, **arguments)


def numbers(dataset: tf.data.Dataset) -> list[int]:
    """Which pictures come, in order."""
    return [int(image[0, 0, 0]) for images, _ in dataset for image in images]


def test_it_is_a_dataset(folder):
    """`len`, `element_spec`, `take`, `map`, `unbatch` and `batch` work as on any dataset."""
    data = streamed(folder)
    assert isinstance(data, tf.data.Dataset)
    assert len(data) == 4
    assert data.element_spec == (
        tf.TensorSpec([None, 8, 8, 3], tf.float32),
        tf.TensorSpec([None], tf.int32),
    )
    assert [images.shape[0] for images, _ in data.take(2)] == [3, 3]
    labels = data.map(lambda _, label: label).unbatch().batch(10)
    assert [sorted(each) for each in labels.as_numpy_iterator()] == [[0] * 5 + [1] * 5]


def test_it_knows_whether_its_spec_says_all(folder):
    """As it was opened, entered, shared out or read in another way; not with more."""
    data = streamed(folder)
    said = (data, data.at(epoch=1, step=2), data.shard(2, 1), data.with_read_options(READING))
    assert [each.is_its_spec for each in said] == [True] * 4
    more = (data.epochs(2), data.epochs(), data.map_with_seed(lambda image, label, seed: image))
    assert [each.is_its_spec for each in more] == [False] * 3


def test_what_it_says_of_itself(folder):
    """Classes, files, spec and commit."""
    data = streamed(folder)
    assert data.class_names == ["even", "odd"]
    assert data.num_classes == 2
    assert data.commit is None
    assert data.spec.records == 10
    names = [os.path.relpath(path, folder) for path in data.file_paths]
    assert names == [
        *(f"even/{n}.png" for n in (0, 2, 4, 6, 8)),
        *(f"odd/{n}.png" for n in (1, 3, 5, 7, 9)),
    ]
    unlabelled = streamed(folder, labels=None)
    assert (unlabelled.class_names, unlabelled.num_classes) == (None, None)


def test_every_iteration_is_an_epoch(folder):
    """Each has every record once, in another order; a second dataset has the same orders."""
    one, other = streamed(folder), streamed(folder)
    epochs = [numbers(one) for _ in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert [numbers(other) for _ in range(3)] == epochs


def test_epochs_are_the_same_in_one_iteration(folder):
    """`epochs(n)` gives the first n, batches never reaching over from one to the next."""
    data = streamed(folder)
    together = data.epochs(3)
    assert len(together) == 12
    assert [images.shape[0] for images, _ in together] == [3, 3, 3, 1] * 3
    assert numbers(together) == [row for _ in range(3) for row in numbers(data)]


def test_epochs_without_number_do_not_end(folder):
    """More elements than any number of epochs that one waits for."""
    data = streamed(folder)
    assert len(numbers(data.epochs().take(17))) == 4 * 10 + 3


@pytest.mark.parametrize("n", [0, -1])
def test_epochs_are_at_least_one(folder, n):
    """Anything else is an error."""
    with pytest.raises(ValueError, match=f"of at least 1. Received: n={n}"):
        streamed(folder).epochs(n)


@pytest.mark.parametrize(("epoch", "step"), [(0, 0), (0, 2), (2, 0), (1, 3)])
def test_at_enters_anywhere(folder, epoch, step):
    """The rest of that epoch, then the following ones, as without interruption."""
    four = numbers(streamed(folder).epochs(4))
    whole = [four[at : at + 10] for at in range(0, 40, 10)]
    entered = streamed(folder).at(epoch=epoch, step=step)
    assert numbers(entered) == whole[epoch][3 * step :]
    assert numbers(entered) == whole[epoch + 1]
    assert numbers(entered.epochs(1)) == whole[epoch][3 * step :]


def test_at_counts_steps_of_all_workers(folder):
    """A step of two workers is two batches of the global order."""
    data = streamed(folder, num_shards=2, shard_index=0, batch_size=2)
    assert data.at(step=2).spec.start == Position(epoch=0, record=8)
    assert numbers(data.at(step=1)) == numbers(data.epochs(1))[2:]


def test_at_keeps_the_number_of_epochs(folder):
    """`epochs` and `at` go together in any order, and reading otherwise keeps both."""
    data = streamed(folder)
    expected = numbers(data.at(epoch=1, step=1).epochs(2))
    assert numbers(data.epochs(2).at(epoch=1, step=1)) == expected
    other = data.epochs(2).at(epoch=1, step=1).with_read_options(tfstream.ReadOptions(attempts=1))
    assert numbers(other) == expected


@pytest.mark.parametrize("position", [{"step": 4}, {"epoch": -1}, {"step": -1}])
def test_at_refuses_what_is_not_there(folder, position):
    """A step past the end, or a negative one."""
    with pytest.raises(ValueError, match=r"past the epoch's end|at least 0"):
        streamed(folder).at(**position)


def test_a_position_is_part_of_the_spec(folder):
    """A dataset that was entered in the middle travels as what it is."""
    entered = streamed(folder).at(epoch=1, step=2)
    assert numbers(tfstream.load(entered.spec)) == numbers(entered)


def test_read_options_change_no_element(folder):
    """The same records; the numbers of both are counted together."""
    data = streamed(folder)
    other = data.with_read_options(tfstream.ReadOptions(max_in_flight=1))
    assert other.spec == data.spec
    assert numbers(other) == numbers(data)
    assert other.stats().objects == data.stats().objects == 20


def test_stats_count_what_was_read(folder):
    """Objects, bytes and decode paths; a snapshot stays as it is."""
    data = streamed(folder)
    before = data.stats()
    numbers(data)
    after = data.stats()
    assert (before.objects, after.objects) == (0, 10)
    assert after.bytes == sum(os.path.getsize(path) for path in data.file_paths)
    assert after.decode_paths == {"png": 10}
    assert after.errors == {}


@pytest.mark.parametrize("shuffle", [False, True])
def test_file_paths_of_a_subset_are_its_records(folder, shuffle):
    """In the order in which they come unshuffled, as Keras has it."""
    training, validation = streamed(
        folder, validation_split=0.3, subset="both", seed=4, shuffle=shuffle
    )
    order = [int(Path(path).stem) for path in validation.file_paths]
    assert numbers(validation) == order
    rest = [int(Path(path).stem) for path in training.file_paths]
    assert sorted(rest) == sorted(numbers(training))
    assert sorted(rest + order) == list(range(10))


def test_repr_is_short_and_has_no_secret(s3_server, s3_bucket):
    """The source, how many records and the shapes; no key, no list of files."""
    for name in ("a", "b"):
        s3_server.upload(s3_bucket, f"{name}/1.png", png())
    secret = s3_server.credentials["secret_access_key"]
    data = tfstream.from_s3(
        s3_bucket,
        endpoint=s3_server.endpoint,
        credentials=s3_server.credentials,
        image_size=(8, 8),
        verbose=False,
    )
    assert repr(data).startswith(f"<StreamDataset s3://{s3_bucket}/**, 2 records, (TensorSpec(")
    assert len(repr(data)) < 300
    for text in (repr(data), repr(data.spec), data.spec.to_json(), repr(data.stats())):
        assert secret not in text


def png() -> bytes:
    """A picture of 8 x 8."""
    return encode(noise(8, 8), "PNG")


def test_errors_are_tfstreams(folder, tmp_path):
    """Iterating in Python raises the class that a user can catch, with the key."""
    for number in range(4):
        place = tmp_path / "ab"[number % 2] / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(png())
    data = streamed(tmp_path)
    (tmp_path / "a" / "2.png").write_bytes(b"another file")
    with pytest.raises(tfstream.ObjectChangedError, match=r"2\.png is not the file") as caught:
        numbers(data)
    assert caught.value.path == "a/2.png"


def model() -> tf.keras.Model:
    """As small as a classifier can be."""
    layers = [
        tf.keras.Input((8, 8, 3)),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(2),
    ]
    found = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    found.compile(optimizer="sgd", loss=loss)
    return found


@pytest.mark.slow
def test_a_model_is_fitted(folder):
    """Two epochs with validation, and no warning that the data ran out."""
    training, validation = streamed(folder, validation_split=0.3, subset="both", seed=1)
    history = model().fit(training, validation_data=validation, epochs=2, **QUIET)
    assert len(history.history["val_loss"]) == 2


@pytest.mark.slow
def test_a_model_is_fitted_on_numbered_epochs(folder):
    """`epochs()` with `steps_per_epoch`: each record is read once an epoch, and no more waste."""
    data = streamed(folder)
    history = model().fit(data.epochs(2), epochs=2, steps_per_epoch=len(data), **QUIET)
    assert len(history.history["loss"]) == 2
    assert data.stats().objects == 20


@pytest.mark.slow
def test_a_strategy_distributes_it(folder):
    """Under `MirroredStrategy` every record comes once."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    found = [
        int(image[0, 0, 0])
        for images, _ in strategy.experimental_distribute_dataset(streamed(folder))
        for image in images
    ]
    assert sorted(found) == list(range(10))


def test_an_error_in_a_derived_dataset_starts_with_ours(folder, tmp_path):
    """There TensorFlow raises its own class; its text names ours and the key."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(png() if name == "a" else b"no picture")
    derived = streamed(tmp_path).map(lambda image, label: label)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"DecodeError: .*b/1\.png"):
        list(derived)


def is_open(name: str) -> bool:
    """Whether this process still has the stream that a graph calls by that name."""
    gc.collect()
    return name in handles._streams


def test_a_dropped_dataset_frees_its_handle(folder):
    """Making datasets over and over keeps nothing of them."""
    data = streamed(folder)
    name = data._handle.name
    assert is_open(name)
    del data
    assert not is_open(name)


@pytest.mark.parametrize("derived", [False, True])
def test_an_iterator_keeps_its_dataset(folder, derived):
    """Also where the dataset itself was dropped: credentials and options stay for the rest."""
    data = streamed(folder, batch_size=1)
    name = data._handle.name
    data = data.map(lambda image, label: (image, label)) if derived else data
    iterator = iter(data)
    del data
    assert is_open(name)
    assert sorted(numbers(iterator)) == list(range(10))
    del iterator
    assert not is_open(name)


def test_equal_listings_are_kept_once(folder):
    """Ten datasets of one folder share one manifest."""
    made = [streamed(folder, seed=seed) for seed in range(3)]
    assert len({id(data._handle.stream.manifest) for data in made}) == 1


LOAD = """
import sys
import tfstream
data = tfstream.load(sys.stdin.read(), num_shards=2, shard_index=1, position=(1, 3))
print([int(image[0, 0, 0]) for images, _ in data for image in images])
"""


@pytest.mark.slow
def test_a_spec_loads_in_another_process(folder):
    """From its JSON, as one of two workers, entered in the middle: the same records."""
    data = streamed(folder)
    result = subprocess.run(
        [sys.executable, "-c", LOAD],
        input=data.spec.to_json(),
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    rest = numbers(data.at(epoch=1, step=1).epochs(1))
    assert result.stdout == f"{rest[3:6]}\n"


def test_load_takes_a_spec_or_its_text(folder):
    """Both give the dataset that the spec is from."""
    data = streamed(folder)
    for given in (data.spec, data.spec.to_json()):
        again = tfstream.load(given)
        assert again.spec == data.spec
        assert numbers(again) == numbers(streamed(folder))


def test_load_shares_out_anew(folder):
    """Workers of the spec are replaced, the remainder's rule stays, a position too."""
    spec = streamed(folder, num_shards=2, shard_index=1, remainder="pad").spec
    loaded = tfstream.load(spec, num_shards=5, shard_index=4, position=(2, 6)).spec
    assert loaded.shard == Shard(num_shards=5, index=4, remainder="pad")
    assert loaded.start == Position(epoch=2, record=6)
    alone = tfstream.load(spec, num_shards=1, shard_index=0).spec.shard
    assert spec.shard.remainder == alone.remainder  # so that it has as many steps as they had


def test_load_refuses_half_a_worker(folder):
    """A number of workers without an index could be any of them."""
    with pytest.raises(ValueError, match="`num_shards` and `shard_index` go together"):
        tfstream.load(streamed(folder).spec, num_shards=2)


def test_load_refuses_an_unpinned_spec(folder):
    """It would be another dataset each time."""
    spec = streamed(folder).spec.replace(manifest=None)
    with pytest.raises(tfstream.SpecError, match=r"\$\.manifest: not pinned"):
        tfstream.load(spec)


def test_an_endpoint_is_for_sources_that_have_one(folder):
    """A folder has none; the message says which source it is."""
    words = "`endpoint` is not for local sources"
    with pytest.raises(ValueError, match=words):
        tfstream.load(streamed(folder).spec, endpoint="http://127.0.0.1:9000")
    with pytest.raises(ValueError, match=words):
        streamed(folder, endpoint="http://127.0.0.1:9000")


def test_load_notices_that_the_data_changed(tmp_path):
    """A folder that is another one now is an error, before anything is read."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(png())
    text = streamed(tmp_path).spec.to_json()
    gc.collect()
    (tmp_path / "b" / "2.png").write_bytes(png())
    with pytest.raises(tfstream.ObjectChangedError, match="are not those that were pinned"):
        tfstream.load(text)


@pytest.mark.parametrize("copied", [pickle.dumps, copy.deepcopy])
def test_a_dataset_does_not_travel(folder, copied):
    """Pickling or copying a dataset says what travels instead."""
    with pytest.raises(NotPortableError, match=r"dataset\.spec"):
        copied(streamed(folder))


def test_made_outside_and_used_inside(folder):
    """In a tf.function a dataset may be iterated; to make one there is an error that says so."""
    dataset = streamed(folder)

    @tf.function
    def total():
        return dataset.reduce(0.0, lambda found, batch: found + tf.reduce_sum(batch[0]))

    assert sum(range(10)) * 8 * 8 * 3 == total().numpy()

    @tf.function(autograph=False)
    def made():
        return dataset.at(step=1)

    with pytest.raises(RuntimeError, match=r"outside of tf\.function"):
        made()


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.at(epoch=0.5),
        lambda d: d.at(step=-1),
        lambda d: d.epochs(1.5),
        lambda d: d.epochs(0),
    ],
)
def test_whole_numbers(folder, call):
    """Epochs and steps are whole numbers, and no others are rounded."""
    with pytest.raises(ValueError, match="must be an integer of at least"):
        call(streamed(folder))
