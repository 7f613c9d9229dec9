"""Numeric derivatives against known ones: the error lies within the bound, the bound is tight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.differentiator import glance
from tests.checker.numerics.smooth import KNOWN, Counted, Function, Known, estimate, mover

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array

SCALES = (1e-12, 1.0, 1e12)
BY_NAME = {known.name: known for known in KNOWN}


def allowed(found: Estimate) -> Array:
    """What the comparison grants."""
    size = np.maximum(np.abs(found.numeric), found.scale)
    return np.asarray(tolerances.BOUND_SAFETY * found.bound + tolerances.ARITHMETIC * size)


def weights_for(rng: np.random.Generator, size: int) -> Array:
    return np.asarray(rng.integers(32, 97, size) / 64 * rng.choice([-1.0, 1.0], size))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_within_the_bound_and_tight(known: Known, scale: float) -> None:
    outside, relative = 0, []
    for seed in range(4):
        rng = np.random.default_rng([seed, 7])
        x, weights = known.draw(rng, 50), weights_for(rng, 50)
        found = estimate(lambda p: known.f(p) * scale, x, weights, seed=seed)
        true = known.true(x) * weights * scale
        outside += int((np.abs(found.numeric - true) > allowed(found)).sum())
        assert not found.kink.any()
        relative.append(found.bound / np.abs(true))
    assert outside == 0
    assert float(np.median(np.concatenate(relative))) < 1e-9


def test_how_tight_the_bounds_are(record_property: Callable[[str, object], None]) -> None:
    """All functions together, over magnitudes of the input and of the output; `-s` prints it."""
    relative, ratio = [], []
    for known in KNOWN:
        for scale in SCALES:
            for seed in range(4):
                rng = np.random.default_rng([seed, 7])
                x, weights = known.draw(rng, 50), weights_for(rng, 50)
                found = estimate(lambda p, k=known, s=scale: k.f(p) * s, x, weights, seed=seed)  # type: ignore[misc]
                true = np.abs(known.true(x) * weights * scale).astype(np.float64)
                error = np.abs(found.numeric - known.true(x) * weights * scale)
                # (An error below the last digit is luck.)
                error = np.maximum(error.astype(np.float64), np.spacing(true))
                relative.append(found.bound / true)
                ratio.append(found.bound / error)
    share, times = np.concatenate(relative), np.concatenate(ratio)
    figures = {
        "derivatives": len(share),
        "bound / |derivative|, median": float(np.median(share)),
        "bound / |derivative|, 90 %": float(np.quantile(share, 0.9)),
        "bound / true error, least": float(times.min()),
        "bound / true error, median": float(np.median(times)),
        "bound / true error, 90 %": float(np.quantile(times, 0.9)),
    }
    for name, figure in figures.items():
        record_property(name, figure)
        print(f"{name}: {figure:.2g}")
    # Measured: 2.1e-12, 3.2e-10, 1.5, 50 and 5,100.
    assert figures["bound / |derivative|, median"] < 1e-11
    assert figures["bound / |derivative|, 90 %"] < 1e-9
    assert figures["bound / true error, least"] >= 1, "not even the factor of safety was needed"
    assert figures["bound / true error, median"] < 100
    assert figures["bound / true error, 90 %"] < 1e4


@given(
    st.sampled_from(sorted(BY_NAME)),
    st.floats(0.0, 1.0),
    st.booleans(),
    st.integers(-12, 12),
    st.integers(0, 3),
)
def test_one_element_anywhere(
    name: str, where: float, negative: bool, decade: int, seed: int
) -> None:
    known = BY_NAME[name]
    size = np.exp(np.log(known.low) * (1 - where) + np.log(known.high) * where)
    x = np.array([-size if negative and known.signed else size])
    found = estimate(lambda p: known.f(p) * 10.0**decade, x, seed=seed)
    error = np.abs(found.numeric - known.true(x) * 10.0**decade)
    assert (error <= allowed(found)).all()


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_a_scalar_loss(known: Known) -> None:
    for seed in range(4):
        x = known.draw(np.random.default_rng(seed), 30)
        x = np.sign(x) * np.clip(np.abs(x), 1e-2, min(known.high, 1e2))
        found = estimate(lambda p: known.f(p).sum(axis=1, keepdims=True), x, seed=seed)
        assert (np.abs(found.numeric - known.true(x)) <= allowed(found)).all()


@given(st.lists(st.floats(-3, 3).map(lambda c: round(c, 3)), min_size=2, max_size=6))
def test_polynomials(coefficients: list[float]) -> None:
    polynomial = np.polynomial.Polynomial(coefficients)
    x = np.array([-2.5, -0.3, 0.7, 1.9])
    found = estimate(lambda p: np.asarray(polynomial(p)), x)
    true = polynomial.deriv()(x.astype(np.longdouble))
    assert (np.abs(found.numeric - true) <= allowed(found)).all()


def test_cancelling_is_never_a_wrong_bound() -> None:
    outside = judged = 0
    for known in KNOWN:
        for seed in range(3):
            x = known.draw(np.random.default_rng(seed), 30)
            x = np.sign(x) * np.clip(np.abs(x), 1e-1, min(known.high, 1e1))
            big = 1e8 * float(np.abs(known.f(x)).max())
            found = estimate(lambda p, f=known.f, b=big: (f(p) + b) - b, x, seed=seed)  # type: ignore[misc]
            known_enough = found.bound <= tolerances.VACUOUS * found.scale.max()
            moves = found.scale > 0
            wrong = np.abs(found.numeric - known.true(x)) > allowed(found)
            outside += int((wrong & known_enough & moves).sum())
            judged += int((known_enough & moves).sum())
    assert judged > 500
    assert outside == 0


class TestDomains:
    def test_steps_stay_inside(self) -> None:
        def function(points: Array) -> Array:
            assert (points >= 0).all() or len(points) == 1 or (points > -1e-3).all()
            return np.sqrt(np.abs(points))

        found = estimate(function, np.array([1e-6, 0.5]), low=0.0)
        true = 0.5 / np.sqrt(np.array([1e-6, 0.5]))
        assert (np.abs(found.numeric - true) <= allowed(found)).all()

    def test_one_side_at_an_edge(self) -> None:
        found = estimate(lambda p: p**1.5 + p, np.array([0.0, 1.0]), low=0.0)
        assert found.numeric[0] == pytest.approx(1.0, abs=1e-3)
        assert abs(found.numeric[0] - 1.0) <= allowed(found)[0]
        assert not found.kink[0]

    def test_infinite_at_an_edge(self) -> None:
        found = estimate(lambda p: np.sqrt(np.abs(p)), np.array([0.0, 1.0]), low=0.0)
        assert found.numeric[0] == np.inf
        assert found.numeric[1] == pytest.approx(0.5)

    def test_a_log_next_to_zero(self) -> None:
        x = np.array([1e-9, 1e-3, 0.01])
        found = estimate(np.log, x, low=0.0)
        assert (np.abs(found.numeric - 1 / x) <= allowed(found)).all()
        assert (found.bound * x < 1e-8).all()


class TestKinks:
    def test_both_sides_of_relu(self) -> None:
        found = estimate(lambda p: np.maximum(p, 0), np.array([0.0, 1.0, -1.0]))
        assert found.kink.tolist() == [True, False, False]
        assert (found.left[0], found.right[0]) == pytest.approx((0, 1))

    def test_both_sides_of_abs(self) -> None:
        found = estimate(np.abs, np.array([0.0, 2.0]))
        assert found.kink.tolist() == [True, False]
        assert (found.left[0], found.right[0]) == pytest.approx((-1, 1))

    def test_the_sides_of_a_kink_may_be_curved(self) -> None:
        found = estimate(lambda p: np.abs(p) + p**2 + np.exp(p), np.zeros(1))
        assert found.kink.all()
        assert (found.left[0], found.right[0]) == pytest.approx((0, 2), abs=1e-9)

    @pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 1e-3])
    def test_a_kink_nearby_is_not_here(self, distance: float) -> None:
        found = estimate(lambda p: np.abs(p - 1), np.array([1 + distance, 1 - distance]))
        assert not found.kink.any()
        np.testing.assert_allclose(found.numeric, [1, -1], rtol=1e-3)

    def test_a_jump(self) -> None:
        found = estimate(lambda p: np.floor(p) + 3 * p, np.array([2.0, 2.5]))
        assert found.kink.tolist() == [True, False]
        assert (found.left[0], found.right[0]) == pytest.approx((3, 3))

    @pytest.mark.parametrize("curve", [lambda p: p * np.abs(p), lambda p: np.maximum(p, 0) ** 2])
    def test_a_kink_of_the_second_derivative_is_none(self, curve: object) -> None:
        assert callable(curve)
        found = estimate(curve, np.array([0.0, 1.0]))
        assert not found.kink.any()
        assert found.numeric[0] == pytest.approx(0, abs=1e-6)


class TestOutputsThatDoNotMove:
    @pytest.mark.parametrize("still", [np.inf, -np.inf, np.nan, 1.7e308, -1.7e308])
    def test_they_do_not_matter(self, still: float) -> None:
        def function(points: Array) -> Array:
            return np.concatenate([np.sin(points), np.full((len(points), 1), still)], axis=1)

        x = np.array([0.3, 0.8])
        found = estimate(function, x)
        assert (np.abs(found.numeric - np.cos(x)) <= allowed(found)).all()
        assert found.bound.max() < 1e-10

    def test_a_constant_has_no_derivative(self) -> None:
        found = estimate(lambda p: np.ones((len(p), 1)), np.array([0.3, 0.8]))
        assert found.numeric.tolist() == [0, 0]
        assert found.bound.max() < 1e-9


def test_the_seed_makes_it_repeatable() -> None:
    first, again = (estimate(np.exp, np.array([0.3, 0.8]), seed=3) for _ in range(2))
    assert first.numeric.tolist() == again.numeric.tolist()
    assert first.bound.tolist() == again.bound.tolist()
    assert first.finest.tolist() == again.finest.tolist()


class TestGlance:
    """What a first look makes of what a gradient claims."""

    x = np.linspace(1, 2, 100)

    def glance(self, function: Function, x: Array, claimed: Array) -> tuple[Estimate, int]:
        """The estimate, and at how many points the function was evaluated for it."""
        counted = Counted(function)
        moves = mover(counted, x)
        before = counted.points
        return glance(moves, claimed), counted.points - before

    def test_a_linear_function_takes_one_step(self) -> None:
        found, points = self.glance(lambda p: 3 * p, self.x, np.full(100, 3.0))
        assert points == 2 * 100
        assert found.numeric == pytest.approx(3, rel=1e-13)
        assert found.bound.max() < 1e-12

    @pytest.mark.parametrize("wrong_by", [1e-11, 1e-8, 0.5, -1.0])
    def test_a_claim_that_is_wrong_takes_all_of_them(self, wrong_by: float) -> None:
        claimed = np.where(np.arange(100) == 7, 3.0 * (1 + wrong_by), 3.0)
        found, points = self.glance(lambda p: 3 * p, self.x, claimed)
        assert points == 2 * 99 + 8
        assert found.numeric == pytest.approx(3, rel=1e-13)
        assert np.abs(claimed - found.numeric)[7] > 2 * found.bound[7]

    def test_a_function_that_is_curved_does_too(self) -> None:
        true = 1 / np.cos(self.x / 2) ** 2
        found, points = self.glance(np.tan, self.x / 2, true)
        assert points == 8 * 100
        assert (np.abs(found.numeric - true) <= found.bound).all()
        # So few are moved by all the steps at once, which must not change what is known of them.
        few, _ = self.glance(np.tan, self.x[:5] / 2, true[:5])
        assert found.bound[:5] == pytest.approx(few.bound, rel=0.1)

    def test_a_kink_within_the_step(self) -> None:
        found, _ = self.glance(np.abs, np.full(100, 1e-3) - 1e-3, np.zeros(100))
        assert found.kink.all()

    def test_what_only_the_step_itself_would_claim(self) -> None:
        # On a curve the quotient of the first step is no derivative.
        secant = 3 * self.x**2 + (tolerances.ODD * tolerances.FIRST_STEP) ** 2
        found, _ = self.glance(lambda p: p**3, self.x, secant)
        assert (np.abs(found.numeric - 3 * self.x**2) < 1e-9).all()
