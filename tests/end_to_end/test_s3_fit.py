"""S3 and any fsspec URL, the whole way: `model.fit`, labels, splits, shards."""

from __future__ import annotations

import fsspec
import pytest
from brightness import fitted, model_of
from places import SIZE, classes, examples, expected, gray_idx

import tfstream


@pytest.fixture
def memory():
    """`memory(objects)` stores them and gives their URL; all is gone afterwards."""
    system = fsspec.filesystem("memory")

    def put(objects):
        for key, data in objects.items():
            system.pipe(f"/photos/{key}", data)
        return "memory://photos"

    yield put
    system.rm("/photos", recursive=True)


def read(url, **common):
    """The dataset of a URL."""
    return tfstream.from_url(url, verbose=False, image_size=SIZE, batch_size=4, **common)


@pytest.mark.slow
def test_fit_over_a_bucket(s3_place):
    """Keras knows the steps from the first epoch, and each label fits its picture."""
    s3_place.put(classes(each=5))
    data = s3_place.open("train/**")
    assert expected(each=5) == sorted(examples(data))
    assert 4 == len(data)
    assert data.commit is None
    assert sorted(classes(each=5)) == data.file_paths
    history = fitted(model_of(3), data, epochs=2)
    assert 4 == history.params["steps"]
    assert [1.0, 1.0] == history.history["accuracy"]


@pytest.mark.slow
def test_fit_over_memory(memory):
    """A URL that only fsspec knows streams as a bucket does."""
    data = read(memory(classes()) + "/train/**")
    assert expected() == sorted(examples(data))
    history = fitted(model_of(3), data, epochs=1)
    assert 3 == history.params["steps"]
    assert [1.0] == history.history["accuracy"]


def test_shards_of_a_bucket(s3_place):
    """gzip'd IDX files in a bucket give every record with its label."""
    images, labels = gray_idx([0, 1, 50, 51, 52])
    s3_place.put({"t-images-idx3-ubyte.gz": images, "t-labels-idx1-ubyte.gz": labels})
    data = s3_place.open("*.gz", image_size=None)
    assert [(0, 0), (1, 0), (50, 1), (51, 1), (52, 1)] == sorted(examples(data))
    assert 2 == len(data)


def test_shards_in_memory(memory):
    """gzip'd IDX files at a URL give every record with its label."""
    images, labels = gray_idx([0, 50, 51])
    url = memory({"t-images-idx3-ubyte.gz": images, "t-labels-idx1-ubyte.gz": labels})
    data = tfstream.from_url(url, verbose=False)
    assert [(0, 0), (50, 1), (51, 1)] == sorted(examples(data))


@pytest.mark.slow
def test_the_same_bucket_by_url(s3_place):
    """`from_url("s3://…")` is the dataset that `from_s3` makes, in the same order."""
    s3_place.put(classes(2))
    url = f"s3://{s3_place.name}/train/**"
    access = {"endpoint": s3_place.proxy.endpoint, "credentials": s3_place.credentials}
    data = read(url, **access)
    assert s3_place.open("train/**").spec == data.spec
    assert examples(s3_place.open("train/**")) == examples(data)


@pytest.mark.slow
def test_a_split_of_a_bucket(s3_place):
    """The two parts of a split are the whole, and share nothing."""
    s3_place.put(classes())
    training, validation = s3_place.open("train/**", validation_split=0.25, subset="both", seed=7)
    assert [9, 3] == [len(part.file_paths) for part in (training, validation)]
    assert expected() == sorted(examples(training) + examples(validation))


def test_without_batches_and_sizes(s3_place):
    """`batch_size=None` gives single examples; `image_size=None` each picture's own size."""
    s3_place.put(classes(2))
    data = s3_place.open("train/**", batch_size=None, image_size=None, shuffle=False)
    found = [(int(image[0, 0, 0]), int(label)) for image, label in data]
    assert expected(2) == found
    assert 8 == len(data)
