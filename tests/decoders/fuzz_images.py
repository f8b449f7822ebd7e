"""
Images that a fuzzer makes, through both decoders: no crash, no hang, flat memory.

    pip install atheris
    python tests/decoders/fuzz_images.py -max_total_time=600

Not run by pytest: it takes as long as one lets it, and atheris is for some systems only. The
first byte of an input chooses the decoder, the rest is the file. libFuzzer prints the number of
inputs and the memory as it goes; what kills the process is left in `crash-…`, what takes
longer than 20 s in `timeout-…`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["tfstream.decoders", "PIL"]):
    from hostile_files import DECODERS, FILES, decoded

    from tfstream.errors import DecodeError


def one_input(data: bytes) -> None:
    """Pixels or a DecodeError with a kind; whatever else is raised ends the run."""
    decoder = DECODERS[data[0] % len(DECODERS) if data else 0]
    try:
        pixels = decoded(decoder, data[1:])
    except DecodeError as error:
        if not error.kind:
            raise RuntimeError("an error without a kind") from error
        return
    if not 0 < pixels.shape[0] * pixels.shape[1] <= decoder.max_pixels:
        raise RuntimeError(f"{pixels.shape} pixels")


def main() -> None:
    """Fuzz from the files of `hostile_files.py`, each once with each decoder."""
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(FILES):
            for which in range(len(DECODERS)):
                (Path(corpus) / f"{number}-{which}").write_bytes(bytes([which]) + data)
        limits = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=4096"]
        atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], corpus], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
