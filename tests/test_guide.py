"""The guide's specs show what they say: each number a reader meets there is asserted here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker import check_case
from gradcheck.model import Case, Comparison, Result, Verdict
from gradcheck.spec import load

if TYPE_CHECKING:
    from gradcheck.model import Array

ROOT = Path(__file__).parents[1]


@cache
def cases() -> dict[str, Case]:
    loaded = load([str(ROOT / "specs/guide")], allow=["specs.guide"])
    assert loaded.problems == ()
    return {case.name: case for case in loaded.cases}


@cache
def result(name: str) -> Result:
    return check_case(cases()[name], allow=["specs.guide"], root=str(ROOT))


def comparison(name: str, input_: str) -> Comparison:
    return next(c for c in result(name).comparisons if c.name == input_)


def gradient(name: str, input_: str) -> Array:
    """The tape's gradient, which the numeric one must equal within its error bar."""
    found = comparison(name, input_)
    assert found.analytic is not None
    assert found.numeric is not None
    assert found.bound is not None
    assert (np.abs(found.analytic - found.numeric) <= 2 * found.bound + 1e-14).all()
    return found.analytic


@pytest.mark.parametrize("name", sorted(cases()))
def test_every_case_ends_as_it_expects(name: str) -> None:
    assert result(name).expected, (result(name).verdict, result(name).message)


def test_matmul() -> None:
    assert gradient("both-factors", "a").tolist() == [[11, 15], [11, 15]]
    assert gradient("both-factors", "b").tolist() == [[4, 4], [6, 6]]


def test_a_constant_factor_is_not_checked() -> None:
    assert [c.name for c in result("second-factor-constant").comparisons] == ["a"]
    assert gradient("second-factor-constant", "a").tolist() == [[11, 15], [11, 15]]


def test_a_captured_product_is_disconnected_from_both_inputs_and_says_why() -> None:
    verdicts = {c.name: c.verdict for c in result("captured-product").comparisons}
    assert verdicts == {"a": Verdict.DISCONNECTED, "b": Verdict.DISCONNECTED}
    for found in result("captured-product").comparisons:
        assert "captured as a constant" in found.note


def test_an_unused_input_is_disconnected_alone() -> None:
    verdicts = {c.name: c.verdict for c in result("unused-input").comparisons}
    assert verdicts == {"x": Verdict.PASS, "unused": Verdict.DISCONNECTED}


def test_multiply_then_sum() -> None:
    assert gradient("multiply-then-sum", "a").tolist() == [4, 5, 6]
    assert gradient("multiply-then-sum", "b").tolist() == [1, 2, 3]


def test_the_batched_product_has_its_formula_as_third_oracle() -> None:
    assert result("batched-product").verdict is Verdict.PASS
    for input_ in ("a", "b"):
        found = comparison("batched-product", input_)
        assert found.formula is not None
        np.testing.assert_allclose(found.formula, gradient("batched-product", input_), rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "total", "factor"), [("scalar-times-matrix", 10, 2), ("scalar-times-rank-3", 36, 3)]
)
def test_scalar_times_tensor(name: str, total: float, factor: float) -> None:
    assert gradient(name, "s") == total
    assert (gradient(name, "t") == factor).all()


def test_a_claim_of_another_shape_is_refused_and_says_so() -> None:
    found = comparison("scalar-gradient-is-no-tensor", "s")
    assert found.verdict is Verdict.MISMATCH
    assert "the claimed gradient has shape [2, 2], but s has shape []" in found.note
    assert comparison("scalar-gradient-is-no-tensor", "t").verdict is Verdict.PASS


def test_the_squared_loss_has_no_slope_at_its_minimum() -> None:
    assert gradient("at-the-minimum", "s") == 0
    assert gradient("beside-it", "s") == pytest.approx(-6.0, abs=1e-12)


def test_gradient_descent_stays_at_the_minimum_and_diverges_beside_it() -> None:
    import tensorflow as tf

    t = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)

    def descend(start: float, steps: int) -> float:
        s = tf.Variable(start, dtype=tf.float64)
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(s * t - 2 * t))
            s.assign_sub(0.1 * tape.gradient(loss, s))
        return float(s.numpy())

    assert descend(2.0, 10) == 2.0
    assert descend(1.9, 1) - 2.0 == pytest.approx(-0.1 * -5, rel=1e-9)
    assert descend(1.9, 10) - 2.0 == pytest.approx(-0.1 * (-5.0) ** 10, rel=1e-6)


def test_square_and_a_value_used_twice() -> None:
    assert gradient("square", "x").tolist() == [[2, 4], [6, 8]]
    assert gradient("used-twice", "x").tolist() == [[8, 12], [8, 12]]


@pytest.mark.parametrize("name", ["exp", "add", "subtract", "multiply", "divide", "sigmoid"])
def test_elementwise_formulas_are_claimed_and_hold(name: str) -> None:
    assert set(cases()[name].gradient) == {c.name for c in result(name).comparisons}
    assert result(name).verdict is Verdict.PASS


def test_broadcasting_sums_the_upstream_over_the_rows() -> None:
    x, y = gradient("broadcast-add", "x"), gradient("broadcast-add", "y")
    # The gradient of x is the upstream itself.
    np.testing.assert_allclose(y, x.sum(axis=0), rtol=1e-14)


def test_reductions_and_selection() -> None:
    assert gradient("reduce-sum", "input_tensor").tolist() == [[1, 1], [1, 1]]
    assert gradient("reduce-mean", "input_tensor").tolist() == [[0.25, 0.25], [0.25, 0.25]]
    assert gradient("one-element", "x").tolist() == [[0, 1], [0, 0]]


def test_a_tensor_without_a_loss_is_summed() -> None:
    summed = gradient("a-tensor-is-summed", "x")
    assert summed.tolist() == gradient("the-sum-itself", "x").tolist() == [[2, 4], [6, 8]]


def test_another_upstream_weighs_the_outputs() -> None:
    assert gradient("other-weights", "x").tolist() == [[2, -8], [3, 0]]


@pytest.mark.parametrize(
    ("name", "input_", "right"),
    [
        ("scalar-weighs-by-g", "s", 7),
        ("scalar-weighs-by-g", "t", [[2, -2], [0, 4]]),
        ("product-of-matrices", "a", [[5, 6], [7, 8]]),
        ("row-added-to-a-matrix", "y", [4, 6]),
        ("column-times-a-matrix", "y", [[3], [7]]),
        ("numpy-detour", "y", [1, 4]),
        ("at-one", "s", -60),
        ("cube", "x", [3, 12]),
    ],
)
def test_what_the_course_says_is_right(name: str, input_: str, right: list[float]) -> None:
    assert gradient(name, input_).tolist() == right


@pytest.mark.parametrize(
    ("name", "input_", "claimed", "right"),
    [
        ("s-goes-to-one", "t", [[1, 1], [1, 1]], [[2, 2], [2, 2]]),
        ("scalar-forgets-g", "s", 10, 7),
        ("times-is-not-differentiable", "a", [[0, 0], [0, 0]], [[5, 6], [7, 8]]),
        ("without-transpose", "a", [[12, 14], [12, 14]], [[11, 15], [11, 15]]),
        ("row-gets-the-mean", "y", [2, 3], [4, 6]),
        ("tape-averages", "x", [[0.5, 1], [1.5, 2]], [[2, 4], [6, 8]]),
        ("softmax-without-gradient", "logits", [[0, 0]], [[0.25, -0.25]]),
        ("descent-ends-at-one", "s", 0, -60),
    ],
)
def test_what_people_say_is_wrong_by_these_numbers(
    name: str, input_: str, claimed: list[float], right: list[float]
) -> None:
    found = comparison(name, input_)
    assert found.verdict is Verdict.MISMATCH
    assert found.analytic is not None
    assert found.numeric is not None
    np.testing.assert_allclose(found.analytic, claimed, rtol=1e-12)
    np.testing.assert_allclose(found.numeric, right, rtol=1e-9)


def test_a_claim_of_16_numbers_is_refused_for_its_shape() -> None:
    found = comparison("sum-has-a-square-jacobian", "x")
    assert found.verdict is Verdict.MISMATCH
    assert found.note == "the gradient has shape [4, 4], but its input has shape [4]"
