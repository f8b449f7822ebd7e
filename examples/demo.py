"""
Train on real images that are streamed from a real object store, and say how well and how fast.

The same pictures are stored twice, as 1,797 PNG files in class folders and as gzip IDX shards,
and a small network is trained on each. Ends with 1 where it gets less than 95 % right.

    python -m examples.demo                 from a lakeFS server of its own
    python -m examples.demo --store s3      from an S3 server inside this process
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from examples.digits import as_objects, digest
from examples.upload import upload
from servers.lakefs import LakeFSServer, RequestFailed, find_or_install
from servers.process import ServerUnavailable, isolate
from servers.s3 import MotoServer

if TYPE_CHECKING:
    from tfstream import StreamDataset

STATE = Path(__file__).parent.parent / ".tfstream" / "demo"
EPOCHS = 6
GOAL = 0.95
PATTERNS = {"PNG files in class folders": "train/**", "gzip IDX shards": "idx/*.gz"}

Pair = tuple["StreamDataset", "StreamDataset"]
Open = partial["Pair"]


# What a program of yours would have: one call of tfstream, a model, `fit`.


def from_lakefs(server: LakeFSServer, pattern: str, **options: Any) -> Pair:
    """The pictures of the branch `main`, as it is now."""
    import tfstream

    where: dict[str, Any] = {"endpoint": server.endpoint, "credentials": server.credentials}
    return tfstream.from_lakefs("digits", "main", pattern, **where, **options)


def from_s3(server: MotoServer, pattern: str, **options: Any) -> Pair:
    """The pictures of the bucket."""
    import tfstream

    where: dict[str, Any] = {"endpoint": server.endpoint, "credentials": server.credentials}
    return tfstream.from_s3("digits", pattern, **where, **options)


def model_for_digits() -> Any:
    """A small network, the same each time."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Rescaling(1 / 255),
            layers.Conv2D(32, 5, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    optimizer = keras.optimizers.Adam(0.004)
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def train(open_dataset: Open, pattern: str, pictures: int) -> float:
    """The part of the validation pictures that comes out right."""
    import keras

    training, validation = open_dataset(
        pattern,
        image_size=(16, 16),
        color_mode="grayscale",
        validation_split=0.2,
        subset="both",
        seed=1,
    )
    ends: list[float] = []
    clock = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: ends.append(time.perf_counter()))
    history = model_for_digits().fit(
        training,
        validation_data=validation,
        epochs=EPOCHS,
        shuffle=False,  # the dataset does that already; Keras 3.15 would warn
        verbose=2,
        callbacks=[clock],
    )
    accuracy = float(history.history["val_accuracy"][-1])
    speed = pictures * (EPOCHS - 1) / (ends[-1] - ends[0])  # the first epoch builds the graph
    describe(training, accuracy, speed)
    return accuracy


def describe(training: StreamDataset, accuracy: float, speed: float) -> None:
    """What was read, how well it was learnt, and how fast."""
    stats = training.stats()
    say("commit", training.commit or "none: S3 has no commits; the spec pins the listing")
    say("classes", " ".join(training.class_names or ()))
    say("accuracy", f"{accuracy:.1%} of the validation pictures, after {EPOCHS} epochs")
    say("speed", f"{speed:,.0f} images per second, trained and validated")
    say(
        "read",
        f"{stats.objects:,} objects, {stats.bytes / 1e6:.1f} MB, "
        f"{stats.requests:,} requests, {stats.retries:,} retries (both parts)",
    )
    say("spec", training.spec.to_json())


# The rest makes a store and puts the pictures there.


@contextmanager
def lakefs_store(binary: Path, folder: Path, objects: Mapping[str, bytes]) -> Iterator[Open]:
    """A lakeFS server that has the pictures committed, perhaps since an earlier run."""
    with LakeFSServer(folder, binary=binary) as server:
        say("lakeFS", f"{server.endpoint}, state in {folder}")
        message = f"handwritten digits {digest(objects)}"
        try:
            there = server.request("GET", "/repositories/digits/commits/main")["message"]
        except RequestFailed as error:
            if error.status != 404:
                raise
            server.create_repository("digits")
            there = None
        if there == message:
            say("upload", f"{len(objects):,} objects are there from an earlier run")
        else:
            upload(objects, partial(server.upload, "digits", "main"))
            server.commit("digits", "main", message)
        yield partial(from_lakefs, server)


@contextmanager
def s3_store(objects: Mapping[str, bytes]) -> Iterator[Open]:
    """An S3 server that has the pictures in a bucket."""
    with MotoServer() as server:
        say("S3", f"{server.endpoint}, moto, in this process")
        server.create_bucket("digits")
        upload(objects, partial(server.upload, "digits"))
        yield partial(from_s3, server)


def lakefs_binary(store: str) -> Path | None:
    """The lakeFS program, or None where S3 is to be used instead."""
    if store == "s3":
        return None
    try:
        return find_or_install(progress=True)
    except ServerUnavailable as error:
        if store == "lakefs":
            raise
        print(f"\nno lakeFS server can be had here, so this runs on S3 instead:\n{error}")
        return None


def say(name: str, text: str) -> None:
    """One fact, a line."""
    print(f"   {name + ':':<10}{text}", flush=True)


def quiet_tensorflow() -> None:
    """Without TensorFlow's remarks on the machine, which hide what is said here."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # nothing else stops the remark about it


def run(store: str, state: Path) -> int:
    """The whole demo; the exit code."""
    binary = lakefs_binary(store)
    isolate(state / "home")  # from here on nothing of the user's own servers is seen
    quiet_tensorflow()
    objects = as_objects()
    pictures = sum(key.startswith("train/") for key in objects)
    print(f"\n1. A store with {pictures:,} handwritten digits (scikit-learn's, real ones)")
    with lakefs_store(binary, state / "lakefs", objects) if binary else s3_store(objects) as opened:
        results = {}
        for number, (title, pattern) in enumerate(PATTERNS.items(), start=2):
            print(f"\n{number}. Training on {title}: {opened.func.__name__}(..., {pattern!r})")
            results[title] = train(opened, pattern, pictures)
    missed = {title: accuracy for title, accuracy in results.items() if accuracy <= GOAL}
    for title, accuracy in missed.items():
        print(f"\nonly {accuracy:.1%} right with {title}; more than {GOAL:.0%} was expected")
    kept = " `make clean` removes its state." if binary else " It kept nothing."
    print(f"\nThe server has ended and its port is free.{kept}")
    return 1 if missed else 0


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--store",
        choices=("auto", "lakefs", "s3"),
        default="auto",
        help="auto: lakeFS, or S3 where lakeFS cannot be had (default)",
    )
    parser.add_argument("--state", type=Path, default=STATE, help="folder (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        return run(arguments.store, arguments.state.resolve())
    except ServerUnavailable as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; nothing is left running", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
