"""What `import tfstream` loads and costs, and what works where packages are absent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import tfstream

CLIENTS = ["PIL", "aiohttp", "boto3", "botocore", "fsspec", "obstore", "urllib3", "yaml"]
HEAVY = [*CLIENTS, "keras", "numpy", "tensorflow"]
TENSORFLOW = 'pip install "tfstream[tf]"'

COST = """
import json, sys, time
before = time.process_time()
import tfstream
seconds = time.process_time() - before
print(json.dumps({"seconds": seconds, "loaded": sorted(sys.modules)}))
"""

HIDE = """
import sys

class Hidden:
    names = set(sys.argv[1:])

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
import tfstream
from tfstream import DatasetSpec, ImageDecoder, MissingDependencyError, ReadOptions, S3Source
"""

SPEC = """
spec = DatasetSpec(source=S3Source(bucket="photos", pattern="train/**"), decoder=ImageDecoder())
"""

ROUND_TRIP = (
    SPEC
    + """
again = DatasetSpec.from_json(spec.to_json())
print(again == spec, again.digest == spec.digest, "photos" in repr(again))
"""
)

NAMES = """
for name in tfstream.__all__:
    try:
        getattr(tfstream, name)
    except MissingDependencyError as error:
        print(name, error)
"""

CALLS = (
    SPEC
    + """
pinned = spec.replace(manifest="sha256:" + "0" * 64, records=1)
for call in (
    lambda: tfstream.from_s3("photos", endpoint="http://127.0.0.1:9"),
    lambda: tfstream.from_lakefs("photos", "main", endpoint="http://127.0.0.1:9"),
    lambda: tfstream.from_url("no-such-folder"),
    lambda: tfstream.load(pinned),
):
    try:
        call()
    except MissingDependencyError as error:
        print(error)
"""
)

OPEN = """
try:
    S3Source(bucket="photos").open(None, ReadOptions()).list_page("")
except MissingDependencyError as error:
    print(error)
"""


def run(code, *hidden):
    """What a new Python prints that runs `code`, for which the packages `hidden` are absent."""
    root = str(Path(tfstream.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    command = [sys.executable, "-W", "error", "-c", code, *hidden]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


def test_import_is_light():
    """`import tfstream` loads neither TensorFlow nor any client, and no numpy either."""
    loaded = json.loads(run(COST))["loaded"]
    assert [] == [name for name in HEAVY if name in loaded]


def test_import_is_fast():
    """`import tfstream` takes less than 0.3 s of CPU; of five times the best one counts."""
    assert min(json.loads(run(COST))["seconds"] for _ in range(5)) < 0.3


def test_a_spec_needs_no_packages():
    """Without TensorFlow and every client there are specs, their JSON and their digests."""
    assert "True True True\n" == run(HIDE + ROUND_TRIP, *HEAVY)


def test_names_say_what_they_need():
    """Without TensorFlow and every client only what is a graph is out of reach, and says why."""
    names = ("StreamDataset", "distribute", "from_graph", "spec_of", "to_graph")
    told = "".join(f"{name} {TENSORFLOW}\n" for name in names)
    assert told == run(HIDE + NAMES, *CLIENTS, "tensorflow", "keras")


def test_functions_say_what_they_need():
    """Without TensorFlow every function says so first, before it looks at any source."""
    assert f"{TENSORFLOW}\n" * 4 == run(HIDE + CALLS, "tensorflow", "keras")


def test_s3_says_what_it_needs():
    """Where keys have to be looked for and botocore is absent, the pip line is the error."""
    assert 'pip install "tfstream[s3]"\n' == run(HIDE + OPEN, "botocore", "boto3")
