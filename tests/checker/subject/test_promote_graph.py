"""Graphs rewritten from low precision to float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.promote_graph import (
    CannotBePromoted,
    lowest_dtype,
    promoted_graph,
    rounding_of,
    rounding_of_constants,
)


def graph_of(tf: Any, function: Any, dtype: str = "float32") -> Any:
    traced = tf.function(function).get_concrete_function(tf.TensorSpec([3], dtype))
    return traced.graph.as_graph_def()


def types_of(graph: Any) -> set[int]:
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    attributes = [a for node in nodes for a in node.attr.values()]
    return {a.type for a in attributes} | {t for a in attributes for t in a.list.type}


def test_nothing_of_low_precision_is_left(tf: Any) -> None:
    def function(x: Any) -> Any:
        half = tf.cast(x, tf.float16)
        spectrum = tf.signal.fft(tf.cast(half, tf.complex64))
        return tf.scan(lambda a, b: a * b + 0.1, tf.math.real(spectrum))

    graph = graph_of(tf, function)
    double = promoted_graph(graph)
    low = {t.as_datatype_enum for t in (tf.float32, tf.float16, tf.bfloat16, tf.complex64)}
    assert types_of(graph) & low
    assert not types_of(double) & low
    # The functions have names of their own.
    names = [{f.signature.name for f in g.library.function} for g in (graph, double)]
    assert names[0]
    assert not names[0] & names[1]


def test_what_is_drawn_by_a_seed_stays_and_is_cast(tf: Any) -> None:
    def function(x: Any) -> Any:
        return x * tf.random.stateless_normal([3], [1, 2])

    nodes = {node.op: node for node in promoted_graph(graph_of(tf, function)).node}
    assert nodes["StatelessRandomNormalV2"].attr["dtype"].type == tf.float32.as_datatype_enum
    assert nodes["Cast"].attr["DstT"].type == tf.float64.as_datatype_enum


def test_what_has_no_meaning_there_is_refused(tf: Any) -> None:
    with pytest.raises(CannotBePromoted, match="Bitcast"):
        promoted_graph(graph_of(tf, lambda x: tf.bitcast(x, tf.int32)))
    with pytest.raises(CannotBePromoted, match="RandomUniform"):
        promoted_graph(graph_of(tf, lambda x: x + tf.random.uniform([3])))


def test_the_lowest_dtype(tf: Any) -> None:
    assert lowest_dtype(graph_of(tf, tf.sin)) == np.float32
    assert lowest_dtype(graph_of(tf, tf.sin, "float64")) is None
    assert lowest_dtype(graph_of(tf, lambda x: tf.cast(x, tf.float16) * 1)) == np.float16
    bfloat16 = lowest_dtype(graph_of(tf, lambda x: tf.cast(x, tf.bfloat16) * 1))
    assert bfloat16 is not None
    assert bfloat16.name == "bfloat16"


def test_which_numbers_were_rounded(tf: Any) -> None:
    unit = float(np.finfo(np.float32).eps)
    assert rounding_of(np.array([0.5, -3.0, 1024.0, 0.0, np.inf], np.float32)) == 0.0
    assert rounding_of(np.array([0.5, 0.1], np.float32)) == unit
    assert rounding_of(np.array([1 + 0.1j], np.complex64)) == unit
    assert rounding_of_constants(graph_of(tf, lambda x: x * 0.1)) == unit
    assert rounding_of_constants(graph_of(tf, lambda x: x * 0.5)) == 0.0
