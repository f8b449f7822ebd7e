"""Graphs that somebody made to harm: each is refused by a named error, and nothing of it runs."""

from __future__ import annotations

import random
from functools import partial

import pytest
import tensorflow as tf

import tfstream
from tfstream import NotPortableError, SpecError
from tfstream.graph.elements import to_plain
from tfstream.graph.envelope import sealed, unsealed
from tfstream.sources.fsspec import FsspecSource
from tfstream.sources.lakefs import LakeFSSource

SMALL = {"image_size": (8, 8), "batch_size": 5, "verbose": False}
COUNT = tf.data.Dataset.range(3)
GraphDef = tf.compat.v1.GraphDef


@pytest.fixture(scope="module")
def stream(digits):
    """A harmless dataset."""
    return tfstream.from_url(digits, **SMALL)


@pytest.fixture
def graph(stream):
    """Its graph, to be changed."""
    return graph_of(stream)


def graph_of(dataset):
    """What TensorFlow writes, unchecked."""
    variant = tf.data.experimental.to_variant(dataset)
    data = tf.raw_ops.DatasetToGraphV2(input_dataset=variant, external_state_policy=1)
    return GraphDef.FromString(data.numpy())


def letter_of(graph, elements=COUNT.element_spec):
    """A graph in an envelope that is as it should be."""
    return sealed(to_plain(elements), graph.SerializeToString())


def refused(graph, text, *, allow_local=True):
    """The graph is refused, with this in the message, and with its writer."""
    with pytest.raises(NotPortableError, match=text) as error:
        tfstream.from_graph(letter_of(graph), allow_local=allow_local)
    assert f"written by tfstream {tfstream.__version__}" in str(error.value)


def ops_of_ours(graph):
    """(function, node) of each Python op."""
    return [
        (function, node)
        for function in graph.library.function
        for node in function.node_def
        if node.op == "PyFuncStateless" and node.attr["token"].s != b"tfstream.differs"
    ]


# Ops that reach out.

ran: list[object] = []


def run_python(number):
    """What no graph may run."""
    ran.append(number)
    return number


def ops(folder):
    """Datasets, each with an op that reaches out of its graph."""
    file, raw = str(folder / "file"), tf.raw_ops
    effects = {
        "read_file": lambda: raw.ReadFile(filename=file),
        "the op 'WriteFile'": lambda: raw.WriteFile(filename=file, contents="text"),
        "tf.print": lambda: tf.print("text", output_stream=f"file://{file}"),
        "the op 'SaveV2'": lambda: raw.SaveV2(
            prefix=file, tensor_names=["a"], shape_and_slices=[""], tensors=[tf.constant(1)]
        ),
        "numpy_function": lambda: tf.numpy_function(run_python, [1], tf.int64),
        "py_function": lambda: tf.py_function(run_python, [1], tf.int64),
        "the op 'DatasetFromGraph'": lambda: raw.DatasetFromGraph(graph_def="text"),
    }
    return {
        "a dataset of files": tf.data.TextLineDataset([file]),
        "a cache in files": COUNT.cache(file),
        "snapshot": COUNT.snapshot(file),
        **{text: COUNT.map(partial(after, effect)) for text, effect in effects.items()},
    }


@tf.autograph.experimental.do_not_convert
def after(effect, number):
    """The number, after an effect."""
    done = effect()
    with tf.control_dependencies([done] if done is not None else []):
        return tf.identity(number)


def test_ops_that_reach_out(tmp_path):
    """No file is read or written, and no Python runs; the error names the op."""
    for text, data in ops(tmp_path).items():
        refused(graph_of(data), text)
    assert [] == ran
    assert [] == list(tmp_path.iterdir())


def test_python_under_another_token(graph):
    """A stateless Python op is ours only with one of our tokens."""
    ops_of_ours(graph)[0][1].attr["token"].s = b"pyfunc_0"
    refused(graph, "numpy_function in map")


@pytest.mark.parametrize("op", ["Placeholder", "VarHandleOp", "ImmutableConst", "_Send", "", "map"])
def test_nodes_beside_the_dataset(graph, op):
    """Also a node that the dataset does not need is held to the list."""
    graph.node.add(name="beside", op=op)
    refused(graph, r"cannot travel")


# Specs that nobody has looked at.


def test_a_spec_that_is_computed(graph):
    """The spec cannot be made while the graph runs, so that another one would be looked at."""
    function, node = ops_of_ours(graph)[0]
    joined = function.node_def.add(name="joined", op="StringJoin", input=[node.input[0]])
    joined.attr["N"].i = 1
    node.input[0] = "joined:output:0"
    refused(graph, "its spec is computed")


def test_a_spec_that_is_an_argument(graph):
    """Nor can it come from who calls the function."""
    function, node = ops_of_ours(graph)[0]
    function.signature.input_arg.add(name="spec", type=tf.string.as_datatype_enum)
    node.input[0] = "spec"
    refused(graph, "its spec is computed")


def test_a_function_in_an_ops_place(graph):
    """A function named like an op would be called instead of it."""
    graph.library.function[0].signature.name = "Const"
    refused(graph, "a function with the name 'Const'")


def test_names_that_are_not_clear(graph):
    """Two nodes of one name, or an argument that looks like a node's output, are refused."""
    function, node = ops_of_ours(graph)[0]
    function.signature.input_arg.add(name=node.input[0], type=tf.string.as_datatype_enum)
    refused(graph, "names are not clear")
    del function.signature.input_arg[-1]
    function.node_def.add().CopyFrom(node)
    refused(graph, "names are not clear")


def test_attributes_that_the_caller_gives(graph):
    """A token cannot be left open for the call."""
    ops_of_ours(graph)[0][1].attr["other"].placeholder = "token"
    refused(graph, "an attribute that the caller gives")


def with_spec(graph, spec, handle=None):
    """The graph with another spec in each op."""
    for function, node in ops_of_ours(graph):
        nodes = {each.name: each for each in function.node_def}
        spec_node, handle_node = (nodes[given.partition(":")[0]] for given in node.input[:2])
        spec_node.attr["value"].tensor.string_val[0] = spec.to_json().encode()
        if handle is not None:
            handle_node.attr["value"].tensor.string_val[0] = handle.encode()
    return graph


def test_a_folder_of_this_machine(graph):
    """A stranger's graph opens no local files, unless the caller says so."""
    refused(graph, r"is no object store: pass allow_local=True", allow_local=False)
    tfstream.from_graph(letter_of(graph), allow_local=True)


@pytest.mark.parametrize(
    "source",
    [
        FsspecSource(root="memory://photos"),
        FsspecSource(root="simplecache::https://example.com/photos"),
        FsspecSource(root="reference::https://example.com/photos.json"),
        FsspecSource(root="file:///photos"),
        LakeFSSource(repository="photos", ref="main", endpoint="https://example.com"),
    ],
    ids=lambda source: source.url("")[:12],
)
def test_other_places(graph, stream, source):
    """Nor what could lead to files, nor a server that would be sent this environment's key."""
    changed = with_spec(graph, stream.spec.replace(source=source))
    refused(changed, "pass allow_local=True if you trust", allow_local=False)


def test_the_handle_of_another_dataset(digits, graph, stream):
    """A handle of this process with a harmless spec does not read what that handle stands for."""
    other = tfstream.from_url(digits, **SMALL, seed=7)
    handle = f"{stream._handle.name} {tfstream.__version__}"
    refused(with_spec(graph, other.spec, handle), "the handle of a dataset in this process")


def test_another_release(graph, stream):
    """A graph of another minor release is refused before it is built; both are named."""
    changed = with_spec(graph, stream.spec, "a0 99.1.0")
    refused(changed, r"made by tfstream 99\.1\.0, and this process has")


def test_a_spec_that_is_none(graph):
    """What is no spec is a SpecError that says where."""
    function, node = ops_of_ours(graph)[0]
    constant = next(each for each in function.node_def if node.input[0].startswith(f"{each.name}:"))
    constant.attr["value"].tensor.string_val[0] = b'{"tfstream": 1}'
    with pytest.raises(SpecError, match=r"\$: the field 'source' is missing"):
        tfstream.from_graph(letter_of(graph), allow_local=True)


# This process's own state.


def test_a_table_of_this_process():
    """A graph finds no table of this process, not even under its name."""
    keys = tf.constant([0], tf.int64)
    initial = tf.lookup.KeyValueTensorInitializer(keys, keys + 5)
    mine = tf.lookup.StaticHashTable(initial, -1, name="mine")
    graph = graph_of(COUNT.map(mine.lookup))
    (table,) = (node for node in graph.node if node.op == "HashTableV2")
    table.attr["shared_name"].s = b"mine"
    kept = tfstream.from_graph(letter_of(graph))
    assert [5, -1, -1] == list(kept.as_numpy_iterator())
    (filling,) = (node for node in graph.node if node.op == "LookupTableImportV2")
    graph.node.remove(filling)
    refused(graph, "a lookup table cannot travel: its contents are not in the graph")


def test_a_cache_of_this_process():
    """Nor the elements that another dataset of this process keeps in memory."""
    secret = COUNT.map(lambda number: number + 40).cache()
    list(secret)
    graph = graph_of(secret)
    (source,) = (node for node in graph.node if node.op == "CacheDatasetV2")
    source.input[0] = next(node.name for node in graph.node if node.op == "RangeDataset")
    assert [0, 1, 2] == list(tfstream.from_graph(letter_of(graph)).as_numpy_iterator())


# Size and form.


def test_functions_that_call_themselves(graph):
    """Recursion, direct or by way of another function, is refused: it would end the process."""
    one, two = graph.library.function[:2]
    one.node_def.add(name="call", op="PartitionedCall").attr["f"].func.name = two.signature.name
    two.node_def.add(name="call", op="PartitionedCall").attr["f"].func.name = one.signature.name
    refused(graph, "functions that call themselves")


def test_calls_that_go_deep(graph):
    """So is a long chain of functions."""
    for number in range(100):
        function = graph.library.function.add()
        function.signature.name = f"deep_{number}"
        function.node_def.add(name="call", op=f"deep_{number - 1}" if number else "NoOp")
    refused(graph, "more than 64 deep")


@pytest.mark.slow
def test_a_million_nodes(graph):
    """More nodes than any dataset has are refused before they are looked at."""
    node = GraphDef()
    node.node.add(name="a", op="NoOp")
    many = graph.SerializeToString() + node.SerializeToString() * 1_000_000
    with pytest.raises(NotPortableError, match=r"a graph of 1,000,\d+ nodes; at most 100,000"):
        tfstream.from_graph(sealed(to_plain(COUNT.element_spec), many))


def test_too_many_bytes():
    """More than 64 MiB are not even parsed."""
    start = b"tfstream graph 1\n"
    with pytest.raises(SpecError, match=r"67,108,865 bytes; at most 67,108,864 are read"):
        tfstream.from_graph(start.ljust(64 * 1024 * 1024 + 1, b"\0"))


def test_bytes_that_are_no_graph():
    """In a whole envelope, too, a graph must be one."""
    with pytest.raises(SpecError, match="no GraphDef"):
        tfstream.from_graph(sealed(to_plain(COUNT.element_spec), b"text"))


def test_constants_of_other_kinds(graph):
    """A spec is one text, not a list of one, and not bytes of another dtype."""
    function, node = ops_of_ours(graph)[0]
    constant = next(each for each in function.node_def if node.input[0].startswith(f"{each.name}:"))
    constant.attr["value"].tensor.tensor_shape.dim.add(size=1)
    refused(graph, "its spec is computed")


def test_constants_in_two_forms(graph, tmp_path):
    """TensorFlow takes `tensor_content`; a text beside it would be what is checked."""
    function, node = ops_of_ours(graph)[0]
    constant = next(each for each in function.node_def if node.input[0].startswith(f"{each.name}:"))
    tensor = constant.attr["value"].tensor
    tensor.tensor_content = b"\1x"
    refused(graph, "a constant in two forms")
    cached = graph_of(COUNT.cache())
    (name,) = (
        each.attr["value"].tensor
        for each in cached.node
        if each.op == "Const" and list(each.attr["value"].tensor.string_val) == [b""]
    )
    file = bytes(tmp_path / "written")
    name.tensor_content = bytes([len(file)]) + file
    refused(cached, "a constant in two forms")
    name.ClearField("string_val")
    refused(cached, "a constant in two forms")
    assert [] == list(tmp_path.iterdir())


def test_a_handle_in_two_forms():
    """So is a handle's."""
    graph = graph_of(COUNT.shuffle(2))
    handles = [
        each.attr["value"].tensor
        for each in graph.node
        if each.op == "Const" and each.attr["dtype"].type == tf.resource.as_datatype_enum
    ]
    for tensor in handles:
        tensor.tensor_content = b"\1x"
    assert handles
    refused(graph, "a constant in two forms")


@pytest.mark.parametrize("dtype", [tf.resource, tf.variant])
def test_a_resource_from_bytes(dtype):
    """Bytes may be parsed as numbers and texts: anything else could be of this process."""

    def parsed(number):
        text = tf.constant(b"")
        if dtype == tf.variant:
            sparse = tf.raw_ops.DeserializeSparse(serialized_sparse=[text] * 3, dtype=dtype)
            return number + tf.size(sparse.sparse_indices, tf.int64)
        return number + tf.size(tf.raw_ops.ParseTensor(serialized=text, out_type=dtype), tf.int64)

    refused(graph_of(COUNT.map(parsed)), "a resource that is parsed from bytes")


def test_a_tensor_in_an_attribute(graph):
    """Values are constants: nobody looks for them elsewhere."""
    graph.node[0].attr["more"].tensor.dtype = tf.string.as_datatype_enum
    refused(graph, "a tensor in an attribute")


def test_a_graph_that_is_no_dataset(graph):
    """What TensorFlow cannot build is a NotPortableError with TensorFlow's reason."""
    del graph.node[-1]
    refused(graph, r"TensorFlow cannot read the graph: ")


def test_elements_that_are_not_the_graphs(graph):
    """A header that lies about the elements gives an error when they are wanted, no other bytes."""
    lie = tf.TensorSpec([7], tf.string)
    kept = tfstream.from_graph(letter_of(graph, lie), allow_local=True)
    with pytest.raises(tf.errors.OpError):
        next(iter(kept))


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {},
        {"unknown": {"dtype": "int32", "shape": []}},
        {"tensor": {}},
        {"tensor": {"dtype": "none", "shape": [], "name": None}},
        {"ragged": {"dtype": "int32", "shape": [], "row_splits": "int64"}},
        {"dict": [[[1], []]]},
    ],
    ids=str,
)
def test_elements_that_are_none(graph, plain):
    """A header without a description of elements is a SpecError."""
    with pytest.raises(SpecError, match=r"\$\.elements: no elements of a dataset"):
        tfstream.from_graph(sealed(plain, graph.SerializeToString()), allow_local=True)


def test_cut_bytes(stream):
    """However much is missing at the end, a SpecError says so."""
    data = tfstream.to_graph(stream)
    for length in (0, 3, 14, 15, 16, 17, 40, 49, 53, 200, len(data) // 2, len(data) - 1):
        with pytest.raises(SpecError):
            tfstream.from_graph(data[:length], allow_local=True)


def test_changed_bytes(stream):
    """So does any byte that is another one."""
    data = tfstream.to_graph(stream)
    draw = random.Random(0)
    for place in (*range(80), *(draw.randrange(len(data)) for _ in range(80))):
        changed = bytearray(data)
        changed[place] ^= 1 << draw.randrange(8)
        with pytest.raises(SpecError):
            tfstream.from_graph(bytes(changed), allow_local=True)


def test_changed_on_purpose(stream):
    """With a right digest, any change gives a dataset or one of the two errors, and no other."""
    letter = unsealed(tfstream.to_graph(stream))
    draw, outcomes = random.Random(0), set()
    for _ in range(100):
        changed = bytearray(letter.graph)
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        try:
            tfstream.from_graph(sealed(letter.elements, bytes(changed)), allow_local=True)
        except (SpecError, NotPortableError) as error:
            outcomes.add(type(error))
    assert {SpecError, NotPortableError} == outcomes


def test_a_newer_layout(stream):
    """Another version of the layout is told apart from damage; this tfstream is named."""
    data = tfstream.to_graph(stream).replace(b"graph 1\n", b"graph 2\n", 1)
    with pytest.raises(
        SpecError, match=rf"layout b'2', and this tfstream \({tfstream.__version__}"
    ):
        tfstream.from_graph(data, allow_local=True)


@pytest.mark.parametrize("version", [None, 7, "x" * 50, "1\n2"])
def test_a_writer_without_a_name(monkeypatch, version):
    """A version that is no short text is not shown in messages."""
    monkeypatch.setattr(tfstream, "__version__", version)
    data = sealed(to_plain(COUNT.element_spec), graph_of(COUNT).SerializeToString())
    monkeypatch.undo()
    with pytest.raises(SpecError, match=r"\$\.tfstream: no version"):
        tfstream.from_graph(data)
