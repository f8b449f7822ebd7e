"""The environment variables of S3, for the contenders that read nothing else."""

from __future__ import annotations

import os

from benchmarks.job import Job


def set_variables(job: Job) -> None:
    """Has to come before the first request."""
    os.environ |= {
        "S3_ENDPOINT": job.endpoint,  # tensorflow-io
        "AWS_ENDPOINT_URL": job.endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": job.access_key_id,
        "AWS_SECRET_ACCESS_KEY": job.secret_access_key,
    }
