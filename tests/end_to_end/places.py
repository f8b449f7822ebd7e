"""
Stores with pictures that encode their label, each behind a proxy that injects faults.

```python
def test_it(place):                                 # lakeFS and S3, in turn
    place.put(classes())                            # and committed, where there are commits
    place.proxy.add(Fault("reset", match="1.png"))
    assert EXPECTED == examples(place.open("train/**"))
```
"""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import numpy as np
from moto.s3.models import s3_backends
from PIL import Image

import tfstream
from tfstream import ReadOptions
from tfstream.testing.odd_keys import ODD_KEYS
from tfstream.testing.proxy import Fault

SIZE = (4, 4)
BRIEF = ReadOptions(attempts=3, backoff=0.001, backoff_max=0.01, read_timeout=5)
"""Does not wait between attempts."""


def picture(value):
    """A gray PNG all of whose pixels are `value`."""
    file = io.BytesIO()
    Image.new("L", SIZE, value).save(file, "PNG")
    return file.getvalue()


def classes(count=3, each=4, folder="train"):
    """`train/0/0.png` and so on; picture k of class c has the value 50 c + k."""
    return {
        f"{folder}/{label}/{number}.png": picture(50 * label + number)
        for label in range(count)
        for number in range(each)
    }


def expected(count=3, each=4):
    """The (value, label) of every picture in `classes`, sorted."""
    return [(50 * label + number, label) for label in range(count) for number in range(each)]


def examples(data):
    """The (value, label) of every example of one epoch of batches, in their order."""
    return [
        (int(image.flat[0]), int(label))
        for images, labels in data
        for image, label in zip(images.numpy(), labels.numpy(), strict=True)
    ]


def values(data):
    """The value of every picture of one epoch of unlabelled batches, in their order."""
    return [int(image.flat[0]) for images in data for image in images.numpy()]


class Place:
    """A new, empty location of a store. `server` and `proxy` are shared by all tests."""

    def __init__(self, server, proxy):
        self.server, self.proxy = server, proxy
        self.credentials = server.credentials
        self.name = f"place-{uuid.uuid4().hex[:12]}"
        self.create()

    def put(self, objects):
        """Store them; committed where there are commits."""
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(self.upload, objects, objects.values()))
        self.seal()

    def seal(self):
        """Commit, where there are commits."""

    def open(self, pattern="**", **common):
        """The dataset through the proxy; forgets the requests that made it."""
        common = {"verbose": False, "image_size": SIZE, "batch_size": 4, "options": BRIEF} | common
        common.setdefault("credentials", self.credentials)
        common.setdefault("endpoint", self.proxy.endpoint)
        return self.dataset(pattern, **common)

    def reads(self):
        """The requests for objects that passed the proxy."""
        return [request for request in self.proxy.requests if self.is_read(request)]

    def listings(self):
        """The requests for pages of a listing that passed the proxy."""
        return [request for request in self.proxy.requests if self.is_listing(request)]

    def fault(self, kind, key, **fields):
        """A fault for whoever reads the object of this key."""
        ends = quote(key, safe=""), quote(key)

        def match(request):
            return self.is_read(request) and request.target.endswith(ends)

        return Fault(kind, match=match, **fields)


class LakeFSPlace(Place):
    """A repository with the branch `main`."""

    store = "lakefs"
    odd_keys = ODD_KEYS

    def create(self):
        self.server.create_repository(self.name)

    def upload(self, key, data):
        self.server.upload(self.name, "main", key, data)

    def remove(self, key):
        self.server.request(
            "DELETE", f"/repositories/{self.name}/branches/main/objects", query={"path": key}
        )

    def seal(self):
        self.commit = self.server.commit(self.name, "main", "put")

    def dataset(self, pattern, *, ref="main", **common):
        return tfstream.from_lakefs(self.name, ref, pattern, **common)

    def ignored_ranges(self, key, data):
        """A fault that answers with the whole object, whatever part is asked for."""
        return self.fault("ignore_range", key, times=None)

    def is_read(self, request):
        gateway = request.target.startswith(f"/{self.name}/")
        return gateway or (self.name in request.target and "/objects?path=" in request.target)

    def is_listing(self, request):
        return self.name in request.target and "/objects/ls?" in request.target


class S3Place(Place):
    """A bucket."""

    store = "s3"
    odd_keys = tuple(key for key in ODD_KEYS if "\n" not in key)  # moto answers 404 to it

    def create(self):
        self.server.create_bucket(self.name)

    def put(self, objects):
        if len(objects) < 100:
            super().put(objects)
            return
        backend = s3_backends["123456789012"]["aws"]  # moto's: HTTP would take seconds
        for key, data in objects.items():
            backend.put_object(self.name, key, data)

    def upload(self, key, data):
        self.server.upload(self.name, key, data)

    def remove(self, key):
        self.server.client().delete_object(Bucket=self.name, Key=key)

    def dataset(self, pattern, **common):
        return tfstream.from_s3(self.name, pattern, **common)

    def ignored_ranges(self, key, data):
        """The same; a signed request cannot be changed, so the answer is made here."""
        etag = self.server.client().head_object(Bucket=self.name, Key=key)["ETag"]
        return self.fault("ignore_range", key, times=None, body=data, headers={"ETag": etag})

    def is_read(self, request):
        return request.target.startswith(f"/{self.name}/") and not self.is_listing(request)

    def is_listing(self, request):
        return request.target.startswith(f"/{self.name}") and "list-type=2" in request.target


def gray_idx(values):
    """gzip'd IDX files of 3 x 3 images all of whose pixels are the value, and of labels."""
    numbers = np.array(values, np.uint8)
    images = struct.pack(">HBB3I", 0, 8, 3, len(values), 3, 3) + numbers.repeat(9).tobytes()
    labels = struct.pack(">HBBI", 0, 8, 1, len(values)) + (numbers // 50).tobytes()
    return gzip.compress(images), gzip.compress(labels)


ELSEWHERE = """
import json, sys
import tfstream
from places import examples
specs = json.load(sys.stdin)
print(json.dumps([examples(tfstream.load(spec)) for spec in specs]))
"""


def elsewhere(specs):
    """The examples that another process gets from these specs."""
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(folder.parent.parent)])
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=json.dumps(specs),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert 0 == run.returncode, run.stderr
    return json.loads(run.stdout)
