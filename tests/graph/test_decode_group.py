"""A group of images decoded at once: mixed formats, broken ones in the middle, unequal sizes."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import tfstream
from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.routes import PNG
from tfstream.testing.images import encode, noise, odd

SIZE = (11, 14)  # of `noise()`: resizing to it by `nearest` changes no pixel


def written(folder, files: dict[str, bytes]):
    """A folder with these files; record order is that of the names."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def streamed(folder, **arguments) -> tfstream.StreamDataset:
    """Unlabelled and unshuffled, at their own size if that is SIZE."""
    arguments = {"image_size": SIZE, "interpolation": "nearest", **arguments}
    return tfstream.from_url(folder, labels=None, shuffle=False, verbose=False, **arguments)


def formats() -> dict[str, bytes]:
    """The same pixels in every lossless format, and what they are, by file name."""
    return {
        "0.png": encode(noise(), "PNG"),
        "1.bmp": encode(noise(), "BMP"),
        "2.webp": encode(noise(), "WEBP", lossless=True),
        "3.tiff": encode(noise(), "TIFF"),
        "4.ppm": encode(noise(), "PPM"),
        "5.png": encode(noise(), "PNG", compress_level=0),
        "6.jp2": encode(noise(), "JPEG2000"),
    }


def broken_png() -> bytes:
    """A header that promises an image, and pixels that do not keep the promise."""
    data = bytearray(encode(noise(), "PNG"))
    middle = data.index(b"IDAT") + 20
    data[middle : middle + 8] = bytes(8)
    return bytes(data)


@pytest.mark.parametrize("batch_size", [1, 3, 7, 20, None])
def test_mixed_formats_are_one_batch(tmp_path, batch_size):
    """Every route gives the pixels that were written, in the order of the keys."""
    data = streamed(written(tmp_path, formats()), batch_size=batch_size)
    images = np.concatenate(
        [each if batch_size else each[np.newaxis] for each in data.as_numpy_iterator()]
    )
    np.testing.assert_array_equal(images, np.stack([noise()] * 7))
    assert data.stats().decode_paths["pillow"] >= 3


@pytest.mark.parametrize("batch_size", [3, 9, None])
@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("2x.png", broken_png(), "broken PNG"),
        ("2x.png", encode(noise(), "PNG")[:60], "truncated PNG|broken PNG"),
        ("2x.jpg", encode(noise(90, 90), "JPEG")[:900], "truncated JPEG"),
        ("2x.png", b"", r"empty \(0 bytes\)"),
        ("2x.jpg", b"<html>404</html>", "not an image: HTML"),
    ],
    ids=["pixels", "cut", "cut JPEG", "empty", "HTML"],
)
def test_a_broken_image_in_the_middle_is_named(tmp_path, batch_size, name, data, words):
    """DecodeError with the key, whether its header or TensorFlow refuses it."""
    written(tmp_path, {**formats(), name: data})
    with pytest.raises(tfstream.DecodeError, match=words) as caught:
        list(streamed(tmp_path, batch_size=batch_size))
    assert name in str(caught.value)
    assert caught.value.key == name
    assert caught.value.path == name


def test_nothing_of_a_broken_batch_comes_out(tmp_path):
    """
    The batches before it are whole, and the one with the error is no shorter batch.

    TensorFlow's batch goes on with the next image after an error, and `ignore_errors` would
    give what is left of it.
    """
    files = {f"{number:02}.png": encode(noise(seed=number), "PNG") for number in range(12)}
    files["05.png"] = broken_png()
    seen = []
    with pytest.raises(tfstream.DecodeError, match=r"05\.png"):
        seen.extend(batch.shape[0] for batch in streamed(written(tmp_path, files), batch_size=4))
    assert set(seen) <= {4}
    assert len(seen) <= 1


@pytest.mark.parametrize("batch_size", [2, 5, None])
def test_what_tensorflow_refuses_is_read_by_pillow(tmp_path, monkeypatch, batch_size):
    """Where its header promised too much, an image still comes out right, in its place."""
    monkeypatch.setattr(ImageDecoder, "route", lambda self, data, least: PNG)
    unknown = (".tiff", ".ppm", ".jp2")  # to TensorFlow
    files = {name: data for name, data in formats().items() if name.endswith((*unknown, ".png"))}
    data = streamed(written(tmp_path, files), batch_size=batch_size)
    images = np.concatenate(
        [each if batch_size else each[np.newaxis] for each in data.as_numpy_iterator()]
    )
    np.testing.assert_array_equal(images, np.stack([noise()] * 5))
    assert {"png": 2, "pillow": 3} == data.stats().decode_paths


def test_odd_files_decode_in_a_batch(tmp_path):
    """Each oddity between two ordinary images, in one batch, as Pillow reads it alone."""
    names = {
        "WebP": "webp",
        "GIF": "gif",
        "BMP": "bmp",
        "TIFF": "tiff",
        "2000": "jp2",
        "ICO": "ico",
        "PNM": "ppm",
    }
    files = {"0.png": encode(noise(), "PNG")}
    for number, (title, data) in enumerate(odd().items()):
        ending = next(end for word, end in names.items() if word in title)
        files[f"1{number:02}.{ending}"] = data
    files["2.png"] = encode(noise(), "PNG")
    alone = list(streamed(written(tmp_path, files), batch_size=None, image_size=None))
    (batch,) = streamed(tmp_path, batch_size=64).as_numpy_iterator()
    assert len(batch) == len(files)
    for one, image in zip(batch, alone, strict=True):
        resized = tf.image.resize(image, SIZE, method="nearest")
        np.testing.assert_array_equal(one, resized)


def test_single_images_keep_their_own_size(tmp_path):
    """`batch_size=None, image_size=None`: uint8 of every size."""
    sizes = [(5, 9), (30, 2), (2, 3)]
    files = {f"{n}.png": encode(noise(*size), "PNG") for n, size in enumerate(sizes)}
    data = streamed(written(tmp_path, files), batch_size=None, image_size=None)
    assert data.element_spec == tf.TensorSpec([None, None, 3], tf.uint8)
    assert [tuple(image.shape[:2]) for image in data] == sizes
    assert len(data) == 3


def test_equal_images_make_a_batch_without_image_size(tmp_path):
    """`image_size=None` with a batch size is fine where all have one size."""
    data = streamed(written(tmp_path, formats()), image_size=None)
    (images,) = data.as_numpy_iterator()
    assert images.shape == (7, *SIZE, 3)
    assert images.dtype == np.uint8


def test_unequal_images_cannot_be_a_batch(tmp_path):
    """The error names two of them and says both ways out, in `model.fit` too."""
    written(tmp_path, {"a.png": encode(noise(5, 5), "PNG"), "b.png": encode(noise(6, 5), "PNG")})
    with pytest.raises(tfstream.SpecError, match="have different sizes") as caught:
        list(streamed(tmp_path, image_size=None))
    named = r"a\.png has 5 x 5 pixels, \S*b\.png has 6 x 5 pixels\. Pass image_size="
    assert re.search(named, str(caught.value))
    with pytest.raises(tf.errors.OpError, match=named):
        list(streamed(tmp_path, image_size=None).map(lambda images: images))
    assert "image_size=(height, width)" in str(caught.value)
    assert "batch_size=None" in str(caught.value)
    assert caught.value.where == "$.resize"


def test_images_whose_headers_have_no_size(tmp_path, monkeypatch):
    """Then it is TensorFlow that finds out, and nobody is named."""
    monkeypatch.setattr(ImageDecoder, "size", lambda self, data, route: None)
    written(tmp_path, {"a.png": encode(noise(5, 5), "PNG"), "b.png": encode(noise(6, 5), "PNG")})
    with pytest.raises(tfstream.SpecError, match="TensorFlow says: Cannot batch") as caught:
        list(streamed(tmp_path, image_size=None))
    assert "image_size=(height, width)" in str(caught.value)


def test_photographs_are_compared_upright(tmp_path):
    """Stored 5 x 6 and turned, stored 6 x 5 and not: one batch."""
    exif = Image.Exif()
    exif[274] = 6
    turned = encode(noise(5, 6), "PNG", exif=exif)
    written(tmp_path, {"a.png": turned, "b.png": encode(noise(6, 5), "PNG")})
    way = {"image_size": None, "batch_size": 2}
    (images,) = streamed(tmp_path, **way, decoder=ImageDecoder(orientation="apply"))
    assert (2, 6, 5, 3) == images.shape
    with pytest.raises(tfstream.SpecError, match="have different sizes"):
        list(streamed(tmp_path, **way, decoder=ImageDecoder()))


def test_dtype_casts_after_resizing(tmp_path):
    """`dtype` is that of the elements; values are not scaled."""
    data = streamed(written(tmp_path, formats()), dtype="float16")
    (images,) = data.as_numpy_iterator()
    assert images.dtype == np.float16
    np.testing.assert_array_equal(images[0], noise().astype(np.float16))
