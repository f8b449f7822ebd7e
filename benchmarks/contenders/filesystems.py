"""The two fsspec filesystems, made as their documentation has it, and what lies in them."""

from __future__ import annotations

from typing import Any

from benchmarks.job import Job

CONNECTIONS = 128
"""For s3fs, which has 10 by itself: 333 objects/s at 30 ms, whatever is asked at once."""


def opened(job: Job) -> tuple[Any, list[str]]:
    """The filesystem for the job's store, and the photographs in it."""
    return {"s3": _s3, "lakefs": _lakefs}[job.store](job)


def _s3(job: Job) -> tuple[Any, list[str]]:
    import s3fs

    filesystem = s3fs.S3FileSystem(
        endpoint_url=job.endpoint,
        key=job.access_key_id,
        secret=job.secret_access_key,
        config_kwargs={"max_pool_connections": CONNECTIONS},
    )
    return filesystem, filesystem.find(f"{job.container}/{job.prefix}")


def _lakefs(job: Job) -> tuple[Any, list[str]]:
    import lakefs_spec

    filesystem = lakefs_spec.LakeFSFileSystem(
        host=job.endpoint, username=job.access_key_id, password=job.secret_access_key
    )
    return filesystem, filesystem.glob(f"{job.container}/{job.prefix}/*/*.jpg")
