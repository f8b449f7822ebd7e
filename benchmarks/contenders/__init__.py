"""
What is compared: one file each, run in a process of its own by `python -m`.

A contender's file has one function, `open_batches(job)`; the clock is `benchmarks.measure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.environments import PROJECT


@dataclass(frozen=True, kw_only=True)
class Contender:
    """
    One way to read.

    Attributes:
        title: For tables.
        module: In this package.
        store: What it reads from.
        environment: Its Python environment, a file in `environments/`.
        in_flight: Requests at the same time; 0 is whatever its library does by itself.
        arguments: For its module.
        compared: It delivers batches of images, as the others do.
    """

    title: str
    module: str
    store: Literal["disk", "s3", "lakefs"]
    environment: str = PROJECT
    in_flight: int = 64
    arguments: tuple[str, ...] = ()
    compared: bool = True


LOCAL = "local"
"""The contender that all are compared with."""

CONTENDERS = {
    LOCAL: Contender(title="tf.data, local disk", module="local", store="disk"),
    "keras": Contender(
        title="image_dataset_from_directory, local disk", module="keras_folder", store="disk"
    ),
    "tfstream-folder": Contender(
        title="tfstream, local disk", module="tfstream_folder", store="disk"
    ),
    "tfstream-folder-scaled": Contender(
        title="tfstream, local disk, scaled decoding",
        module="tfstream_folder",
        store="disk",
        arguments=("scaled",),
        compared=False,
    ),
    "pillow-threads": Contender(
        title="Pillow in a thread a core, local disk",
        module="pillow_threads",
        store="disk",
        compared=False,
    ),
    "header-look": Contender(title="tfstream", module="look", store="disk", compared=False),
    "tfstream-s3": Contender(title="tfstream, S3", module="tfstream_s3", store="s3"),
    "tfstream-lakefs": Contender(
        title="tfstream, lakeFS", module="tfstream_lakefs", store="lakefs"
    ),
    "generator-lakefs-spec": Contender(
        title="from_generator + lakefs-spec + Pillow",
        module="generator",
        store="lakefs",
        environment="generators",
    ),
    "py-function-lakefs-spec": Contender(
        title="py_function + lakefs-spec, AUTOTUNE",
        module="py_function",
        store="lakefs",
        environment="generators",
        in_flight=0,
    ),
    "generator-s3fs": Contender(
        title="from_generator + s3fs + Pillow",
        module="generator",
        store="s3",
        environment="generators",
    ),
    "generator-s3fs-cat": Contender(
        title="from_generator + s3fs bulk cat, decode in graph",
        module="generator_cat",
        store="s3",
        environment="generators",
    ),
    "py-function-s3fs": Contender(
        title="py_function + s3fs, AUTOTUNE",
        module="py_function",
        store="s3",
        environment="generators",
        in_flight=0,
    ),
    "py-function-s3fs-64": Contender(
        title="py_function + s3fs, 64 calls in parallel",
        module="py_function",
        store="s3",
        environment="generators",
    ),
    "grain-obstore": Contender(
        title="Grain over obstore, 64 threads",
        module="grain_obstore",
        store="s3",
        environment="grain",
    ),
    "tensorflow-io": Contender(
        title="tensorflow-io s3:// (TensorFlow 2.16), AUTOTUNE",
        module="tensorflow_io",
        store="s3",
        environment="tensorflow-io",
        in_flight=0,
    ),
    "tensorflow-io-64": Contender(
        title="tensorflow-io s3:// (TensorFlow 2.16), 64 calls in parallel",
        module="tensorflow_io",
        store="s3",
        environment="tensorflow-io",
    ),
    "webdataset": Contender(
        title="WebDataset tar through curl, 2 workers",
        module="webdataset_tar",
        store="s3",
        environment="webdataset",
    ),
    "litdata-chunks": Contender(
        title="LitData, optimised chunks, 2 workers",
        module="litdata_chunks",
        store="s3",
        environment="litdata",
    ),
    "litdata-raw": Contender(
        title="LitData, single files, 2 workers",
        module="litdata_raw",
        store="s3",
        environment="litdata",
    ),
    "fetch-obstore": Contender(
        title="bare obstore in 64 threads", module="fetch_obstore", store="s3", compared=False
    ),
    "fetch-tfstream": Contender(
        title="tfstream, undecoded", module="fetch_tfstream", store="s3", compared=False
    ),
    "fit-local": Contender(
        title="tf.data, local disk",
        module="fit",
        store="disk",
        arguments=("local",),
        compared=False,
    ),
    "fit-tfstream-s3": Contender(
        title="tfstream, S3",
        module="fit",
        store="s3",
        arguments=("tfstream_s3",),
        compared=False,
    ),
    "far-positions": Contender(title="tfstream", module="positions", store="disk", compared=False),
    "service-s3": Contender(
        title="tfstream, S3, two workers of tf.data service",
        module="service",
        store="s3",
        compared=False,
    ),
    "load-manifest": Contender(title="tfstream", module="manifest", store="disk", compared=False),
}
