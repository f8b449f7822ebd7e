"""flytekit's own programs run tasks that pass datasets, each in processes of its own."""

from __future__ import annotations

import json
import re

import pytest
import tensorflow as tf
from containers import Container, literal
from flytekit.models.literals import Literal, Scalar
from google.protobuf.json_format import Parse
from google.protobuf.struct_pb2 import Struct
from machines import unframed

import tfstream
from tfstream import DatasetSpec, ImageDecoder, LocalSource
from tfstream.flyte.content import of_spec, packed

pytestmark = pytest.mark.slow
FILES = ("spec.json", "spec.yaml")


@pytest.fixture
def jobs(machine):
    """A machine that has the tasks."""
    machine.put("jobs_v1.py")
    return machine


def count_of(ended):
    """The number that a task gave."""
    assert "" == ended.error
    return ended.output.scalar.primitive.integer


def test_every_way_and_every_place(jobs, digits):
    """
    The same examples as spec, graph, saved elements and snapshot; nothing is pickled.

    A spec feeds attributes, a list, a dict, Optional, a dataclass, `map_task`; a dataset feeds it.
    """
    lines = [("run", "jobs_v1.py", workflow, "--url", digits) for workflow in ("ways", "typed")]
    told = jobs.run_each("pyflyte", *lines).stdout
    assert "Counts(spec=12, graph=12, saved=12, kept=12)" in told
    assert "\"4 local ['0', '1', '2']\"" in told
    assert "1 StreamDataset None" in told
    assert "o2=12, o3=12, o4=[12, 12]" in told


def test_a_commit_is_counted_once(jobs, branch, digits):
    """A second run hits the cache, for each batch size; after a new commit it misses."""
    command = ("run", "jobs_v1.py", "cached_twice", "--url", branch.url)

    def counted():
        told = jobs.run("pyflyte", *command, **branch.variables).stdout
        return [int(number) for number in re.findall(r"counted (\d+)", told)]

    assert [12, 12] == counted()
    assert [] == counted()
    branch.commit({"0/one-more.png": digits / "0" / "0000.png"})
    assert [13, 13] == counted()


def test_the_command_line_takes_a_spec(jobs, data):
    """As JSON, as a file of JSON and as one of YAML; an unknown field is refused there, too."""
    text = data.spec.to_json()
    (jobs.folder / "spec.json").write_text(text)
    (jobs.folder / "spec.yaml").write_text(json.dumps(json.loads(text), indent=1))
    newer = json.dumps({**json.loads(text), "colour": "red"})
    lines = [("run", "jobs_v1.py", "given", "--spec", spec) for spec in (text, *FILES, newer)]
    done = jobs.run_each("pyflyte", *lines)
    assert [("12", "0")] * 3 == re.findall(r"^(\d+)\nended with (\d)", done.stdout, re.MULTILINE)
    assert "unknown field 'colour'" in unframed(done.stdout + done.stderr)


def test_what_cannot_travel_is_named(jobs, digits):
    """The error has the stage and the cure, not an IndexError."""
    done = jobs.run("pyflyte", "run", "jobs_v1.py", "refused", "--url", digits, fails=True)
    told = unframed(done.stdout + done.stderr)
    assert "py_function in map(lambda) cannot travel" in told
    assert "IndexError" not in told


@pytest.fixture
def stored(data, s3_server, s3_bucket):
    """The spec of the pictures in S3, and the environment of a container that may read them."""
    for number, path in enumerate(data.file_paths):
        with open(path, "rb") as file:
            s3_server.upload(s3_bucket, f"c{number % 2}/{number}.png", file.read())
    keys = {
        "access_key_id": s3_server.access_key_id,
        "secret_access_key": s3_server.secret_access_key,
    }
    opened = tfstream.from_s3(
        s3_bucket, endpoint=s3_server.endpoint, credentials=keys, image_size=(4, 4), verbose=False
    )
    variables = {f"AWS_{name.upper()}": value for name, value in keys.items()}
    return opened.spec, {**variables, "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.mark.parametrize(
    ("task", "takes", "then", "feeds"),
    [
        ("opened", "spec", "counted", "spec"),
        ("scaled", "data", "count", "data"),
        ("saved", "data", "count", "data"),
    ],
)
def test_what_a_container_gives_feeds_another(jobs, stored, task, takes, then, feeds):
    """
    A dataset feeds a spec; a graph and saved elements feed a dataset. No key is passed.

    `scaled` is fed by a Struct, which is what the console sends, and has asked for a Deck.
    """
    spec, variables = stored
    given = literal(spec, DatasetSpec)
    if task == "scaled":
        given = Literal(scalar=Scalar(generic=Parse(spec.to_json(), Struct())))
    made = Container(jobs, f"jobs_v1.{task}").run({takes: given}, **variables)
    assert 12 == count_of(Container(jobs, f"jobs_v1.{then}").run({feeds: made.output}, **variables))
    assert variables["AWS_SECRET_ACCESS_KEY"] not in made.deck + repr(made.output)
    assert (spec.manifest in made.deck) == (task == "scaled")


def test_a_container_opens_no_local_files_of_a_graph(jobs, data):
    """Only a local run does; a spec names its own source and is opened."""
    graph = literal(data.map(lambda images, labels: (images, labels)), tf.data.Dataset)
    assert "allow_local" in Container(jobs, "jobs_v1.count").run({"data": graph}).error


def test_workflows_can_be_registered(jobs):
    """
    `serialize` and `package` write every task, workflow and launch plan, and pickle nothing.

    A launch plan's default is in it as the same bytes that a task would give.
    """
    folder = jobs.folder / "jobs"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (jobs.folder / "jobs_v1.py").rename(folder / "jobs_v1.py")
    (jobs.folder / "out").mkdir()
    serialize = ("serialize", "--image", "a/b:c", "workflows", "-f", "out")
    package = ("package", "--image", "a/b:c", "-o", "jobs.tgz")
    lines = [("--pkgs", "jobs", *command) for command in (serialize, package)]
    done = jobs.run_each("pyflyte", *lines)
    written = {path.name: path.read_bytes() for path in (jobs.folder / "out").glob("*.pb")}
    default = DatasetSpec(
        source=LocalSource(root=str(jobs.folder / "photos")), decoder=ImageDecoder()
    )
    plans = [data for name, data in written.items() if "with_a_default" in name]
    assert [True] == [packed(of_spec(default)) in data for data in plans]
    assert any(b"tfstream_dataset" in data for data in written.values())
    assert not any(b"Pickle" in data for data in written.values())
    assert "Successfully packaged" in done.stdout + done.stderr
