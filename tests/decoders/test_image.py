"""Which decoder an image gets, and that both give the same pixels where both can."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from decoding import HAS_WEBP, MODES

from tfstream.decoders import pillow
from tfstream.decoders.image import ImageDecoder, route_name
from tfstream.decoders.routes import BMP, JPEG, PILLOW, PNG, WEBP
from tfstream.errors import DecodeError
from tfstream.testing import images

ROOT = Path(__file__).parents[2]
NOISE, SMOOTH = images.noise(), images.smooth()
ODD = images.odd()
GRAY4 = NOISE[..., 0] >> 4
GRAY16 = NOISE[..., 0].astype(np.uint16) * 251

HERE = {JPEG, PNG, BMP, *([WEBP] if HAS_WEBP else [])}  # this TensorFlow's
DECODERS = {mode: ImageDecoder(color_mode=mode) for mode in MODES}
SIGNATURE = [tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)]
IN_GRAPH = {
    mode: tf.function(decoder.decode_in_graph, input_signature=SIGNATURE)
    for mode, decoder in DECODERS.items()
}

# What TensorFlow reads: name -> file, and its routes for rgb, rgba and grayscale.
ORDINARY = {
    "baseline JPEG": (images.encode(NOISE, "JPEG", quality=95), JPEG, PILLOW, JPEG),
    "subsampled JPEG": (images.encode(SMOOTH, "JPEG", subsampling=2), JPEG, PILLOW, JPEG),
    "progressive JPEG": (images.encode(SMOOTH, "JPEG", progressive=True), JPEG, PILLOW, JPEG),
    "gray JPEG": (images.encode(SMOOTH, "JPEG", mode="L"), JPEG, PILLOW, JPEG),
    "RGB JPEG": (images.encode(SMOOTH, "JPEG", keep_rgb=True), JPEG, PILLOW, JPEG),
    "JPEG with restarts": (
        images.encode(SMOOTH, "JPEG", restart_marker_blocks=2),
        JPEG,
        PILLOW,
        JPEG,
    ),
    "JPEG with garbage": (images.encode(SMOOTH, "JPEG") + b"garbage", JPEG, PILLOW, JPEG),
    "MPO": (images.animation("MPO"), JPEG, PILLOW, JPEG),
    "PNG": (images.encode(NOISE, "PNG"), PNG, PNG, PNG),
    "gray PNG": (images.encode(NOISE, "PNG", mode="L"), PNG, PNG, PNG),
    "PNG with alpha": (images.encode(images.noise(channels=4), "PNG"), PNG, PNG, PNG),
    "gray PNG with alpha": (images.encode(NOISE, "PNG", mode="LA"), PNG, PNG, PNG),
    "palette PNG": (images.encode(NOISE, "PNG", mode="P"), PNG, PNG, PNG),
    "palette PNG with alpha": (
        images.encode(NOISE, "PNG", mode="P", transparency=bytes(range(256))),
        PNG,
        PNG,
        PNG,
    ),
    "1-bit PNG": (images.encode(NOISE, "PNG", mode="1"), PNG, PILLOW, PNG),
    "4-bit PNG": (images.gray_png(GRAY4, bits=4), PNG, PILLOW, PNG),
    "16-bit PNG": (images.encode(GRAY16, "PNG"), PNG, PNG, PNG),
    "animated PNG": (images.animation("PNG"), PNG, PNG, PNG),
    "GIF": (images.encode(NOISE, "GIF"), PILLOW, PILLOW, PILLOW),
    "BMP": (images.bmp(NOISE), BMP, PILLOW, PILLOW),
    "lossy WebP": (images.encode(SMOOTH, "WEBP"), WEBP, PILLOW, PILLOW),
    "lossless WebP": (images.encode(NOISE, "WEBP", lossless=True), WEBP, PILLOW, PILLOW),
    "lossy WebP with alpha": (
        images.encode(images.noise(channels=4), "WEBP"),
        PILLOW,
        WEBP,
        PILLOW,
    ),
}
EACH = [
    (name, mode, route)
    for name, (_, *routes) in ORDINARY.items()
    for mode, route in zip(DECODERS, routes, strict=True)
]


def by_pillow(data: bytes, mode: str = "rgb") -> np.ndarray:
    return pillow.decode(data, DECODERS[mode])


@pytest.mark.parametrize(("name", "mode", "route"), EACH)
def test_ordinary_files_take_tensorflow_where_it_is_right(name, mode, route):
    """The table: each format and number of channels."""
    assert route == DECODERS[mode].route(ORDINARY[name][0])


@pytest.mark.parametrize(("name", "mode"), [(n, m) for n, m, route in EACH if route in HERE])
def test_both_decoders_give_the_same_pixels(name, mode):
    """Bit for bit, JPEG too; gray from the colours of a PNG within one level."""
    data = ORDINARY[name][0]
    expected = by_pillow(data, mode)
    actual = IN_GRAPH[mode](data, DECODERS[mode].route(data)).numpy()
    assert expected.shape == actual.shape
    assert actual.dtype == np.uint8
    tolerance = 1 if mode == "grayscale" and name.endswith(("PNG", "PNG with alpha")) else 0
    assert int(np.abs(expected.astype(int) - actual).max()) <= tolerance


@pytest.mark.parametrize("name", [name for name in ODD if name != "WebP with alpha"])
@pytest.mark.parametrize("mode", DECODERS)
def test_odd_files_never_reach_tensorflow(name, mode):
    """What TensorFlow crashes on, gets wrong or refuses goes to Pillow, in every colour mode."""
    assert DECODERS[mode].route(ODD[name]) == PILLOW
    assert by_pillow(ODD[name], mode).shape[2] == DECODERS[mode].channels


@pytest.mark.parametrize(
    "data",
    [
        images.encode(SMOOTH, "JPEG", mode="CMYK"),
        images.jpeg_frame(images.encode(SMOOTH, "JPEG"), marker=0xC3),
        images.jpeg_frame(images.encode(SMOOTH, "JPEG"), bits=12),
        images.encode(SMOOTH, "JPEG")[:-2],
        images.bmp(NOISE)[:-1],
        images.encode(images.noise(channels=4), "BMP"),
        images.encode(NOISE, "GIF")[:-1],
        images.encode(SMOOTH, "AVIF"),
    ],
)
def test_unusual_processes_and_cut_files_go_to_pillow(data):
    """CMYK, lossless, 12-bit and truncated JPEG, other BMPs, formats unknown to TensorFlow."""
    assert {decoder.route(data) for decoder in DECODERS.values()} == {PILLOW}


@pytest.mark.parametrize("interlace", [0, 1])
def test_a_good_gif_is_what_tensorflow_makes_of_it(interlace):
    """The pixels of its first frame, bit for bit, also of an animation."""
    for data in (
        images.encode(NOISE, "GIF", interlace=interlace),
        images.animation("GIF", interlace=interlace),
    ):
        expected = tf.io.decode_gif(data)[0].numpy()
        assert np.array_equal(expected, by_pillow(data))


def test_damage_within_a_gif_is_not_swallowed():
    """Why GIFs go to Pillow: TensorFlow gives other pixels where one bit is wrong, and no error."""
    data = images.encode(NOISE, "GIF")
    at = data.rindex(b"\x2c") + 15  # in the frame's first codes: a later one is then unknown
    damaged = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
    good, bad = (tf.io.decode_gif(each)[0].numpy() for each in (data, damaged))
    assert float((good != bad).any(axis=-1).mean()) > 0.9
    assert DECODERS["rgb"].route(damaged) == PILLOW
    with pytest.raises(DecodeError) as caught:
        by_pillow(damaged)
    assert caught.value.kind == "broken GIF"


def test_cmyk_is_what_tensorflow_makes_of_it():
    """Pillow's reading of an Adobe CMYK file is TensorFlow's, within one level."""
    data = images.encode(NOISE, "JPEG", mode="CMYK", quality=95)
    expected = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy()
    assert int(np.abs(expected.astype(int) - by_pillow(data)).max()) <= 1


def test_the_alpha_that_tensorflow_adds_to_few_bits_is_wrong():
    """Why 1, 2 and 4-bit PNGs go to Pillow with `rgba`: TensorFlow's opaque is 15 of 255."""
    data = images.gray_png(GRAY4, bits=4)
    assert set(tf.io.decode_png(data, channels=4).numpy()[..., 3].flat) == {15}
    assert set(by_pillow(data, "rgba")[..., 3].flat) == {255}


def test_a_transparent_colour_of_few_bits_stays_with_tensorflow():
    """Its alpha is right where Pillow's would be wrong."""
    data = images.gray_png(GRAY4, bits=4, transparent=int(GRAY4[0, 0]))
    assert DECODERS["rgba"].route(data) == PNG
    alpha = IN_GRAPH["rgba"](data, PNG).numpy()[..., 3]
    assert np.array_equal(np.where(GRAY4 == GRAY4[0, 0], 0, 255), alpha)


def test_an_image_over_the_limit_is_refused_from_its_header():
    """67 bytes that ask for 1.8 GB cost nothing; the message has the size and the limit."""
    with pytest.raises(
        DecodeError, match=r"PNG of 30,000 x 20,000 pixels: .*max_pixels=89,478,485"
    ):
        ImageDecoder().route(images.png_of_size(30_000, 20_000))
    assert ImageDecoder(max_pixels=600_000_000).route(images.png_of_size(30_000, 20_000)) == PNG


@pytest.mark.parametrize("data", [b"", b"<html>", images.encode(SMOOTH, "JPEG")[:30]])
def test_no_image_has_no_route(data):
    """What is no image is an error at once, before any decoder."""
    with pytest.raises(DecodeError):
        ImageDecoder().route(data)


@pytest.mark.parametrize("mode", DECODERS)
def test_the_shape_is_known_to_the_graph(mode):
    """Height and width vary, the channels do not."""
    assert [None, None, DECODERS[mode].channels] == IN_GRAPH[
        mode
    ].get_concrete_function().structured_outputs.shape.as_list()


def test_the_route_pillow_fails_in_the_graph_or_is_the_given_op():
    """Alone it is an error that a fallback can catch; with an op for it, that op's pixels."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        IN_GRAPH["rgb"](ODD["TIFF"], PILLOW)

    def op(data):
        return tf.reshape(tf.io.decode_raw(tf.strings.substr(data, 0, 3), tf.uint8), [1, 1, 3])

    pixels = DECODERS["rgb"].decode_in_graph(b"abc", PILLOW, pillow=op)
    assert pixels.numpy().tolist() == [[[97, 98, 99]]]


def test_an_older_tensorflow_leaves_webp_to_pillow(monkeypatch):
    """Before 2.20 there is no op for WebP: its route fails as Pillow's does, the graph is built."""
    monkeypatch.delattr(tf.io, "decode_webp", raising=False)
    with pytest.raises(tf.errors.InvalidArgumentError):
        DECODERS["rgb"].decode_in_graph(images.encode(NOISE, "WEBP"), WEBP)


def test_a_group_of_images_falls_back_inside_a_dataset():
    """In nested datasets, with symbolic checkpoints; the graph holds no Python."""
    decoder = DECODERS["rgb"]
    good = [data for data, route, *_ in ORDINARY.values() if route in HERE]
    files = [*good, ODD["TIFF"], images.png_of_size(4, 4)]
    routes = [decoder.route(data) for data in files]

    def size(data, route):
        one = tf.data.Dataset.from_tensors((data, route))
        fast = one.map(lambda data, route: tf.shape(decoder.decode_in_graph(data, route)))
        slow = one.map(lambda _data, _route: tf.constant([0, 0, 0]))
        both = fast.ignore_errors(log_warning=False).concatenate(slow)
        return both.take(1).get_single_element()

    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    dataset = tf.data.Dataset.from_tensor_slices((files, routes)).map(size).with_options(options)
    expected = [list(by_pillow(data).shape) for data in good] + [[0, 0, 0]] * 2
    assert expected == [shape.tolist() for shape in dataset.as_numpy_iterator()]
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor, external_state_policy=1, strip_device_assignment=True
    ).numpy()
    assert b"PyFunc" not in graph
    assert b"DecodeJpeg" in graph


@pytest.mark.slow
def test_damaged_files_give_pixels_or_an_error():
    """600 files cut, changed and lengthened at will, in another process, which survives them."""
    program = [sys.executable, str(Path(__file__).with_name("hostile_files.py"))]
    run = subprocess.run(
        program,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (run.returncode, run.stdout[-1:]) == (0, "\n"), run.stderr[-3000:]
    seen = ast.literal_eval(run.stdout)
    assert seen.pop("error without a kind") == 0
    assert min(seen.values()) > 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"color_mode": 3},
            '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: color_mode=3',
        ),
        ({"max_pixels": 0}, "`max_pixels` must be a positive integer. Received: max_pixels=0"),
        (
            {"max_pixels": True},
            "`max_pixels` must be a positive integer. Received: max_pixels=True",
        ),
        ({"max_pixels": 1.5}, "`max_pixels` must be a positive integer. Received: max_pixels=1.5"),
        (
            {"orientation": "exif"},
            '`orientation` must be one of {"ignore", "apply"}. Received: orientation=\'exif\'',
        ),
        ({"dtype": "f4"}, '`dtype` must be one of {"uint8", "uint16"}. Received: dtype=\'f4\''),
        ({"scaled": True}, '`scaled` must be one of {"auto", "off"}. Received: scaled=True'),
        (
            {"alpha": "green"},
            '`alpha` must be "drop" or a colour: "white", "black" or "#rrggbb". '
            "Received: alpha='green'",
        ),
        (
            {"alpha": "#fff"},
            '`alpha` must be "drop" or a colour: "white", "black" or "#rrggbb". '
            "Received: alpha='#fff'",
        ),
        (
            {"alpha": 0},
            '`alpha` must be "drop" or a colour: "white", "black" or "#rrggbb". Received: alpha=0',
        ),
        (
            {"alpha": "white", "color_mode": "rgba"},
            '`alpha` must be "drop" where `color_mode` is "rgba", which keeps alpha. '
            "Received: alpha='white'",
        ),
    ],
)
def test_arguments_are_checked_as_keras_does(arguments, message):
    """A ValueError that names the argument and what was received."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ImageDecoder(**arguments)


def test_decoders_are_values():
    """Equal descriptions are equal and can be keys; a ground has one form."""
    assert {ImageDecoder(): 1}[ImageDecoder(color_mode="rgb", max_pixels=89_478_485)] == 1
    assert ImageDecoder(alpha="white") == ImageDecoder(alpha="#FFFFFF")
    assert ImageDecoder(alpha="#ffffff").alpha == "#ffffff"
    assert ImageDecoder(alpha="black") == ImageDecoder(alpha="#000000")


def test_a_route_has_a_name():
    """What the counters show: the decoder, and the scale of a JPEG."""
    data = images.encode(images.smooth(), "JPEG")
    decoder = ImageDecoder(scaled="auto")
    assert route_name(decoder.route(data)) == "jpeg"
    assert route_name(np.int32(decoder.route(data, (24, 32)))) == "jpeg/2"
    assert route_name(decoder.route(ODD["TIFF"])) == "pillow"


def test_who_decodes_is_known_to_python_and_to_the_graph():
    """`by_pillow` of a number is a bool, of a tensor a tensor; an orientation changes neither."""
    decoder = DECODERS["rgb"]
    tiff, png = decoder.route(ODD["TIFF"]), decoder.route(images.encode(NOISE, "PNG"))
    assert (decoder.by_pillow(tiff), decoder.by_pillow(png)) == (True, False)
    assert decoder.by_pillow(tf.constant([tiff, png])).numpy().tolist() == [True, False]
    assert decoder.by_pillow(tiff + 16 * 5)
    assert not decoder.by_pillow(-1)
