"""
Upload what LitData reads, once: `python -m` this with a job's file.

    litdata/SET        its optimised chunks
    litdata-raw/SET    the single files again, since it writes an index among them
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import litdata
import obstore
from obstore.store import S3Store

from benchmarks.contenders.variables import set_variables
from benchmarks.job import Job

COPIES = 4
"""Of each photograph in the chunks: a new pass starts its workers anew, so passes are long."""


def element(path: str) -> bytes:
    return Path(path).read_bytes()


def make(job: Job) -> None:
    """Does nothing where it is there already."""
    set_variables(job)
    store = S3Store(job.container)
    there = {each["path"] for page in obstore.list(store, prefix="litdata/") for each in page}
    if f"litdata/{job.prefix}/index.json" in there:
        return
    files = sorted(Path(job.folder).glob("*/*.jpg"))
    upload(store, f"litdata-raw/{job.prefix}", files)
    folder = Path(job.scratch) / "chunks"
    paths = [str(file) for file in files] * COPIES
    litdata.optimize(element, paths, str(folder), chunk_bytes="16MB", num_workers=1, verbose=False)
    chunks = [file for file in folder.iterdir() if file.is_file()]
    chunks.sort(key=lambda each: each.name == "index.json")  # the index last: it says complete
    upload(store, f"litdata/{job.prefix}", chunks)


def upload(store: S3Store, prefix: str, files: Iterable[Path]) -> None:
    for file in files:
        obstore.put(store, f"{prefix}/{file.name}", file.read_bytes())


if __name__ == "__main__":
    make(Job.read(sys.argv[1]))
