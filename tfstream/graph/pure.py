"""
Functions that do not count as stateful.

TensorFlow marks the op that takes the one element of a nested dataset (`decode` uses it as its
`try`) as stateful, whatever that dataset is, and with symbolic checkpointing it warns on
stderr about the function that holds it: a line for every batch. All of a dataset's functions
are functions of their inputs here, so they are marked as what they are.
"""

from __future__ import annotations

import tensorflow as tf

_IGNORE = 1
"""Of `DatasetToGraphV2`: it says nothing about state that is not in the graph."""


def pure(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The same dataset, through its graph and back. Python's options are not in the graph."""
    data = tf.raw_ops.DatasetToGraphV2(
        input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=_IGNORE
    )
    graph = tf.compat.v1.GraphDef.FromString(data.numpy())
    for function in graph.library.function:
        function.signature.is_stateful = False
    variant = tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString())
    return tf.data.experimental.from_variant(variant, dataset.element_spec)
