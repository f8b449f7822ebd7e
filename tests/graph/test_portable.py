"""Graphs that travel: what leaves, what does not, and what comes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fsspec
import numpy as np
import pytest
import tensorflow as tf

import tfstream
from tfstream import NotPortableError
from tfstream.graph.envelope import unsealed

SMALL = {"image_size": (8, 8), "batch_size": 5, "verbose": False}
COUNT = tf.data.Dataset.range(6)


@pytest.fixture(scope="module")
def stream(digits):
    """Twelve pictures of a folder, in batches of five."""
    return tfstream.from_url(digits, **SMALL)


def again(dataset):
    """The dataset, through its bytes."""
    return tfstream.from_graph(tfstream.to_graph(dataset), allow_local=True)


def pixels(dataset):
    """The bytes of each element's images, in their order."""
    return [images.numpy().tobytes() for images, _ in dataset]


def test_the_same_elements_come_back(digits, stream):
    """The same pixels and labels, in the same order, epoch after epoch."""
    once, twice = tfstream.from_url(digits, **SMALL), again(stream)
    assert [pixels(once) for _ in range(2)] == [pixels(twice) for _ in range(2)]


def test_nothing_is_read(digits):
    """Neither writing nor building a graph reads an object."""
    data = tfstream.from_url(digits, **SMALL)
    kept = again(data.map(lambda images, labels: images + 1))
    assert 0 == data.stats().objects
    next(iter(kept))
    assert 0 < data.stats().objects  # in this process it is the same stream


def test_it_is_a_dataset(stream):
    """It has the shapes, the length and the options, and can be built on."""
    kept = again(stream)
    assert stream.element_spec == kept.element_spec
    assert len(stream) == len(kept)
    auto_shard = tf.data.experimental.AutoShardPolicy
    assert auto_shard.DATA == kept.options().experimental_distribute.auto_shard_policy
    assert [4, 4, 4] == [len(labels) for _, labels in kept.unbatch().batch(4)]


def test_symbolic_checkpoints_travel(stream):
    """The options of numbered epochs come along."""
    assert again(stream.epochs(2)).options().experimental_symbolic_checkpoint


def test_checkpoints_after_a_journey(stream, tmp_path):
    """An iterator of what came back is saved and restored like one of what left."""
    kept = again(stream.epochs(2))
    iterator, restored = iter(kept), iter(again(stream.epochs(2)))
    for _ in range(4):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(iterator=restored).read(path).assert_consumed()
    assert 2 == len(found := pixels(iterator))
    assert found == pixels(restored)


def brighter(images, labels, seed):
    """A stage of `map_with_seed`."""
    return tf.image.stateless_random_brightness(images, 0.1, seed), labels


OURS = {
    "categorical": lambda of: of(label_mode="categorical", crop_to_aspect_ratio=True),
    "epochs": lambda of: of(dtype="uint8").epochs(2),
    "seeded": lambda of: of(color_mode="rgba").map_with_seed(brighter),
    "shard": lambda of: of(num_shards=2, shard_index=1, remainder="pad"),
    "single": lambda of: of(batch_size=None, image_size=None, labels=None, label_mode=None),
    "skip": lambda of: of(on_error="skip", max_errors=3, data_format="channels_first"),
    "substitute": lambda of: of(on_error="substitute", pad_to_aspect_ratio=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_all_of_ours_travel(digits, name):
    """Whatever the arguments, a dataset of tfstream has nothing in it that may not travel."""
    data = OURS[name](lambda **changes: tfstream.from_url(digits, **{**SMALL, **changes}))
    kept = again(data)
    assert data.element_spec == kept.element_spec
    assert len(list(data)) == len(list(kept))


def test_captured_constants_travel():
    """What a function uses is in the graph: numbers, tensors, other datasets, static tables."""
    offset, other = np.arange(3), tf.data.Dataset.range(2)
    keys = tf.constant([0, 1], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys + 5), -1)
    data = COUNT.map(lambda number: number + offset).take(1)
    assert [[0, 1, 2]] == [each.tolist() for each in again(data).as_numpy_iterator()]
    found = again(
        COUNT.map(table.lookup).take(3).concatenate(COUNT.take(1).flat_map(lambda _: other))
    )
    assert [5, 6, -1, 0, 1] == list(found.as_numpy_iterator())


def test_random_ops_stay_random():
    """Augmentation is drawn anew in each epoch, also after the journey."""
    kept = again(COUNT.map(lambda number: tf.random.uniform([])))
    one, two = (list(kept.as_numpy_iterator()) for _ in range(2))
    assert one != two


TRANSFORMED = {
    "batch": lambda: COUNT.batch(2, num_parallel_calls=2).unbatch(),
    "bucket": lambda: COUNT.map(tf.range).bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2]),
    "cache": lambda: COUNT.cache(),
    "filter": lambda: COUNT.filter(lambda number: number % 2 == 0),
    "interleave": lambda: COUNT.interleave(tf.data.Dataset.range, num_parallel_calls=2),
    "map_fn": lambda: COUNT.batch(2).map(lambda x: tf.map_fn(lambda y: y * 2, x)),
    "padded": lambda: COUNT.map(tf.range).padded_batch(2),
    "prefetch": lambda: COUNT.prefetch(tf.data.AUTOTUNE),
    "ragged": lambda: COUNT.map(tf.range).ragged_batch(2),
    "repeat": lambda: COUNT.repeat(2).shard(2, 0),
    "scan": lambda: COUNT.scan(tf.constant(0, tf.int64), lambda sum, x: (sum + x, sum)),
    "sequence": lambda: COUNT.enumerate().skip(1).take_while(lambda at, _: at < 3),
    "shuffle": lambda: COUNT.shuffle(4, seed=1, reshuffle_each_iteration=False),
    "unique": lambda: COUNT.map(lambda x: x % 3).unique(),
    "window": lambda: COUNT.window(3).flat_map(lambda window: window.batch(3)),
    "zip": lambda: tf.data.Dataset.zip({"a": COUNT, "b": COUNT.map(tf.as_string)}),
}


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_transformations_travel(name):
    """What tf.data does in memory gives the same after the journey."""
    data = TRANSFORMED[name]()
    kept = again(data)
    assert data.element_spec == kept.element_spec
    for one, two in zip(data, kept, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, _plain(one), _plain(two))


def _plain(element):
    return tf.nest.map_structure(
        lambda part: part.to_tensor() if isinstance(part, tf.RaggedTensor) else part, element
    )


def test_mixed_datasets_travel():
    """`sample_from_datasets` and `rejection_resample` do, with their random choices."""
    sampled = tf.data.Dataset.sample_from_datasets([COUNT, COUNT], [0.5, 0.5])
    assert sorted([*range(6), *range(6)]) == sorted(again(sampled).as_numpy_iterator())
    pairs = COUNT.map(lambda number: (number, tf.cast(number % 2, tf.int32)))
    resampled = pairs.rejection_resample(lambda _, label: label, [0.5, 0.5])
    assert again(resampled).element_spec == resampled.element_spec


@pytest.mark.parametrize(
    "spec",
    [
        tf.TensorSpec(None, tf.string),
        tf.RaggedTensorSpec([2, None], tf.float32, 1, tf.int32),
        tf.SparseTensorSpec([None, 3], tf.int64),
        ({"a": tf.TensorSpec([], tf.bool), "b": ()}, tf.TensorSpec([1], tf.uint8, "named")),
    ],
    ids=["unknown", "ragged", "sparse", "nested"],
)
def test_elements_come_back(spec):
    """The description of elements is the same after JSON."""
    from tfstream.graph import elements

    assert spec == elements.from_plain(elements.to_plain(spec))


def test_other_elements_are_refused():
    """Datasets within a dataset are no elements that travel; the message says which do."""
    with pytest.raises(NotPortableError, match=r"a DatasetSpec cannot travel: tensors can"):
        tfstream.to_graph(COUNT.window(2))


# What cannot travel.


def python(number):
    """A stage that is Python of this process."""
    return tf.py_function(lambda each: each, [number], tf.int64)


def by_condition(number):
    """The same, inside of a condition."""
    return tf.cond(number > 1, lambda: python(number), lambda: number)


def table_of_a_file(folder):
    """A table whose words are in a file."""
    file = folder / "words.txt"
    file.write_text("a\nb\n")
    whole, at = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    words = tf.lookup.TextFileInitializer(str(file), tf.string, whole, tf.int64, at)
    return tf.lookup.StaticHashTable(words, -1)


def generator():
    """A Python generator's dataset."""
    signature = tf.TensorSpec([], tf.int64)
    return tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=signature)


REFUSED = {
    "py_function in map(python)": lambda _: COUNT.map(python),
    "py_function in map(by_condition)": lambda _: COUNT.map(by_condition),
    "py_function in filter(lambda)": lambda _: COUNT.filter(lambda number: python(number) > 1),
    "numpy_function in map(lambda)": lambda _: COUNT.map(
        lambda number: tf.numpy_function(lambda each: each, [number], tf.int64, stateful=False)
    ),
    "from_generator": lambda _: generator().batch(2),
    "a lookup table of a file": lambda folder: COUNT.map(tf.as_string).map(
        table_of_a_file(folder).lookup
    ),
    "a cache in files": lambda folder: COUNT.cache(str(folder / "cache")),
    "snapshot": lambda folder: COUNT.snapshot(str(folder / "snapshot")),
    "a dataset of files": lambda folder: tf.data.TextLineDataset([str(folder)]),
    "read_file in map(lambda)": lambda folder: COUNT.map(lambda _: tf.io.read_file(str(folder))),
    "tf.print in map(lambda)": lambda _: COUNT.map(lambda number: (tf.print(number), number)[1]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_travel_is_named(what, tmp_path):
    """The error begins with the stage, in the user's words, and goes on to what to do."""
    with pytest.raises(NotPortableError) as error:
        tfstream.to_graph(REFUSED[what](tmp_path))
    stage, _, cure = str(error.value).partition(" cannot travel: ")
    assert stage.startswith(what)
    assert ". " in cure


def test_variables_do_not_travel_silently():
    """A variable, a generator of random numbers and a Keras layer with one are refused."""
    variable, numbers = tf.Variable(3, dtype=tf.int64), tf.random.Generator.from_seed(1)
    flip = tf.keras.layers.RandomFlip()
    image = COUNT.map(lambda number: tf.ones([4, 4, 3]))
    for data in (
        COUNT.map(lambda number: number + variable),
        COUNT.map(lambda number: numbers.uniform([])),
        image.map(lambda pixels: flip(pixels)),
    ):
        with pytest.raises(
            NotPortableError, match=r"in map\(lambda\) cannot travel: .*tf\.constant"
        ):
            tfstream.to_graph(data)


def test_tables_without_their_contents_do_not_travel():
    """A table that only this process can fill is refused, not sent as a dead handle."""
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -2, -3)
    with pytest.raises(NotPortableError, match=r"a table or another resource in map\(\w+\) cannot"):
        tfstream.to_graph(COUNT.map(lambda number: table.lookup(number)))


def test_data_that_only_this_process_has(digits):
    """What is in memory is refused when the graph is written, not where it arrives."""
    memory = fsspec.filesystem("memory")
    memory.put(str(digits), "/portable", recursive=True)
    try:
        data = tfstream.from_url("memory://portable", **SMALL)
        with pytest.raises(NotPortableError, match=r"memory://.* cannot travel: only this process"):
            tfstream.to_graph(data)
    finally:
        memory.rm("/portable", recursive=True)


def test_a_dataset_that_tensorflow_cannot_write():
    """What TensorFlow itself refuses is a NotPortableError with TensorFlow's reason."""
    variant = tf.raw_ops.NonSerializableDataset(
        input_dataset=tf.data.experimental.to_variant(COUNT),
        output_types=[tf.int64],
        output_shapes=[tf.TensorShape([])],
    )
    data = tf.data.experimental.from_variant(variant, COUNT.element_spec)
    with pytest.raises(NotPortableError, match=r"TensorFlow cannot write this dataset: \w"):
        tfstream.to_graph(data)


@pytest.mark.parametrize(
    "function", [tfstream.to_graph, tfstream.from_graph, tfstream.spec_of], ids=lambda f: f.__name__
)
def test_other_arguments(function):
    """Anything else is a TypeError that names its type."""
    with pytest.raises(TypeError, match="got list"):
        function([1, 2])


@pytest.mark.slow
def test_large_constants_do_not_travel():
    """More than 64 MiB are refused when they are written."""
    large = tf.zeros([65 * 1024 * 1024], tf.uint8)
    with pytest.raises(NotPortableError, match=r"at most 67,108,864 do: .* Put them into a store"):
        tfstream.to_graph(tf.data.Dataset.from_tensors(large))


def test_the_writer_is_in_it(stream):
    """The bytes say which tfstream and which TensorFlow wrote them, and hold no machine's path."""
    letter = unsealed(tfstream.to_graph(COUNT))
    assert (tfstream.__version__, tf.__version__) == (letter.tfstream, letter.tensorflow)


# Between processes.

WRITE = """
import sys
import numpy as np
import tensorflow as tf
import tfstream

offset = np.float32(100)

def augment(images, labels):
    flipped = tf.image.random_flip_left_right(images) + tf.random.uniform([])
    return images + offset, labels, flipped

data = tfstream.from_url(sys.argv[1], image_size=(8, 8), batch_size=5, verbose=False)
augmented = data.map(augment).unbatch().batch(4)
with open(sys.argv[2], "wb") as file:
    file.write(tfstream.to_graph(augmented))
assert 0 == data.stats().objects
for images, labels, _ in augmented:
    print(float(tf.reduce_sum(images)), labels.numpy().tolist())
"""

READ = """
import sys
import tensorflow as tf
import tfstream

data = tfstream.from_graph(open(sys.argv[1], "rb").read(), allow_local=True)
print(tfstream.spec_of(data).source.name, data.element_spec[0].shape)
drawn = []
for epoch in range(2):
    for images, labels, augmented in data:
        if epoch == 0:
            print(float(tf.reduce_sum(images)), labels.numpy().tolist())
        drawn.append(augmented.numpy().tobytes())
assert 6 == len(set(drawn))
"""


def in_a_process(script: str, *arguments: object) -> list[str]:
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=Path(tfstream.__file__).parents[1],
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_from_one_process_to_another(digits, tmp_path):
    """
    One process writes a graph with augmentation and constants, and reads nothing for it.

    Another has the same elements, and draws its augmentation anew for each batch.
    """
    expected = in_a_process(WRITE, digits, tmp_path / "graph")
    first, *found = in_a_process(READ, tmp_path / "graph")
    assert "local (None, 8, 8, 3)" == first
    assert 3 == len(expected)
    assert expected == found
