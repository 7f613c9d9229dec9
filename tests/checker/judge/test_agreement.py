"""Coordinate by coordinate: what is right, wrong, unknown, broken or excused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.judge.agreement import MISMATCH, PASS, compare, relative_error
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.model import Tolerance, Verdict


def estimate(numeric: float, bound: float, **rest: Any) -> Estimate:
    """One coordinate."""
    given: dict[str, Any] = {
        "value": numeric,
        "error": bound,
        "scale": abs(numeric) if np.isfinite(numeric) else 1.0,
        "below": numeric,
        "above": numeric,
        **rest,
    }
    arrays = {name: np.array([value]) for name, value in given.items()}
    return replace(Estimate.unknown(1), **arrays)


def verdict(analytic: float, found: Estimate, **rest: Any) -> Verdict:
    return compare(np.array([analytic]), found, **{"reference": 1.0, **rest}).overall


@pytest.mark.parametrize(
    ("analytic", "wanted"),
    [
        (1.0, Verdict.PASS),
        (1 + 1.9e-6, Verdict.PASS),
        (1 + 2.1e-6, Verdict.MISMATCH),
        (1 - 2.1e-6, Verdict.MISMATCH),
        (-1.0, Verdict.MISMATCH),
        (0.0, Verdict.MISMATCH),
        (np.nan, Verdict.NONFINITE),
        (np.inf, Verdict.NONFINITE),
    ],
)
def test_the_bound_is_the_tolerance(analytic: float, wanted: Verdict) -> None:
    assert verdict(analytic, estimate(1.0, 1e-6)) is wanted


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e200])
def test_there_is_no_absolute_tolerance(scale: float) -> None:
    found = estimate(scale, 1e-9 * scale)
    assert verdict(scale, found, reference=scale) is Verdict.PASS
    assert verdict(scale * (1 + 1e-8), found, reference=scale) is Verdict.MISMATCH


def test_what_nobody_knows_is_inconclusive() -> None:
    for analytic in (1.0, 5.0, -1.0):
        assert verdict(analytic, estimate(1.0, 0.5)) is Verdict.INCONCLUSIVE
    assert verdict(1.0, estimate(np.nan, np.inf)) is Verdict.INCONCLUSIVE


def test_nan_is_broken_even_where_nobody_knows() -> None:
    assert verdict(np.nan, estimate(1.0, 0.5)) is Verdict.NONFINITE


def test_an_infinite_derivative() -> None:
    assert verdict(np.inf, estimate(np.inf, 0.0)) is Verdict.PASS
    assert verdict(np.nan, estimate(np.inf, 0.0)) in (Verdict.PASS, Verdict.NONFINITE)
    assert verdict(3.0, estimate(np.inf, 0.0)) is Verdict.MISMATCH


def test_a_kink() -> None:
    found = estimate(0.5, 1e-12, below=0.0, above=1.0, kink=True)
    for inside in (0.0, 0.5, 1.0):
        assert verdict(inside, found) is Verdict.KINK
    for outside in (-1e-6, 1 + 1e-6, 3.0):
        assert verdict(outside, found) is Verdict.MISMATCH


def test_a_tolerance_by_hand() -> None:
    found = estimate(2.0, 1e-12)
    assert verdict(2.01, found, tolerance=Tolerance(rtol=1e-2)) is Verdict.PASS
    assert verdict(2.03, found, tolerance=Tolerance(rtol=1e-2)) is Verdict.MISMATCH
    assert verdict(2.01, found, tolerance=Tolerance(atol=1e-2 + 1e-9)) is Verdict.PASS
    assert verdict(2.02, found, tolerance=Tolerance(atol=1e-2)) is Verdict.MISMATCH


def test_slack() -> None:
    found = estimate(1.0, 1e-12)
    assert verdict(1 + 1e-6, found) is Verdict.MISMATCH
    assert verdict(1 + 1e-6, found, slack=1e-5) is Verdict.PASS


def test_slack_that_hides_everything() -> None:
    assert verdict(-1.0, estimate(1.0, 1e-12), slack=10.0) is Verdict.INCONCLUSIVE


def test_what_cannot_be_moved_is_excused() -> None:
    excused = np.array([True])
    assert verdict(7.0, estimate(np.nan, np.inf), excused=excused) is Verdict.PASS
    assert verdict(np.nan, estimate(np.nan, np.inf), excused=excused) is Verdict.NONFINITE


def test_the_gravest_coordinate_counts() -> None:
    two = replace(Estimate.unknown(2), value=np.ones(2), error=np.full(2, 1e-9), scale=np.ones(2))
    agreement = compare(np.array([1.0, 2.0]), two, reference=1.0)
    assert agreement.grades.tolist() == [PASS, MISMATCH]
    assert agreement.overall is Verdict.MISMATCH


def test_relative_errors() -> None:
    found = estimate(2.0, 1e-9)
    assert relative_error(np.array([1.0]), np.array([3.0]), found)[0] == pytest.approx(1 / 3)
    # What cannot be told from zero has no relative error.
    tiny = estimate(1e-12, 1e-9)
    assert relative_error(np.array([1e-12]), np.array([0.0]), tiny)[0] == 0.0


@pytest.mark.parametrize(
    ("gradient", "verdict"),
    [(np.inf, "pass"), (-np.inf, "mismatch"), (np.nan, "nonfinite"), (7.0, "mismatch")],
)
def test_where_the_derivative_is_infinite(tf: Any, gradient: float, verdict: str) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def root(x: Any) -> Any:
        def back(upstream: Any) -> Any:
            at_zero = tf.fill(tf.shape(x), tf.constant(gradient, x.dtype))
            return tf.where(x == 0, at_zero, upstream / (2 * tf.sqrt(x)))

        return tf.sqrt(x), back

    found = gradcheck.check(root, np.array([0.0, 1.0, 4.0]), upstream="ones").verdict
    assert found == verdict
