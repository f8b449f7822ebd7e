"""What the look at each header costs, beside what decoding the same photographs takes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

import tfstream
from benchmarks.job import Job

COUNT = 200
TIMES = 5


def main() -> None:
    """Both in turn, the quickest of a few times: anything else is the machine's."""
    files = sorted(Path(Job.read(sys.argv[1]).folder).glob("*/*.jpg"))[:COUNT]
    data = [file.read_bytes() for file in files]
    decoder = tfstream.ImageDecoder()
    texts = [tf.constant(each) for each in data]
    looks, decodes = [], []
    for _ in range(TIMES):
        looks.append(_seconds(lambda: [decoder.route(each) for each in data]))
        decodes.append(_seconds(lambda: [_decoded(text) for text in texts]))
    result = {"look_us": 1e6 * min(looks), "decode_us": 1e6 * min(decodes)}
    print(json.dumps(result), flush=True)


def _decoded(text: tf.Tensor) -> tf.Tensor:
    return tf.io.decode_jpeg(text, channels=3, dct_method="INTEGER_ACCURATE")


def _seconds(work: Callable[[], list[object]]) -> float:
    start = time.perf_counter()
    count = len(work())
    return (time.perf_counter() - start) / count


if __name__ == "__main__":
    main()
