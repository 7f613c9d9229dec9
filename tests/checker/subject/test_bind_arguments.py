"""Structures of tensors, and how they are handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.model import Argument, Group, Mode, Ragged, Sparse, Verdict
from tests.checker.cases import run, shape, values

CODE = "tests.checker.user_code"
LEAVES = (shape("p['a']", 3), shape("p['parts'][0]", 3), shape("p['parts'][1]", 3))
PAIR = Group("dict", ("p['a']", Group("tuple", ("p['parts'][0]", "p['parts'][1]"))), ("a", "parts"))


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_dictionaries_and_tuples(mode: Any) -> None:
    arguments = Argument("scale", "scale"), Argument("pair", PAIR)
    inputs = (shape("scale"), *LEAVES)
    text = f"{CODE}:in_a_dictionary"
    result = run("function", text, *inputs, arguments=arguments, mode=Mode(mode))
    assert result.verdict is Verdict.PASS, result.message
    assert [c.name for c in result.comparisons] == [i.name for i in inputs]
    one = run("function", text, *inputs, arguments=arguments, mode=Mode(mode), outputs=("sum",))
    verdicts = {c.name: c.verdict for c in one.comparisons}
    assert verdicts["p['parts'][1]"] is Verdict.PASS
    assert verdicts["scale"] is Verdict.DISCONNECTED


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_a_ragged_tensor(mode: Any) -> None:
    ragged = Argument("x", Ragged("x.values", ((2, 0, 3),)))
    text = "tf.reduce_sum(x * x, axis=1)"
    result = run("expr", text, shape("x.values", 5), arguments=(ragged,), mode=Mode(mode))
    assert result.verdict is Verdict.PASS, result.message
    nested = Argument("x", Ragged("x.values", ((2, 1), (2, 0, 3))))
    result = run(
        "op",
        "tf.math.reduce_sum",
        shape("x.values", 5, 2),
        arguments=(Argument("input_tensor", nested.template),),
        args={"axis": 1},
        mode=Mode(mode),
    )
    assert result.verdict is Verdict.PASS, result.message


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_a_sparse_tensor(mode: Any) -> None:
    sparse = Argument("sp_a", Sparse("sp_a.values", ((0, 1), (2, 3)), (3, 4)))
    inputs = shape("sp_a.values", 2), shape("b", 4, 2)
    arguments = sparse, Argument("b", "b")
    name = "tf.sparse.sparse_dense_matmul"
    result = run("op", name, *inputs, arguments=arguments, mode=Mode(mode))
    assert result.verdict is Verdict.PASS, result.message


def test_a_claim_names_what_lies_inside() -> None:
    arguments = (
        Argument("x", Group("dict", ("x['a']", "x['b']"), ("a", "b"))),
        Argument("r", Ragged("r.values", ((1, 2),))),
    )
    inputs = values("x['a']", [1.0, 2.0, 3.0]), shape("x['b']", 3), shape("r.values", 3)
    text = "x['a'] * x['b'] * tf.concat([r[0], r[1]], 0)"
    right = {"x['a']": "G * x['b'] * r"}
    result = run("expr", text, *inputs, arguments=arguments, gradient=right)
    assert result.verdict is Verdict.PASS, result.message
    wrong = run("expr", text, *inputs, arguments=arguments, gradient={"x['a']": "G * r"})
    assert wrong.verdict is Verdict.MISMATCH
    np.testing.assert_equal(wrong.comparisons[0].name, "x['a']")
