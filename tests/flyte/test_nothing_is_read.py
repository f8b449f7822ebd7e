"""A store that counts requests gets none, whatever Flyte does with a spec or a dataset."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import pytest
import tensorflow as tf

import tfstream
from tfstream import DatasetSpec
from tfstream.testing.proxy import FaultProxy


@pytest.fixture
def counted(s3_server, s3_bucket, digits):
    """A proxy that counts, the dataset that it serves, and the server's keys."""
    for path in sorted(digits.rglob("*.png")):
        s3_server.upload(s3_bucket, f"{path.parent.name}/{path.name}", path.read_bytes())
    keys = {
        "access_key_id": s3_server.access_key_id,
        "secret_access_key": s3_server.secret_access_key,
    }
    with FaultProxy(s3_server.endpoint) as proxy:
        data = tfstream.from_s3(
            s3_bucket, endpoint=proxy.endpoint, credentials=keys, image_size=(4, 4), verbose=False
        )
        proxy.clear()
        yield proxy, data, keys.values()
        assert [] == proxy.requests
        assert 6 == sum(len(labels) for _, labels in data)
        assert 6 <= len(proxy.requests)  # and they would have been seen


def values(data):
    """What travels as a spec, twice, and as a graph."""
    derived = data.map(lambda images, labels: (images / 255.0, labels))
    return [(data.spec, DatasetSpec), (data, tf.data.Dataset), (derived, tf.data.Dataset)]


def test_literals_decks_and_hashes_of_flytekit(engine, counted):
    """The key of its cache is of the literal's bytes, in which there is no key of the store."""
    from flytekit.core.context_manager import FlyteContextManager
    from flytekit.core.local_cache import _calculate_cache_key
    from flytekit.models.literals import LiteralMap

    _, data, secrets = counted
    context = FlyteContextManager.current_context()
    for value, kind in values(data):
        literal = engine.to_literal(context, value, kind, engine.to_literal_type(kind))
        assert _calculate_cache_key("task", "1", LiteralMap({"data": literal}))
        shown = engine.to_html(context, value, kind)
        assert "<table>" in shown
        told = literal.to_flyte_idl().SerializeToString() + shown.encode()
        assert [] == [secret for secret in secrets if secret.encode() in told]


def test_literals_reports_and_hashes_of_flyte_2(engine2, counted):
    """The same."""
    from flyte._internal.runtime.convert import generate_inputs_hash_for_named_literals
    from flyteidl2.task.common_pb2 import NamedLiteral

    _, data, secrets = counted
    for value, kind in values(data):
        literal = asyncio.run(engine2.to_literal(value, kind, engine2.to_literal_type(kind)))
        named = [NamedLiteral(name="data", value=literal)]
        assert generate_inputs_hash_for_named_literals(named)
        shown = engine2.to_html(value, kind)
        assert "<table>" in shown
        told = literal.SerializeToString() + shown.encode()
        assert [] == [secret for secret in secrets if secret.encode() in told]


def test_serialisation_of_flytekit(engine, counted):
    """What `pyflyte serialize` does for a workflow and a launch plan with a spec as default."""
    from flytekit import LaunchPlan, task, workflow
    from flytekit.configuration import Image, ImageConfig, SerializationSettings
    from flytekit.tools.translator import get_serializable

    spec = counted[1].spec

    @task
    def count(data: tf.data.Dataset) -> int:
        return 0

    @workflow
    def wf(given: DatasetSpec = spec) -> int:
        return count(data=given)

    settings = SerializationSettings(
        image_config=ImageConfig(Image("a", "b", "c")),
        **dict.fromkeys(("project", "domain", "version"), "a"),
    )
    entities: OrderedDict = OrderedDict()
    get_serializable(entities, settings, wf)
    plan = LaunchPlan.create("plan", wf, default_inputs={"given": spec})
    assert get_serializable(entities, settings, plan).to_flyte_idl().SerializeToString()


def test_serialisation_of_flyte_2(engine2, counted):
    """What its registration of a task does, with a spec as default."""
    import flyte
    from flyte._internal.runtime.convert import convert_upload_default_inputs

    spec = counted[1].spec

    @flyte.TaskEnvironment(name="counted").task
    async def count(data: DatasetSpec = spec) -> int:
        return 0

    (parameter,) = asyncio.run(convert_upload_default_inputs(count.native_interface))
    assert parameter.parameter.default.scalar.binary.value
