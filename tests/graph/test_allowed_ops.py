"""The list of ops that may travel."""

from __future__ import annotations

import re

import tensorflow as tf

from tfstream.graph.allowed_ops import ALLOWED

NEWER = {"DecodeJxl", "DecodeWebP", "GlobalShuffleDataset", "IndexFlatMapDataset"}
NEWER |= {"WeightedFlatMapDataset"}
"""Not in TensorFlow 2.16."""

TOUCHES = re.compile(
    r"File|TFRecord|Summary|Save|Restore|Variable|VarHandle|Queue|Barrier|Service|Rpc|Send|Recv|"
    r"Collective|Remote|Debug|^Copy|Checkpoint|Sql|LMDB|EagerPy|PyFunc$|Generator(V\d)?Dataset|"
    r"DatasetFromGraph|XlaCall|PrintV2|Proto|CandidateSampler|Placeholder$|Session|Abort|Stage"
)
"""Words in the names of ops that reach out of the graph."""


def test_each_is_an_op():
    """Every name is one that TensorFlow has, so that none is misspelt."""
    assert {"_Retval"} | NEWER >= {name for name in ALLOWED if not hasattr(tf.raw_ops, name)}


def test_none_reaches_out():
    """No name of the list is one of files, networks, variables, sessions or Python."""
    known = {"EncodeJpegVariableQuality"}
    assert known == {name for name in ALLOWED if TOUCHES.search(name)}


def test_what_reaches_out_would_be_found():
    """The words do match such ops."""
    for name in ("ReadFile", "TFRecordDatasetV2", "SaveV2", "PyFunc", "DataServiceDatasetV4"):
        assert TOUCHES.search(name)
        assert name not in ALLOWED
