"""
The pictures of docs/images.md: what a file has, and beside it what tfstream makes of it.

```
python docs/make_pictures.py        writes docs/pictures/*.png again

parts of a scene -> a file as people have it -> tfstream -> panels side by side
```

One function makes one picture, and has its name. Everything is computed: no photograph, no font,
no random number, so that everyone gets the same pictures.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import tfstream
from tfstream import ImageDecoder, ImageLabels
from tfstream.testing.images import encode, gif

FOLDER = Path(__file__).parent / "pictures"
HEIGHT, WIDTH = 120, 160  # of most panels: four of them fill a page of GitHub

Pixels = NDArray[np.uint8]

SKY, SUN, HILL, WALL, ROOF, DOOR = range(6)
PAINT = np.array(  # multiples of 51, so that a GIF has each of them
    [[102, 153, 255], [255, 204, 51], [102, 153, 51], [255, 204, 153], [204, 51, 51], [102, 51, 0]],
    np.uint8,
)


def parts(height: int = HEIGHT, width: int = WIDTH, *, sun: float = 0.2) -> Pixels:
    """What each pixel shows: a house on a hill, which looks different from every side."""
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width])[:, None, None]
    shown = np.full((height, width), SKY, np.uint8)
    shown[(x - sun) ** 2 + (0.75 * (y - 0.25)) ** 2 < 0.01] = SUN
    shown[y > 0.65 + 0.4 * (x - 0.7) ** 2] = HILL
    shown[(abs(x - 0.7) < 0.16) & (y > 0.45) & (y < 0.8)] = WALL
    shown[(abs(x - 0.7) < y - 0.22) & (y <= 0.45)] = ROOF
    shown[(abs(x - 0.76) < 0.04) & (y > 0.6) & (y < 0.8)] = DOOR
    return shown


def lit(shown: Pixels) -> NDArray[np.float64]:
    """The parts in colours from 0 to 1, darker towards the top."""
    light = np.linspace(0.6, 1, shown.shape[0])[:, None, None]
    colors: NDArray[np.float64] = PAINT[shown] / 255 * light
    return colors


def scene(height: int = HEIGHT, width: int = WIDTH) -> Pixels:
    """The parts as RGB."""
    return as_bytes(lit(parts(height, width)))


def as_bytes(values: NDArray[Any]) -> Pixels:
    """Numbers from 0 to 1 as 8 bits."""
    pixels: Pixels = np.rint(values * 255).astype(np.uint8)
    return pixels


def decoded(data: bytes, *, image_size: tuple[int, int] | None = None, **rules: Any) -> Any:
    """What tfstream makes of a file."""
    return all_decoded([data], image_size=image_size, **rules)[0]


def all_decoded(
    files: list[bytes], *, image_size: tuple[int, int] | None = None, **rules: Any
) -> list[Any]:
    """What tfstream makes of some files, whose names say nothing but their order."""
    with TemporaryDirectory() as folder:
        for number, data in enumerate(files):
            Path(folder, f"{number}.jpg").write_bytes(data)
        pictures = tfstream.from_url(
            folder,
            labels=None,
            batch_size=None,
            image_size=image_size,
            shuffle=False,
            decoder=ImageDecoder(**rules),
            verbose=False,
        )
        return [picture.numpy() for picture in pictures]


def row(*panels: NDArray[Any]) -> Pixels:
    """Panels side by side on gray, in cells as large as the largest."""
    height, width, _ = np.max([panel.shape for panel in panels], axis=0)
    cells = []
    for panel in panels:
        cell = np.full((height + 8, width + 8, 3), 192, np.uint8)
        cell[4 : 4 + panel.shape[0], 4 : 4 + panel.shape[1]] = panel
        cells.append(cell)
    return np.concatenate(cells, axis=1)


def alpha() -> Pixels:
    """As a viewer shows it, `drop`, `white`, `#336699`."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] - np.array([60, 105])[:, None, None]
    opaque = np.clip((3000 - x**2 - y**2) / 1000, 0, 1)[..., None]
    stored = np.where(opaque > 0, scene(), np.array([224, 0, 160], np.uint8))
    file = encode(np.concatenate([stored, as_bytes(opaque)], axis=-1), "PNG")
    squares = np.where((x // 8 + y // 8) % 2, 200, 255)[..., None]
    viewer = stored * opaque + squares * (1 - opaque)
    grounds = ("drop", "white", "#336699")
    return row(viewer.astype(np.uint8), *(decoded(file, alpha=ground) for ground in grounds))


def sixteen_bits() -> Pixels:
    """Clipped, as tfstream; then a dark scan, brightened: from 8 bits, from 16."""
    gray = lit(parts()).mean(axis=-1)
    bright = np.rint(gray * 65_535).astype(np.uint16)
    clipped = np.minimum(bright, 255).astype(np.uint8)[..., None]
    dark = encode(bright // 16, "PNG")
    from_8 = decoded(dark, color_mode="grayscale") * 16
    from_16 = decoded(dark, color_mode="grayscale", dtype="uint16") // 16
    return row(clipped, decoded(encode(bright, "PNG")), from_8, from_16)


def gray() -> Pixels:
    """In colours, `grayscale`."""
    file = encode(scene(), "PNG")
    return row(decoded(file), decoded(file, color_mode="grayscale"))


def palette() -> Pixels:
    """The numbers as they are stored, the colours they stand for."""
    file = io.BytesIO()
    with_palette(parts()).save(file, "BMP")
    return row(parts()[..., None] * 50, decoded(file.getvalue()))


def with_palette(numbers: Pixels) -> Image.Image:
    """Numbers of parts as an image that names their colours."""
    image = Image.frombytes("P", numbers.shape[::-1], numbers.tobytes())
    image.putpalette(PAINT.tobytes())
    return image


def cmyk() -> Pixels:
    """Cyan, magenta, yellow and black as they are stored, and the colours."""
    rgb = lit(parts())
    most = rgb.max(axis=-1, keepdims=True)
    inks = as_bytes(np.concatenate([1 - rgb / most, 1 - most], axis=-1))
    image = Image.merge("CMYK", [Image.fromarray(ink) for ink in np.moveaxis(inks, -1, 0)])
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95, subsampling=0)
    return row(
        *(255 - ink[..., None] for ink in np.moveaxis(inks, -1, 0)), decoded(file.getvalue())
    )


def gamma() -> Pixels:
    """As tfstream, which does not look at it; as a viewer shows a file with a gamma of 1."""
    file, chunk = encode(scene(), "PNG"), b"gAMA" + (100_000).to_bytes(4, "big")
    chunk = (4).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
    numbers = decoded(file[:33] + chunk + file[33:])  # behind the first chunk, IHDR
    return row(numbers, as_bytes((numbers / 255) ** (1 / 2.2)))


def orientation() -> Pixels:
    """The orientations 1 to 8: above with `ignore`, below with `apply`."""
    files = [_turned(number) for number in range(1, 9)]
    rows = [row(*all_decoded(files, orientation=rule)) for rule in ("ignore", "apply")]
    return np.concatenate(rows)


def _turned(number: int) -> bytes:
    """An upright scene as a camera stores it that writes this orientation."""
    turn = Image.Transpose
    undone = {
        2: turn.FLIP_LEFT_RIGHT,
        3: turn.ROTATE_180,
        4: turn.FLIP_TOP_BOTTOM,
        5: turn.TRANSPOSE,
        6: turn.ROTATE_90,
        7: turn.TRANSVERSE,
        8: turn.ROTATE_270,
    }
    image, exif = Image.fromarray(scene(48, 64)), Image.Exif()
    exif[0x0112] = number
    image = image.transpose(undone[number]) if number in undone else image
    file = io.BytesIO()
    image.save(file, "PNG", exif=exif)
    return file.getvalue()


def animation() -> Pixels:
    """Three frames, and what comes out."""
    frames = [with_palette(parts(sun=sun)) for sun in (0.2, 0.35, 0.5)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    shown = [np.asarray(frame.convert("RGB")) for frame in frames]
    return row(*shown, decoded(file.getvalue()))


def screen() -> Pixels:
    """A GIF's frame, and what comes out: its screen."""
    frame = PAINT[parts()[40:110, 60:150]]
    file = gif(frame, screen=(WIDTH, HEIGHT), at=(60, 40))
    return row(frame, decoded(file))


def scaled() -> Pixels:
    """Of a photograph of fine cloth: `off`, `auto`, and the difference four times."""
    height, width = 10 * HEIGHT, 10 * WIDTH
    y, x = np.mgrid[0:height, 0:width]
    cloth = np.where((x + 2 * y) % 28 < 14, 0.75, 1)[..., None]
    file = encode(as_bytes(lit(parts(height, width)) * cloth), "JPEG", quality=95, subsampling=0)
    off, auto = (decoded(file, scaled=how, image_size=(HEIGHT, WIDTH)) for how in ("off", "auto"))
    return row(off, auto, np.clip(4 * abs(off - auto), 0, 255))


def masks() -> Pixels:
    """An image, its mask in a viewer, and the mask's numbers at a quarter of the size."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "images").mkdir()
        (folder / "masks").mkdir()
        Image.fromarray(scene()).save(folder / "images/1.png")
        with_palette(parts()).save(folder / "masks/1.png")
        pairs = tfstream.from_url(
            folder / "images",
            labels=ImageLabels(f"{folder}/masks/*.png"),
            batch_size=None,
            image_size=(HEIGHT // 4, WIDTH // 4),
            verbose=False,
        )
        _, mask = next(iter(pairs))
    numbers = mask.numpy().repeat(4, axis=0).repeat(4, axis=1)
    return row(scene(), np.asarray(with_palette(parts()).convert("RGB")), numbers * 50)


def damaged() -> Pixels:
    """A whole JPEG, and one that lost bytes in its middle."""
    file = encode(scene(), "JPEG", quality=95, subsampling=0)
    middle = len(file) // 2
    return row(decoded(file), decoded(file[:middle] + file[middle + 500 :]))


PICTURES: dict[str, Callable[[], Pixels]] = {
    make.__name__: make
    for make in (
        *(alpha, sixteen_bits, gray, palette, cmyk, gamma, orientation),
        *(animation, screen, scaled, masks, damaged),
    )
}


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        Image.fromarray(make()).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
