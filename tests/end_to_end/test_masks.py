"""Segmentation: the label of an image is another image, from a folder and from lakeFS."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import tfstream
from tfstream import DecodeError, ImageLabels
from tfstream.testing.images import encode, noise

SIDES = (6, 8)
QUIET = {"verbose": False, "shuffle": False}


def indices(seed, sides=SIDES, most=5):
    """Class numbers of a mask."""
    return np.random.default_rng(seed).integers(0, most, sides, np.uint8)


def palette_png(values):
    """A PNG whose palette has nothing to do with the numbers."""
    image = Image.fromarray(values, "P")
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9, 200, 200, 0])
    return saved(image)


def saved(image, name="PNG", **options):
    file = io.BytesIO()
    image.save(file, name, **options)
    return file.getvalue()


@pytest.fixture
def street(tmp_path):
    """Six pictures, and a mask of palette indices for each."""
    for number in range(6):
        put(
            tmp_path / f"images/{number % 2}/{number}.png",
            encode(noise(*SIDES, seed=number), "PNG"),
        )
        put(tmp_path / f"masks/{number % 2}/{number}.png", palette_png(indices(number)))
    return tmp_path


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def streamed(street, **arguments):
    labels = ImageLabels(str(street / "masks/**/*.png"))
    arguments = {"labels": labels, "image_size": SIDES, "batch_size": 2, **QUIET, **arguments}
    return tfstream.from_url(street / "images", **arguments)


def wanted(numbers=(0, 2, 4, 1, 3, 5)):
    return np.stack([indices(number) for number in numbers])[..., np.newaxis]


def masks(dataset):
    return np.concatenate([mask.numpy() for _, mask in dataset])


def test_palette_indices(street):
    """A mask's values are its palette's indices, in the order of the images."""
    dataset = streamed(street)
    assert (tf.TensorSpec([None, *SIDES, 1], tf.uint8)) == dataset.element_spec[1]
    np.testing.assert_array_equal(wanted(), masks(dataset))
    assert (None, None) == (dataset.class_names, dataset.num_classes)


def test_they_stay_together(street):
    """Shuffled and split, each image still has its own mask."""
    by_pixels = {
        noise(*SIDES, seed=number).astype(np.float32).tobytes(): indices(number)
        for number in range(6)
    }
    dataset = streamed(street, shuffle=True, seed=3)
    for images, found in dataset.unbatch().batch(6):
        for image, mask in zip(images.numpy(), found.numpy(), strict=True):
            np.testing.assert_array_equal(by_pixels[image.tobytes()], mask[..., 0])


@pytest.mark.parametrize("how", ["stretch", "crop_to_aspect_ratio", "pad_to_aspect_ratio"])
@pytest.mark.parametrize("size", [(3, 4), (12, 12)])
def test_resized_without_mixing(street, how, size):
    """A mask is resized as its image is, by nearest neighbour: no value is new but padding."""
    arguments = {} if how == "stretch" else {how: True}
    found = masks(streamed(street, image_size=size, **arguments))
    exact = streamed(street, image_size=size, interpolation="nearest", labels=None, **arguments)
    assert (6, *size, 1) == found.shape
    assert set(np.unique(found)) <= {0, 1, 2, 3, 4}
    assert {tuple(image.shape) for image in exact.unbatch()} == {(*size, 3)}


@pytest.mark.parametrize("batch_size", [None, 1])
def test_own_sizes(street, batch_size):
    """Without `image_size` every pair has its own size."""
    put(street / "images/0/9.png", encode(noise(3, 5, seed=9), "PNG"))
    put(street / "masks/0/9.png", palette_png(indices(9, (3, 5))))
    dataset = streamed(street, image_size=None, batch_size=batch_size)
    pairs = [(image.shape[-3:-1], mask.shape[-3:-1]) for image, mask in dataset]
    assert [(3, 5)] == [image for image, mask in pairs if tuple(image) != SIDES]
    assert all(image == mask for image, mask in pairs)


@pytest.mark.parametrize(
    ("dtype", "make"),
    [
        ("uint8", lambda values: saved(Image.fromarray(values))),
        ("uint8", lambda values: saved(Image.fromarray(values), "TIFF")),
        ("uint16", lambda values: saved(Image.fromarray(values.astype(np.uint16) * 300))),
    ],
)
def test_gray_levels(street, dtype, make):
    """Gray masks of 8 and 16 bits keep their values."""
    for number in range(6):
        put(street / f"masks/{number % 2}/{number}.png", make(indices(number)))
    labels = ImageLabels(str(street / "masks/**"), dtype=dtype)
    factor = 1 if dtype == "uint8" else 300
    expected = wanted().astype(dtype) * factor
    np.testing.assert_array_equal(expected, masks(streamed(street, labels=labels)))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_few_bits(street, bits):
    """A palette or gray levels of 1, 2 or 4 bits give the numbers that are stored."""
    most = 2**bits
    for number in range(6):
        values = indices(number, most=most)
        image = Image.fromarray(values, "P")
        image.putpalette(list(range(3 * most)))
        put(street / f"masks/{number % 2}/{number}.png", saved(image, bits=bits))
    expected = np.stack([indices(number, most=most) for number in (0, 2, 4, 1, 3, 5)])
    np.testing.assert_array_equal(expected[..., np.newaxis], masks(streamed(street)))


BAD = {
    "mask of colours": lambda: encode(noise(*SIDES, seed=1), "PNG"),
    "mask of another size": lambda: palette_png(indices(2, (3, 3))),
    "not an image (text)": lambda: b"no mask at all",
    "truncated PNG": lambda: palette_png(indices(2))[:-36],
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_mask_is_named(street, kind):
    """A mask that is none is an error with its own key, or skipped and counted with it."""
    put(street / "masks/0/2.png", BAD[kind]())
    with pytest.raises(DecodeError, match=r"masks/0/2\.png: ") as caught:
        masks(streamed(street))
    assert kind in str(caught.value).replace(": text", " (text)")
    tolerant = streamed(street, on_error="skip")
    np.testing.assert_array_equal(wanted((0, 4, 1, 3, 5)), masks(tolerant))
    errors = tolerant.stats().errors
    assert [kind] == list(errors)
    assert ("masks/0/2.png",) == tuple(errors[kind])


def test_substituted(street):
    """Under `substitute` a pair takes the place of the pair with the bad mask."""
    put(street / "masks/0/2.png", b"nothing")
    found = masks(streamed(street, on_error="substitute", batch_size=3))
    np.testing.assert_array_equal(wanted((0, 4, 4, 1, 3, 5)), found)


def test_label_modes(street):
    """Masks are integers or left out; there are no classes to make vectors of."""
    with pytest.raises(ValueError, match="Masks are integers"):
        streamed(street, label_mode="categorical")
    assert (2, *SIDES, 3) == next(iter(streamed(street, label_mode=None))).shape


def test_the_spec_travels(street):
    """The spec's JSON gives the same pairs again."""
    dataset = streamed(street)
    again = tfstream.load(dataset.spec.to_json())
    np.testing.assert_array_equal(masks(dataset), masks(again))


def test_fit(street):
    """A small segmentation model takes the dataset as it is."""
    model = tf.keras.Sequential([tf.keras.layers.Conv2D(5, 1)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss)
    assert 3 == len(streamed(street))
    model.fit(streamed(street), verbose=0, shuffle=False)


def test_lakefs(lakefs_server, lakefs_repository):
    """From lakeFS, both patterns are whole keys of the pinned commit."""
    for number in range(3):
        image, mask = encode(noise(*SIDES, seed=number), "PNG"), palette_png(indices(number))
        lakefs_server.upload(lakefs_repository, "main", f"images/{number}.png", image)
        lakefs_server.upload(lakefs_repository, "main", f"masks/{number}.png", mask)
    lakefs_server.commit(lakefs_repository, "main", "pictures")
    dataset = tfstream.from_lakefs(
        lakefs_repository,
        "main",
        "images/*.png",
        labels=ImageLabels("masks/*.png"),
        image_size=SIDES,
        endpoint=lakefs_server.endpoint,
        credentials={
            "access_key_id": lakefs_server.access_key_id,
            "secret_access_key": lakefs_server.secret_access_key,
        },
        **QUIET,
    )
    np.testing.assert_array_equal(wanted(range(3)), masks(dataset))


def test_an_ignored_mask_takes_its_image_with_it(street, caplog):
    """So what `tfstream check` finds can be left out, whichever of the two it is."""
    data = streamed(street, ignore=["masks/0/2.png", "images/1/5.png"])
    assert [f"images/0/{n}.png" for n in (0, 4)] + [f"images/1/{n}.png" for n in (1, 3)] == [
        path[len(str(street)) + 1 :] for path in data.file_paths
    ]
    assert 1 == data.stats().left_out["mask ignored"]
    assert "matches nothing" not in caplog.text
    again = tfstream.load(data.spec)
    np.testing.assert_array_equal(masks(data), masks(again))


def test_ignore_that_fits_neither_images_nor_masks(street, caplog):
    """Keys begin where both have their folder, which the warning shows."""
    streamed(street, ignore=["5.png"])
    assert "ignore=['5.png'] matches nothing; there are keys such as images/0/0.png" in caplog.text


def test_a_mask_of_the_stored_pixels_of_a_turned_photograph(tmp_path):
    """A mask must be upright, as the image will be; the error says both sizes that way."""
    exif = Image.Exif()
    exif[274] = 6
    put(tmp_path / "images/0.png", saved(Image.fromarray(noise(4, 6)), exif=exif))
    put(tmp_path / "masks/0.png", palette_png(indices(0, (4, 6))))
    decoder = tfstream.ImageDecoder(orientation="apply")
    with pytest.raises(DecodeError, match="4 rows of 6 values, its image has 6 rows of 4, upright"):
        list(streamed(tmp_path, decoder=decoder))
    put(tmp_path / "masks/0.png", palette_png(indices(0, (6, 4))))
    assert 1 == len(list(streamed(tmp_path, decoder=decoder)))
