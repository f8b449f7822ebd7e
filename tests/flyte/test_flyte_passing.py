"""How a dataset becomes a literal and a dataset again; nothing is read for it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Union

import pytest
import tensorflow as tf

import tfstream
from tfstream import DatasetSpec, NotPortableError
from tfstream.flyte import TFDataset
from tfstream.flyte.content import of_spec, unpacked
from tfstream.flyte.passing import INLINE_BYTES, dataset_in, parcel_of

DESCRIBED = TFDataset()


def scaled(images, labels):
    """A user's stage."""
    return images / 255.0, labels


def rows(data):
    """All labels and pixels of an epoch, in order."""
    return [(images.numpy().tolist(), labels.numpy().tolist()) for images, labels in data]


@pytest.fixture
def folders(tmp_path):
    """Makes new folders, as Flyte does."""

    def new():
        new.count += 1
        folder = tmp_path / f"folder-{new.count}"
        folder.mkdir()
        return str(folder)

    new.count = 0
    return new


@pytest.fixture
def literal1(engine):
    """What flytekit makes of a value, and back."""
    from flytekit.core.context_manager import ExecutionState, FlyteContextManager

    engine._LITERAL_CACHE.clear()  # of other tests' equal values

    def to_literal(value, kind):
        context = FlyteContextManager.current_context()
        return engine.to_literal(context, value, kind, engine.to_literal_type(kind))

    def to_value(literal, kind):
        context = FlyteContextManager.current_context()
        state = context.execution_state.with_params(
            mode=ExecutionState.Mode.LOCAL_WORKFLOW_EXECUTION
        )
        with FlyteContextManager.with_context(context.with_execution_state(state)) as local:
            return engine.to_python_value(local, literal, kind)

    return to_literal, to_value


def test_a_dataset_as_it_was_opened_is_its_spec(data, folders):
    """No graph travels where the spec says all."""
    assert (of_spec(data.spec), None) == parcel_of(data, DESCRIBED, folders)


@pytest.mark.slow
@pytest.mark.parametrize(
    "derive",
    [
        lambda data: data.map(scaled),
        lambda data: data.epochs(2),
        lambda data: data.map_with_seed(lambda images, labels, seed: (images, labels)),
    ],
    ids=["map", "epochs", "map_with_seed"],
)
def test_what_a_spec_does_not_say_is_a_graph(data, folders, derive):
    """Stages, numbered epochs and seeded functions are not lost."""
    content, folder = parcel_of(derive(data), DESCRIBED, folders)
    assert ("graph", None) == (content["form"], folder)
    again = dataset_in(content, None, tf.data.Dataset, allow_local=True)
    assert rows(derive(data)) == rows(again)


def test_a_large_graph_is_in_a_folder(data, folders):
    """Literals are messages: over a megabyte the graph is stored beside them."""
    noise = tf.random.stateless_uniform([INLINE_BYTES // 4], [1, 2])
    large = data.map(lambda images, labels: (images + noise[0], labels))
    content, folder = parcel_of(large, DESCRIBED, folders)
    assert {"tfstream_dataset": 1, "form": "graph"} == content
    content["folder"] = str(folder)
    again = dataset_in(content, folder, tf.data.Dataset, allow_local=True)
    assert rows(large) == rows(again)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["save", "snapshot"])
def test_elements_travel_where_that_is_asked(data, folders, mode):
    """They are what was written: another epoch is not read anew, though its order is another."""
    content, folder = parcel_of(data.map(scaled), TFDataset(mode=mode), folders)
    content["folder"] = str(folder)
    again = dataset_in(content, folder, tf.data.Dataset, allow_local=True)
    assert rows(again) == rows(again)
    assert 12 == sum(len(labels) for _, labels in rows(again))
    assert content == parcel_of(again, DESCRIBED, folders).content  # on to the next task


def test_an_endless_dataset_is_not_saved(data, folders):
    """It would fill the disk."""
    with pytest.raises(NotPortableError, match="without an end"):
        parcel_of(data.repeat(), TFDataset(mode="save"), folders)


def test_modes_are_checked():
    """Another mode is an error that names them."""
    with pytest.raises(ValueError, match=r"'describe', 'save', 'snapshot'.*Received: 'pickle'"):
        TFDataset(mode="pickle")


def test_local_files_only_where_flyte_is_local(data, folders):
    """A graph with a folder of another machine is not opened here."""
    content, _ = parcel_of(data.map(scaled), DESCRIBED, folders)
    with pytest.raises(NotPortableError, match="allow_local"):
        dataset_in(content, None, tf.data.Dataset, allow_local=False)


def test_a_subclass_gets_what_it_says(data, folders):
    """An input annotated as StreamDataset takes a spec, not a graph."""
    spec = parcel_of(data, DESCRIBED, folders).content
    kind = tfstream.StreamDataset
    assert isinstance(dataset_in(spec, None, kind, allow_local=True), kind)
    graph = parcel_of(data.map(scaled), DESCRIBED, folders).content
    with pytest.raises(NotPortableError, match="the input is a StreamDataset, but what came is"):
        dataset_in(graph, None, kind, allow_local=True)


def test_augmentation_stays_random(data, folders):
    """A graph has the stage, not what it gave: where it is read, each epoch is another."""
    derived = data.map(lambda images, labels: (images + tf.random.uniform([]), labels))
    content, _ = parcel_of(derived, DESCRIBED, folders)
    again = dataset_in(content, None, tf.data.Dataset, allow_local=True)
    sums = {sum(float(tf.reduce_sum(images)) for images, _ in again) for _ in range(2)}
    assert 2 == len(sums)


def test_both_types_are_the_same_in_flytekit(engine):
    """So each feeds the other, and the cache knows both by the same key."""
    one, other = (engine.to_literal_type(kind) for kind in (DatasetSpec, tf.data.Dataset))
    assert one.to_flyte_idl() == other.to_flyte_idl()
    assert DatasetSpec is engine.guess_python_type(one)


def test_both_types_are_the_same_in_flyte_2(engine2):
    """And so is what they are guessed as."""
    one, other = (engine2.to_literal_type(kind) for kind in (DatasetSpec, tf.data.Dataset))
    assert one == other
    assert DatasetSpec is engine2.guess_python_type(one)


def test_other_types_are_not_guessed(engine):
    """A STRUCT of somebody else stays theirs."""
    with pytest.raises(ValueError, match="no DatasetSpec"):
        engine.get_transformer(DatasetSpec).guess_python_type(engine.to_literal_type(dict))


def test_both_sdks_write_the_same(engine, engine2, data, literal1):
    """The same bytes, of a spec and of a dataset."""

    async def bytes2(value, kind):
        literal = await engine2.to_literal(value, kind, engine2.to_literal_type(kind))
        return literal.scalar.binary.value

    for value, kind in ((data.spec, DatasetSpec), (data, tf.data.Dataset)):
        ours = literal1[0](value, kind).scalar.binary.value
        assert ours == asyncio.run(bytes2(value, kind))
        assert of_spec(data.spec) == unpacked(ours)


def test_old_servers_get_structs(literal1, data, monkeypatch):
    """With flytekit's own switch: the same spec, a graph beside the literal, no rounded seed."""
    to_literal, to_value = literal1
    monkeypatch.setenv("FLYTE_USE_OLD_DC_FORMAT", "true")
    for value, kind in ((data.spec, DatasetSpec), (data, tf.data.Dataset)):
        literal = to_literal(value, kind)
        assert literal.scalar.binary is None
        assert data.spec == to_value(literal, DatasetSpec)
    graph = to_literal(data.map(scaled), tf.data.Dataset)
    assert {"tfstream_dataset", "form", "folder"} == set(graph.scalar.generic)
    assert rows(data.map(scaled)) == rows(to_value(graph, tf.data.Dataset))
    large = data.spec.replace(order=replace(data.spec.order, seed=2**53 + 1))
    with pytest.raises(Exception, match="an integer that no double holds"):
        to_literal(large, DatasetSpec)


def test_a_union_is_not_ambiguous(literal1, data):
    """A value of `DatasetSpec | tf.data.Dataset` comes back as what it was."""
    to_literal, to_value = literal1
    kind = Union[DatasetSpec, tf.data.Dataset]  # noqa: UP007 what users write
    assert data.spec == to_value(to_literal(data.spec, kind), kind)
    assert isinstance(to_value(to_literal(data.map(scaled), kind), kind), tf.data.Dataset)


def test_a_graph_feeds_no_spec(literal1, data):
    """It is refused by name, with the way out."""
    to_literal, to_value = literal1
    graph = to_literal(data.map(scaled), tf.data.Dataset)
    with pytest.raises(Exception, match=r"the 'graph' of .*: annotate the input as tf\.data"):
        to_value(graph, DatasetSpec)


def test_annotations_of_others_do_no_harm(literal1, data):
    """Only ours is looked at."""
    kind = Annotated[tf.data.Dataset, "a note", TFDataset(mode="save"), 5]
    literal = literal1[0](data, kind)
    assert "save" == unpacked(literal.scalar.binary.value)["form"]
    assert 12 == sum(len(labels) for _, labels in rows(literal1[1](literal, kind)))


def test_errors_have_a_text(literal1, data):
    """Flyte shows `args[0]`, which TensorFlow's errors have not got."""
    from flytekit.core.type_engine import TypeTransformerFailedError

    broken = data.map(lambda images, labels: (tf.debugging.assert_equal(1, labels), labels)[1])
    with pytest.raises(TypeTransformerFailedError) as caught:
        literal1[0](broken, Annotated[tf.data.Dataset, TFDataset(mode="save")])
    assert "InvalidArgumentError: " in caught.value.args[0]


def test_other_values_are_refused(engine, literal1):
    """A list is not a dataset."""
    from flytekit.core.type_engine import TypeTransformerFailedError

    for kind in (DatasetSpec, tf.data.Dataset):
        with pytest.raises(TypeTransformerFailedError):
            literal1[0]([1], kind)
        with pytest.raises(TypeTransformerFailedError, match="neither a DatasetSpec nor"):
            literal1[1](literal1[0](5, int), kind)
