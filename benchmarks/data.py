"""
The sets of photographs, as class folders of JPEGs under the state folder.

    26kB  the 713 clothing photographs, as they are (without them: made ones, and it says so)
    90kB  2,000 of 192,000 pixels made from them by scaling up, 85 to 90 kB on average
    12MP  64 of 3,000 x 4,000 pixels made from them, as a phone takes them
    CMYK  400 of the second set's, as CMYK JPEGs: Pillow has to decode those

Each is made once; the file `about.json` in a set's folder says that it is complete.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter, ImageOps
from rich.progress import track

from benchmarks.paths import PROJECT_ROOT, STATE

SETS = ("26kB", "90kB", "12MP", "CMYK")
LARGE_COUNT = 2000
HUGE_COUNT, HUGE_SIZE = 64, (3000, 4000)
CMYK_COUNT = 400
LARGE_PIXELS = 192_000
LARGE_BYTES = 87_500  # the middle of 85 to 90 kB
MADE_COUNT = 713
SHARPEN = ImageFilter.UnsharpMask(radius=1.5, percent=200, threshold=0)
"""Gives scaled-up photographs fine detail again, and quality steps of 10 % of the bytes."""


@dataclass(frozen=True, kw_only=True)
class PhotoSet:
    """
    One set on this disk.

    Attributes:
        name: One of `SETS`, also its prefix in the stores.
        folder: Has one folder a class.
        count: Photographs.
        mean_bytes: Of one file.
        real: False where the photographs had to be made up.
    """

    name: str
    folder: Path
    count: int
    mean_bytes: int
    real: bool

    def files(self) -> list[Path]:
        """All of them, in a fixed order."""
        return sorted(self.folder.glob("*/*.jpg"))


def photo_set(name: str) -> PhotoSet:
    """One of `SETS`, which is made first where it is missing."""
    folder = STATE / "photographs" / name
    about = folder / "about.json"
    source = photographs()
    real = source is not None
    if not about.exists() or json.loads(about.read_text())["real"] != real:
        shutil.rmtree(folder, ignore_errors=True)
        writers = (_write_small, _write_large, _write_huge, _write_cmyk)
        write = dict(zip(SETS, writers, strict=True))[name]
        sizes = [len(data) for data in write(folder, source)]
        made = PhotoSet(
            name=name,
            folder=folder,
            count=len(sizes),
            mean_bytes=sum(sizes) // len(sizes),
            real=real,
        )
        about.write_text(json.dumps(asdict(made) | {"folder": None}))
    return PhotoSet(**json.loads(about.read_text()) | {"folder": folder})


def photographs() -> Path | None:
    """The folder of the real photographs, or None where this machine does not have it."""
    root = Path(os.environ.get("TFSTREAM_TEST_DATA") or PROJECT_ROOT.parent / "shared" / "data")
    folder = root / "clothing"
    return folder if folder.is_dir() else None


def _write_small(folder: Path, source: Path | None) -> Iterator[bytes]:
    for kind, name, data in track(list(_originals(source)), "26kB photographs"):
        yield _write(folder / kind / f"{name}.jpg", data)


def _write_large(folder: Path, source: Path | None) -> Iterator[bytes]:
    originals = list(_originals(source))
    quality = _quality([data for _kind, _name, data in originals[::10]])
    for number in track(range(LARGE_COUNT), "90kB photographs"):
        kind, name, data = originals[number % len(originals)]
        variant = number // len(originals)
        target = folder / kind / f"{name}-{variant}.jpg"
        yield _write(target, _encode(_scaled(data, variant), quality))


def _write_huge(folder: Path, source: Path | None) -> Iterator[bytes]:
    originals = list(_originals(source))[:: MADE_COUNT // HUGE_COUNT][:HUGE_COUNT]
    for kind, name, data in track(originals, "12MP photographs"):
        with Image.open(io.BytesIO(data)) as original:
            picture = original.convert("RGB").resize(HUGE_SIZE, Image.Resampling.BICUBIC)
        yield _write(folder / kind / f"{name}.jpg", _encode(picture.filter(SHARPEN), 90))


def _write_cmyk(folder: Path, source: Path | None) -> Iterator[bytes]:
    originals = list(_originals(source))[:CMYK_COUNT]
    for kind, name, data in track(originals, "CMYK photographs"):
        picture = _scaled(data, 0).convert("CMYK")
        yield _write(folder / kind / f"{name}.jpg", _encode(picture, 90))


def _write(path: Path, data: bytes) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return data


def _originals(source: Path | None) -> Iterator[tuple[str, str, bytes]]:
    """Class, name and bytes of each original; made ones where there is no real one."""
    if source is not None:
        for path in sorted(source.glob("*/*/*.jpg")):
            yield path.parent.name, path.stem, path.read_bytes()
        return
    for number in range(MADE_COUNT):
        yield f"class-{number % 10}", f"{number:04}", _encode(_made(number), 80)


def _made(number: int) -> Image.Image:
    """Noise at all scales, the finer the weaker, as in photographs."""
    random = np.random.default_rng(number)
    total = np.zeros((533, 400, 3))
    for power in range(2, 9):
        noise = random.integers(0, 256, (2**power * 4 // 3, 2**power, 3), dtype=np.uint8)
        total += np.asarray(Image.fromarray(noise).resize((400, 533)), float) / 1.6**power
    span = np.ptp(total)
    return Image.fromarray(((total - total.min()) / span * 255).astype(np.uint8))


def _scaled(data: bytes, variant: int) -> Image.Image:
    """One of three different pictures of one original, all of `LARGE_PIXELS`."""
    with Image.open(io.BytesIO(data)) as original:
        picture = original.convert("RGB")
    width, height = picture.size
    inset = variant * 0.06  # a larger variant shows less of the original
    picture = picture.crop((int(width * inset), 0, int(width * (1 - inset)), height))
    if variant == 1:
        picture = ImageOps.mirror(picture)
    factor = (LARGE_PIXELS / (picture.width * picture.height)) ** 0.5
    size = (round(picture.width * factor), round(picture.height * factor))
    larger: Image.Image = picture.resize(size, Image.Resampling.BICUBIC)
    return larger.filter(SHARPEN)


def _quality(originals: list[bytes]) -> int:
    """The JPEG quality that comes nearest to `LARGE_BYTES` on average."""
    pictures = [_scaled(data, number % 3) for number, data in enumerate(originals)]

    def error(quality: int) -> float:
        return abs(sum(len(_encode(p, quality)) for p in pictures) / len(pictures) - LARGE_BYTES)

    return min(range(60, 101), key=error)


def _encode(picture: Image.Image, quality: int) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return file.getvalue()
