"""lakeFS, the whole way: `model.fit` over single pictures and gzip'd IDX shards of a commit."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from brightness import fitted, model_of
from places import classes, examples, expected, gray_idx, values


def test_pictures_of_a_branch(lakefs_place):
    """Every picture comes once an epoch with its own label, and the dataset says what it is."""
    lakefs_place.put(classes())
    data = lakefs_place.open("train/**")
    assert expected() == sorted(examples(data))
    assert 3 == len(data) == int(data.cardinality())
    assert lakefs_place.commit == data.commit
    assert ["0", "1", "2"] == data.class_names
    assert 3 == data.num_classes
    assert sorted(classes()) == data.file_paths
    assert 12 == data.stats().objects


@pytest.mark.slow
def test_fit_knows_the_steps_and_gets_the_right_labels(lakefs_place):
    """From the first epoch Keras knows how many steps there are; each label fits its picture."""
    lakefs_place.put(classes(each=5))
    data = lakefs_place.open("train/**")
    history = fitted(model_of(3), data, epochs=2)
    assert 4 == history.params["steps"]
    assert [1.0, 1.0] == history.history["accuracy"]
    assert 30 == data.stats().objects


@pytest.mark.slow
def test_fit_of_idx_shards(lakefs_place):
    """Pairs of gzip'd IDX files give every record once, with its label and in its own shape."""
    stored = [[0, 1, 2, 3, 4, 5, 6], [50, 101, 102], [103]]
    for number, shard in enumerate(stored):
        images, labels = gray_idx(shard)
        lakefs_place.upload(f"mnist/part{number}-images-idx3-ubyte.gz", images)
        lakefs_place.upload(f"mnist/part{number}-labels-idx1-ubyte.gz", labels)
    lakefs_place.seal()
    data = lakefs_place.open("mnist/*.gz", image_size=None)
    assert 3 == len(data)
    assert (None, 3, 3) == tuple(data.element_spec[0].shape)
    assert tf.uint8 == data.element_spec[0].dtype
    assert [(value, value // 50) for shard in stored for value in shard] == sorted(examples(data))
    history = fitted(
        model_of(3), data.map(lambda image, label: (image[..., None], label)), epochs=2
    )
    assert 3 == history.params["steps"]
    assert [1.0, 1.0] == history.history["accuracy"]


def test_validation_and_training_are_the_whole(lakefs_place):
    """The two parts of a split have nothing in common and every picture between them."""
    lakefs_place.put(classes())
    training, validation = lakefs_place.open(
        "train/**", validation_split=0.25, subset="both", seed=7
    )
    assert [3, 1] == [len(training), len(validation)]
    assert expected() == sorted(examples(training) + examples(validation))


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("int", lambda label: label),
        ("categorical", lambda label: np.eye(2)[label].tolist()),
        ("binary", lambda label: [float(label)]),
    ],
)
def test_labels_in_each_form(lakefs_place, mode, form):
    """Each label mode has Keras' form of the right label."""
    lakefs_place.put(classes(2))
    data = lakefs_place.open("train/**", label_mode=mode, shuffle=False)
    found = [label.tolist() for _, labels in data for label in labels.numpy()]
    assert [form(label) for _, label in expected(2)] == found


def test_no_labels(lakefs_place):
    """With `label_mode=None` or `labels=None` elements are pictures alone."""
    lakefs_place.put(classes(2))
    expectation = [value for value, _ in expected(2)]
    for wish in ({"label_mode": None}, {"labels": None}):
        data = lakefs_place.open("train/**", shuffle=False, **wish)
        assert expectation == values(data)


@pytest.mark.slow
def test_each_epoch_has_another_order(lakefs_place):
    """Epochs differ in their order alone, and an equal dataset repeats them."""
    lakefs_place.put(classes())
    data, again = lakefs_place.open("train/**"), lakefs_place.open("train/**")
    epochs = [examples(data) for _ in range(2)]
    assert epochs[0] != epochs[1]
    assert [expected()] * 2 == [sorted(epoch) for epoch in epochs]
    assert epochs == [examples(again) for _ in range(2)]


@pytest.mark.slow
def test_a_mirrored_strategy(lakefs_place):
    """A distributed `fit` sees every picture of each epoch, correctly labelled."""
    lakefs_place.put(classes())
    data = lakefs_place.open("train/**")
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        model = model_of(3)
    history = fitted(model, data, epochs=2)
    assert 3 == history.params["steps"]
    assert [1.0, 1.0] == history.history["accuracy"]


@pytest.mark.slow
def test_what_is_derived(lakefs_place):
    """`map`, `unbatch`, `batch`, `take` and `cache` work as on any dataset, and `fit` takes it."""
    lakefs_place.put(classes())
    data = lakefs_place.open("train/**")

    def augment(image, label):
        return tf.image.random_flip_left_right(image) + 1, label

    flipped = data.map(augment, num_parallel_calls=2)
    found = examples(flipped.unbatch().batch(6).prefetch(2))
    assert [(value + 1, label) for value, label in expected()] == sorted(found)
    assert 3 == len(flipped.prefetch(2))
    assert 2 == len(list(data.take(2)))
    kept = data.cache()
    assert examples(kept) == examples(kept)
    assert [1.0] == fitted(model_of(3), flipped, epochs=1).history["accuracy"]
