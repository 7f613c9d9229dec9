"""The calculus: renaming, contraction, matrix forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from gradcheck.explain import Subject, trees
from gradcheck.explain.calculus.einstein import (
    Apply,
    Delta,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    rename,
)
from gradcheck.explain.calculus.evaluate import evaluate as evaluate_element
from gradcheck.explain.calculus.indices import Space
from gradcheck.explain.calculus.simplify import simplify
from gradcheck.explain.calculus.translate import Translation
from gradcheck.explain.calculus.values import tensor
from gradcheck.explain.derive.gradient_steps import gradient_steps
from gradcheck.explain.formula.matrix_form import formula_of
from gradcheck.ops import find
from tests.ops.families.test_einsum import Drawn, equations
from tests.ops.oracle import evaluate

I, J, K = "_1:2", "_2:3", "_3:4"  # noqa: E741  (the names that indices have)


def test_a_delta_picks_its_index() -> None:
    node = Total((I,), Product((Delta(I, "_9:2"), Tensor("x", (I, J)))))
    assert simplify(node, Space(10)) == Tensor("x", ("_9:2", J))


def test_a_sum_over_nothing_is_a_factor() -> None:
    assert simplify(Total((J,), Tensor("x", (I,))), Space(10)) == Product(
        (Number(Fraction(3)), Tensor("x", (I,)))
    )


def test_equal_terms_are_added_whatever_their_indices_are_called() -> None:
    terms = Sum((Total((I,), Tensor("x", (I,))), Total(("_7:2",), Tensor("x", ("_7:2",)))))
    found = simplify(terms, Space(10))
    assert isinstance(found, Total)
    assert found.body == Product((Number(Fraction(2)), Tensor("x", found.indices)))


def test_opposite_terms_cancel() -> None:
    minus = Product((Number(Fraction(-1)), Tensor("x", (I,))))
    assert simplify(Sum((Tensor("x", (I,)), minus)), Space(10)) == Number(Fraction(0))


def test_a_bound_index_does_not_catch_one_from_outside() -> None:
    inner = Apply("exp", (Total((J,), Product((Tensor("a", (I, J)),))),))
    moved = rename(inner, {I: J})
    assert isinstance(moved, Apply)
    total = moved.args[0]
    assert isinstance(total, Total)
    assert total.indices != (J,)
    values = {"a": np.arange(9.0).reshape(3, 3) / 9}
    np.testing.assert_allclose(
        evaluate_element(moved, values, (J,)), np.exp(values["a"].sum(axis=1))
    )


@pytest.mark.parametrize(
    ("formula", "shapes", "written"),
    [
        ("matmul(a, b)", {"a": (2, 3), "b": (3, 4)}, "matmul(a, b)"),
        ("mT(matmul(a, b))", {"a": (2, 3), "b": (3, 4)}, "matmul(mT(b), mT(a))"),
        ("a * b", {"a": (2, 3), "b": (2, 3)}, "a * b"),
        ("sum(a * b)", {"a": (3,), "b": (3,)}, "scalar(matmul(row(a), column(b)))"),
        ("sum(a, 1)", {"a": (2, 3)}, "vector(matmul(a, ones([3, 1])))"),
        ("trace(matmul(a, b))", {"a": (2, 3), "b": (3, 2)}, "total(a * mT(b))"),
        (
            "expand_dims(a, 1) * expand_dims(b, 0)",
            {"a": (2,), "b": (3,)},
            "matmul(column(a), row(b))",
        ),
        ("eye(3) * a", {"a": (3,)}, "diag(a)"),
    ],
)
def test_matrices_are_written_where_ranks_allow(
    formula: str, shapes: dict[str, tuple[int, ...]], written: str
) -> None:
    space = Space()
    value = Translation(space, {n: tensor(n, s) for n, s in shapes.items()}).value(formula)
    indices = space.axes(value.shape)
    node = simplify(value.at(indices), space)
    assert trees.text_of(formula_of(node, indices, space)) == written
    rng = np.random.default_rng(0)
    values = {n: rng.standard_normal(s) for n, s in shapes.items()}
    expected = trees.run(formula, values)
    np.testing.assert_allclose(trees.run(written, values), expected)
    np.testing.assert_allclose(evaluate_element(node, values, indices), expected)


@settings(max_examples=100, deadline=None)
@given(equations())
def test_any_einsum_is_derived(drawn: Drawn) -> None:
    op = find("einsum")
    assert op is not None
    args = {"equation": drawn.equation}
    point = evaluate(op, drawn.shapes, args)
    subject = Subject(op, op.call(drawn.shapes, args))
    values = {**point.values, "G": point.upstream, "out": point.out}
    for name, tape in point.tape.items():
        steps = gradient_steps(subject, name)
        assert steps is not None
        found = evaluate_element(steps.result, values, steps.at)
        np.testing.assert_allclose(found, tape, rtol=1e-11, atol=1e-11)
        if steps.matrix is not None:
            again = trees.run(steps.matrix, values)
            np.testing.assert_allclose(again, tape, rtol=1e-11, atol=1e-11)
            assert np.shape(again) == tape.shape
