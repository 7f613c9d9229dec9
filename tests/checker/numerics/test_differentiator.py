"""Numeric derivatives against known ones: the error lies within the bound, the bound is tight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradcheck
from gradcheck.checker import stepping, tolerances
from gradcheck.checker.api import describe
from gradcheck.checker.numerics.differentiator import glance
from tests.checker.numerics.smooth import KNOWN, Counted, Function, Known, allowed, estimate, mover
from tests.checker.planted import planted
from tests.checker.verdicts import draw_from, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array

SCALES = (1e-12, 1.0, 1e12)
BY_NAME = {known.name: known for known in KNOWN}


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
        secant = 3 * self.x**2 + (stepping.ODD * stepping.FIRST_STEP) ** 2
        found, _ = self.glance(lambda p: p**3, self.x, secant)
        assert (np.abs(found.numeric - 3 * self.x**2) < 1e-9).all()


class TestFastFunctions:
    @pytest.mark.parametrize("frequency", [1e3, 1e6, 1e9])
    def test_high_frequency(self, tf: Any, frequency: float) -> None:
        x = np.random.default_rng(0).uniform(0.5, 1, 5)
        assert verdict(lambda x: tf.sin(frequency * x), x) in ("pass", "inconclusive")

    @pytest.mark.parametrize("frequency", [1e3, 1e6])
    def test_an_error_at_high_frequency(self, tf: Any, frequency: float) -> None:
        x = np.random.default_rng(0).uniform(0.5, 1, 5)
        wrong = planted(lambda x: tf.sin(frequency * x), lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, x) == "mismatch"

    def test_a_branch_point_closer_than_any_step(self, tf: Any) -> None:
        near = np.array([-1 + 4e-12 - 4e-13j, -0.99 + 0.002j, -1 + 2e-12 + 2e-14j])
        assert verdict(tf.asin, near) == "pass"
        assert verdict(planted(tf.asin, lambda gs: [gs[0] * 1.001]), near) == "mismatch"


class TestTiesAndKinks:
    @pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
    @pytest.mark.parametrize("name", ["reduce_max", "sort", "maximum"])
    def test_near_ties(self, tf: Any, name: str, gap: float) -> None:
        functions = {
            "reduce_max": tf.reduce_max,
            "sort": tf.sort,
            "maximum": lambda x: tf.maximum(x, x[::-1]),
        }
        assert verdict(functions[name], np.array([1.0, 0.0, 1 + gap])) == "pass"


def test_a_slope_that_no_step_could_show_is_not_refuted(tf: Any) -> None:
    # It climbs by 2e-9 within 1e-20 of zero: to every step that there is, a jump.
    steep = gradcheck.check(lambda x: 1e-9 * tf.tanh(1e20 * x), np.zeros(1))
    assert steep.verdict == "inconclusive", describe(steep)
    flat = planted(lambda x: 1e-9 * tf.tanh(x), lambda gs: [1e3 * gs[0]])
    assert gradcheck.check(flat, np.zeros(1)).verdict == "mismatch"


@pytest.mark.parametrize("x", [-1e-16, -1e-20, -1e-100, -1e-300])
@pytest.mark.parametrize("beside", [[], [1.0]], ids=["alone", "beside a larger one"])
def test_what_a_kernel_takes_from_one(tf: Any, x: float, beside: list[float]) -> None:
    # Its output is zero, and stands still: exp(x) is one there, less one.
    point = np.array([x, *beside])
    for right in (tf.nn.elu, tf.nn.selu):
        assert gradcheck.check(right, point).verdict != "mismatch"
    # What rounds nothing stands still for good, and what would show is refuted.
    assert gradcheck.check(tf.nn.relu, point).verdict != "mismatch"
    for wrong in (planted(tf.nn.elu, lambda gs: [2 * gs[0]]), planted(tf.abs, lambda gs: [-gs[0]])):
        assert gradcheck.check(wrong, np.array([-1e-9, *beside])).verdict == "mismatch"


class TestFarOutInDoublePrecision:
    @pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12])
    @pytest.mark.parametrize(
        "name", ["log_softmax", "l2_normalize", "gelu", "layer norm", "layers"]
    )
    def test_no_false_alarm_at_any_magnitude(self, tf: Any, name: str, size: float) -> None:
        def layer_norm(x: Any) -> Any:
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-3)

        functions = {
            "log_softmax": tf.nn.log_softmax,
            "l2_normalize": lambda x: tf.math.l2_normalize(x, -1),
            "gelu": tf.nn.gelu,
            "layer norm": layer_norm,
            "layers": lambda x: tf.tanh(x @ draw_from(9, 5, 4)) @ draw_from(8, 4, 2),
        }
        for seed in range(2):
            x = size * draw_from(seed, 2, 5)
            assert verdict(functions[name], x, seed=seed) in ("pass", "inconclusive")


class TestNearTies:
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("gap", [0.001, 0.004, 0.01])
    def test_steps_below_the_gap_decide(self, tf: Any, gap: float, dtype: str) -> None:
        functions = {
            "min": lambda x: tf.reduce_min(tf.reshape(x, (4, 2)), axis=1),
            "sort": tf.sort,
            "scatter": lambda x: tf.tensor_scatter_nd_min(x[::2], [[0], [1], [2], [3]], x[1::2]),
            "maximum": lambda x: tf.maximum(x[::2], x[1::2]),
        }
        first = np.sort(np.random.default_rng(0).standard_normal(4))
        x = np.stack([first, first + gap], axis=1).ravel().astype(dtype)
        for function in functions.values():
            assert verdict(function, x) == "pass"
        turned = planted(functions["maximum"], lambda gs: [gs[0][::-1]])
        assert verdict(turned, x) == "mismatch"

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_a_fit_does_not_reach_across_a_switch(self, tf: Any, dtype: str) -> None:
        def clipped(x: Any) -> Any:
            return tf.cast(tf.nn.relu6(tf.cast(x, dtype)), x.dtype)

        x = np.array([6.1, 6.3, 6.5, 6.7, 6.9])
        # (In bfloat16 the switch is three numbers away.)
        undecided = {"inconclusive"} if dtype == "bfloat16" else set()
        assert verdict(clipped, x) in {"pass"} | undecided
        assert verdict(clipped, x + 0.5) == "pass"
        assert verdict(planted(clipped, lambda gs: [gs[0] + 1]), x) != "pass"


def test_few_calls_where_each_is_dear(tf: Any) -> None:
    calls = 0

    def counted(function: Any) -> Any:
        def wrapped(x: Any) -> Any:
            nonlocal calls
            calls += 1
            return function(x)

        return wrapped

    x = np.random.default_rng(8).standard_normal(12)
    # A step to either side of each element of what is linear, two of what is not; and some more.
    for function, most in ((tf.reduce_sum, 40), (lambda t: tf.reduce_sum(tf.exp(t)), 65)):
        calls = 0
        assert gradcheck.check(counted(function), x).verdict == "pass"
        assert calls < most
