"""Which IDX files belong together, by their names."""

import pytest

from tfstream.errors import SpecError
from tfstream.readers.idx import pair


def test_mnist_in_every_spelling():
    """MNIST's, EMNIST's and QMNIST's names are paired, each with its own."""
    pairs = [
        ("d/t10k-images-idx3-ubyte.gz", "d/t10k-labels-idx1-ubyte.gz"),
        ("d/train-images.idx3-ubyte", "d/train-labels.idx1-ubyte"),
        ("emnist-letters-train-images-idx3-ubyte.gz", "emnist-letters-train-labels-idx1-ubyte.gz"),
        ("qmnist-train-images-idx3-ubyte.gz", "qmnist-train-labels-idx2-int.gz"),
        ("T10K-Images-IDX3-ubyte", "T10K-LABELS-idx1-ubyte.GZ"),
    ]
    assert pairs == pair([path for both in pairs for path in reversed(both)])


def test_order_is_that_of_the_keys():
    """Shards come in the order of the keys they were given in, labels do not matter for it."""
    paths = ["b-labels-idx1", "b-images-idx3", "a-images-idx3", "a-labels-idx1"]
    assert [("b-images-idx3", "b-labels-idx1"), ("a-images-idx3", "a-labels-idx1")] == pair(paths)


def test_data_without_labels():
    """Images whose labels were not matched, and names with neither word, have None."""
    paths = ["images/x.idx", "labels/y.idx", "train-images-idx3-ubyte"]
    assert [(path, None) for path in paths] == pair(paths)
    assert [] == pair([])


def test_folders_and_the_rest_of_the_name_count():
    """Labels in another folder, or with another name, are not these images'."""
    for labels in ("b/t-labels-idx1", "a/T-labels-idx1", "a/t-labels-idx1-2"):
        with pytest.raises(SpecError, match=f"labels without images: '{labels}'") as caught:
            pair(["a/t-images-idx3", labels])
        assert "$.source.pattern" == caught.value.where


@pytest.mark.parametrize(
    "paths",
    [
        ["images-idx3", "images-idx3.gz", "labels-idx1"],
        ["images-idx3", "labels-idx1", "labels-idx1.gz"],
    ],
)
def test_no_clear_pair(paths):
    """Two files that could be the same one's partner are an error that names all of them."""
    with pytest.raises(SpecError, match="narrow the pattern") as caught:
        pair(paths)
    assert all(repr(path) in str(caught.value) for path in paths)
