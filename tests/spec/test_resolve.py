"""What the texts of a case resolve to."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.errors import ExpressionError
from gradcheck.ops import Kind, find
from gradcheck.ops.language.vocabulary import lookup
from gradcheck.spec.expression.expression import Expression
from gradcheck.spec.resolve import resolve

if TYPE_CHECKING:
    from tests.spec.conftest import Good

SOFTMAX = "op: tf.nn.softmax\ninputs: {logits: [3]}\n"


def test_an_op_is_found_with_its_call(good: Good) -> None:
    resolved = resolve(good(SOFTMAX))
    assert resolved.declared is not None
    assert resolved.declared.op is find("softmax")
    assert resolved.declared.call.shapes == {"logits": (3,)}
    assert resolved.args == {"axis": -1}
    assert set(resolved.formulas()) == {"logits"}
    assert resolved.expression is None


def test_an_op_without_a_declaration_has_none(good: Good) -> None:
    resolved = resolve(good("op: tf.math.approx_max_k\ninputs: {operand: [2]}\nargs: {k: 1}\n"))
    assert resolved.declared is None
    assert resolved.args == {"k": 1}
    assert resolved.formulas() == {}
    assert resolved.parameter("operand").kind is Kind.REAL


def test_parameters_are_those_of_the_declaration(good: Good) -> None:
    gather = resolve(good("op: gather\ninputs: {params: [3], indices: {values: [0, 2]}}\n"))
    assert gather.parameter("indices").kind is Kind.INTEGER
    concat = resolve(good("op: concat\nargs: {axis: 0}\ninputs: {one: [1], two: [2]}\n"))
    assert concat.parameter("two").name == "values"


def test_a_formula_for_real_inputs_is_none_for_complex_ones(good: Good) -> None:
    text = "op: norm\ninputs: {tensor: [2]}\ndtype: "
    assert resolve(good(text + "float64")).formulas()
    assert not resolve(good(text + "complex128")).formulas()


def test_an_expression_and_claims_are_parsed(good: Good) -> None:
    text = "expr: tf.square(x)\ninputs: {x: [2], y: [1]}\ngradient: {x: 2 * G * x, y: [3]}\n"
    resolved = resolve(good(text.replace("(x)", "(x) * y")))
    assert resolved.expression is not None
    assert resolved.expression.text == "tf.square(x) * y"
    assert isinstance(resolved.claims["x"], Expression)
    np.testing.assert_array_equal(resolved.claims["y"], [3])


def test_a_claim_may_name_an_argument_that_the_spec_leaves_to_its_default(good: Good) -> None:
    claim = "gradient: {logits: 'out * (G - sum(G * out, axis, True))'}\n"
    resolved = resolve(good(SOFTMAX + claim))
    formula = resolved.claims["logits"]
    assert isinstance(formula, Expression)
    values = {**resolved.args, "logits": np.zeros(2), "G": np.array([1.0, 3]), "out": np.ones(2)}
    np.testing.assert_array_equal(formula.evaluate(values, lookup), [-3.0, -1.0])


def test_a_case_that_no_reader_has_seen_may_be_wrong(good: Good) -> None:
    case = good("op: square\ninputs: {x: [2]}\n")
    with pytest.raises(ExpressionError):
        resolve(replace(case, gradient={"x": "zzz"}))


def test_a_case_itself_holds_texts_and_travels_light(good: Good) -> None:
    case = good(SOFTMAX + "gradient: {logits: G}\n")
    assert len(pickle.dumps(case)) < 2_000
    assert pickle.loads(pickle.dumps(case)).gradient == {"logits": "G"}  # noqa: S301
