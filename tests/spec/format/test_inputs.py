"""The inputs of a case, and those that do not fit its function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.model import Sample

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Problem


def test_a_list_is_a_shape_and_a_number_a_value(good: Good) -> None:
    case = good("expr: s * t * u\ninputs: {s: 1e-4, t: [2, 3], u: []}\n")
    s, t, u = case.inputs
    assert s.values is not None
    assert s.values == 1e-4
    assert s.values.dtype == np.float64
    assert (t.shape, t.values, u.shape) == ((2, 3), None, ())
    assert str(t.location) == "s.yaml:2:19"


def test_whole_values_of_a_real_input_are_floats(good: Good) -> None:
    (x,) = good("op: square\ninputs: {x: {values: [[1, 2], [3, 4]]}}\n").inputs
    assert x.values is not None
    assert x.values.dtype == np.float64
    assert x.dtype is None
    assert x.grad


def test_integers_and_booleans_have_no_gradient(good: Good) -> None:
    text = """
        expr: tf.where(c, x, 0.0) + tf.cast(i, tf.float64)
        inputs: {c: {values: [true, false]}, x: [2], i: {values: [1, 2], dtype: int64}}
        """
    c, x, i = good(text).inputs
    assert (c.grad, x.grad, i.grad) == (False, True, False)
    assert (c.dtype, x.dtype, i.dtype) == ("bool", None, "int64")
    assert c.values is not None
    assert c.values.dtype == np.bool_
    assert i.values is not None
    assert i.values.dtype == np.int64


def test_a_declared_op_knows_its_kinds_and_its_order(good: Good) -> None:
    case = good("op: gather\ninputs: {indices: {values: [0, 2]}, params: [3]}\n")
    params, indices = case.inputs
    assert (params.name, indices.name) == ("params", "indices")
    assert (indices.dtype, indices.grad) == ("int32", False)


def test_a_variadic_op_takes_any_names(good: Good) -> None:
    case = good("op: concat\nargs: {axis: 0}\ninputs: {one: [1, 2], two: [3, 2], three: [2, 2]}\n")
    assert [i.name for i in case.inputs] == ["one", "two", "three"]


def test_options(good: Good) -> None:
    (x,) = good(
        "op: log\ninputs: {x: {shape: [3], sample: 'uniform(1, 2)', variable: true}}"
    ).inputs
    assert x.sample == Sample("uniform", (1.0, 2.0))
    assert x.variable


@pytest.mark.parametrize(
    ("given", "column", "words"),
    [
        ("[3, 4.5]", 17, "{values: […]}"),
        ("[[1, 2], [3, 4]]", 14, "{values: […]}"),
        ("on", 13, "must be a shape, a number or a mapping, not `on`"),
        ("", 13, "not nothing"),
        ("{shpae: [3]}", 14, "did you mean `shape`?"),
        ("{}", 10, "neither `shape` nor `values`"),
        ("{shape: [3], values: [1]}", 10, "both `shape` and `values`"),
        ("{shape: 3}", 21, "must be a list of whole numbers, not `3`"),
        ("{shape: [3], grad: on}", 32, "write true: `on`"),
        ("{shape: [3], variable: no}", 36, "write false"),
        ("{shape: [3], sample: normall}", 34, "normal"),
        ("{shape: [3], sample: uniform(1}", 34, "uniform(1"),
        ("{values: [3], sample: normal}", 35, "goes with `shape`"),
        ("{shape: [2, 3], sample: spd}", 21, "square"),
        ("{shape: [3], dtype: flaot32}", 33, "did you mean `float32`?"),
        ("{shape: [3], dtype: int32, grad: true}", 46, "has no gradient"),
        ("{values: [1.5], dtype: int32, grad: false}", 22, "whole numbers"),
        ("{values: [300], dtype: uint8}", 22, "does not fit into uint8"),
        ("{values: ['1+2j'], dtype: float32}", 22, "complex"),
        ("{values: ['1+2j']}", 10, "dtype: complex128"),
    ],
)
def test_what_an_input_cannot_be(problem: Problem, given: str, column: int, words: str) -> None:
    problem(f"expr: x * x\ninputs: {{x: {given}}}\n", (2, column), words)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op: matmul\ninputs: {a: [3, 4]}\n", (2, 1), "needs the input `b`"),
        ("op: matmul\ninputs: {a: [3, 4], c: [4, 5]}\n", (2, 21), "its inputs are: a, b"),
        ("op: matmul\ninputs: {a: [3, 4], b: [5, 5]}\n", (2, 1), "do not fit `matmul`"),
        ("op: gather\ninputs: {params: [3], indices: [2], axis: 0}\n", (2, 37), "under `args`"),
        ("op: gather\ninputs: {params: [3], indices: {values: [0.5]}}\n", (2, 41), "whole numbers"),
        (
            "op: gather\ninputs: {params: [3], indices: {values: [0], dtype: float32}}\n",
            (2, 53),
            "cannot be `float32`",
        ),
        ("op: square\ninputs: {}\n", (2, 1), "needs the input `x`"),
        ("expr: '1.0'\ninputs: {}\n", (2, 1), "`inputs` is empty"),
        ("op: square\ninputs: [3]\n", (2, 10), "must be a mapping"),
        ("op: square\ninputs:\n", (2, 8), "must be a mapping, or a list, not nothing"),
        ("op: square\n", (1, 1), "no `inputs`"),
        ("op: square\ninputs: {x: {shape: [3], grad: false}}\n", (2, 1), "no input has a gradient"),
        ("expr: a\ninputs: {a: [2], 1b: [3]}\n", (2, 18), "cannot be the name of an input"),
        ("expr: a\ninputs: {a: [2], lambda: [3]}\n", (2, 18), "cannot be the name of an input"),
        ("expr: a\ninputs: {a: [2], tf: [3]}\n", (2, 18), "TensorFlow in an expression"),
        (
            "expr: x * G\ninputs: {x: [2], G: [3]}\ngradient: {x: G}\n",
            (2, 18),
            "the upstream in a formula",
        ),
        (
            "op: tf.math.cumulative_logsumexp\ninputs: {x: [2]}\nargs: {x: 3}\n",
            (2, 10),
            "an arg already",
        ),
    ],
)
def test_inputs_that_do_not_fit(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)
