"""Inputs of several tensors: their notation, and the mistakes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.model import Argument, Group, Ragged, Sparse

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Problem


def test_tensors_are_named_by_their_path(good: Good) -> None:
    text = """
        expr: x['a'] * x['b'][1]
        inputs: {x: {dict: {a: [3], b: {tuple: [[2], 1.5]}}}, y: [2]}
        """
    case = good(text)
    assert [i.name for i in case.inputs] == ["x['a']", "x['b'][0]", "x['b'][1]", "y"]
    inner = Group("tuple", ("x['b'][0]", "x['b'][1]"))
    assert case.takes == (
        Argument("x", Group("dict", ("x['a']", inner), ("a", "b"))),
        Argument("y", "y"),
    )


def test_ragged_and_sparse_tensors(good: Good) -> None:
    text = """
        expr: tf.reduce_sum(r)
        inputs:
          r: {ragged: [2, 0, 3], inner: [4], dtype: float32, grad: false}
          n: {ragged: [[2, 1], [2, 0, 1]]}
          s: {sparse: [3, 4], indices: [[0, 1], [2, 3]], values: [1, 2]}
        """
    case = good(text)
    r, n, s = case.inputs
    assert (r.name, r.shape, r.dtype, r.grad) == ("r.values", (5, 4), "float32", False)
    assert (n.name, n.shape) == ("n.values", (3,))
    np.testing.assert_array_equal(np.asarray(s.values), [1.0, 2.0])
    templates = [argument.template for argument in case.takes]
    assert templates == [
        Ragged("r.values", ((2, 0, 3),)),
        Ragged("n.values", ((2, 1), (2, 0, 1))),
        Sparse("s.values", ((0, 1), (2, 3)), (3, 4)),
    ]


@pytest.mark.parametrize(
    ("given", "marked", "words"),
    [
        ("{dict: [2]}", "[2]", "must be a mapping"),
        ("{dict: {}}", "{}", "is empty"),
        ("{list: {a: [2]}}", "{a", "must be a list"),
        ("{list: [[2], [a]]}", "a]", "a list is a shape, and the input `x[1]` holds `a`"),
        ("{list: [[2]], grad: false}", "grad", "has no key `grad`"),
        ("{list: [[2]], dict: {a: [2]}}", "list", "has no key `list`"),
        ("{ragged: 3}", "3", "the lengths of its rows"),
        ("{ragged: []}", "[]", "the lengths of its rows"),
        ("{ragged: [2, -1]}", "-1", "at least 0"),
        ("{ragged: [99999999999]}", "9", "at most"),
        ("{ragged: [9999999], inner: [9999]}", "[9999999]", "too large"),
        ("{ragged: [[2], [1, 2, 3]]}", "[[", "the rows of the input `x` are 2, and 3"),
        ("{ragged: [2], values: [1]}", "[1]", "have the shape [1], not [2]"),
        ("{ragged: [2], shape: [1]}", "shape", "has no key `shape`"),
        ("{ragged: [2], inner: 3}", "3", "must be a shape"),
        ("{sparse: [3]}", "x", "needs a list of `indices`"),
        ("{sparse: 3, indices: [[1]]}", "3", "must be its shape"),
        ("{sparse: [3], indices: [1]}", "1", "a list of 1 whole numbers"),
        ("{sparse: [3, 3], indices: [[1]]}", "[1]", "a list of 2 whole numbers"),
        ("{sparse: [3], indices: [[3]]}", "[3]]", "lies outside"),
        ("{sparse: [3], indices: [[1], [0]]}", "[0]", "must grow"),
    ],
)
def test_mistakes(problem: Problem, given: str, marked: str, words: str) -> None:
    line = f"inputs: {{x: {given}}}"
    problem(f"expr: tf.reduce_sum(x)\n{line}\n", (2, line.index(marked) + 1), words)


def test_a_declared_op_takes_tensors(problem: Problem, good: Good) -> None:
    text = "op: square\ninputs: {x: {ragged: [1, 2]}}\n"
    problem(text, (2, 1), "declared for tensors alone", "write `op: tf.square`")
    assert good(text.replace("square", "tf.square")).inputs[0].name == "x.values"
    text = "op: tf.concat\nargs: {axis: 0}\ninputs: {values: {list: [[2], [3]]}}\n"
    assert [i.name for i in good(text).inputs] == ["values[0]", "values[1]"]
