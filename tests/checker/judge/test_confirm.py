"""What is looked at again, and what is judged of elements that nobody can move or see."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import verdict


class TestOutputsThatDoNotMove:
    def test_outputs_that_are_nan_and_belong_to_an_input(self, tf: Any) -> None:
        found = gradcheck.check(tf.math.log, np.array([-1.0, 2.0]))
        assert found.verdict == "inconclusive"

    def test_no_number_for_what_reaches_none(self, tf: Any) -> None:
        (comparison,) = gradcheck.check(tf.math.log, np.array([-1.0, 2.0, 0.0])).comparisons
        assert comparison.numeric is not None
        assert comparison.bound is not None
        assert np.isnan(comparison.numeric).tolist() == [True, False, True]
        assert np.isinf(comparison.bound).tolist() == [True, False, True]


class TestInfiniteInputs:
    @pytest.mark.parametrize("name", ["tanh", "exp", "sigmoid"])
    def test_they_are_not_moved(self, tf: Any, name: str) -> None:
        assert verdict(getattr(tf.math, name), np.array([1.0, -np.inf])) == "pass"

    def test_masks(self, tf: Any) -> None:
        a, b = np.array([1.0, np.inf]), np.array([-np.inf, 2.0])
        assert verdict(lambda a, b: tf.where([True, False], a, b), a, b) == "pass"

    def test_the_finite_ones_are_still_judged(self, tf: Any) -> None:
        wrong = planted(tf.tanh, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, np.array([1.0, np.inf])) == "mismatch"


class TestTiesAndKinks:
    @pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-6, 1e-7, -1e-6])
    def test_a_value_between_the_sides_of_a_kink_that_is_near(
        self, tf: Any, distance: float
    ) -> None:
        wrong = with_gradient(lambda x: tf.abs(x - 1), lambda g, _: 0 * g)
        assert verdict(wrong, np.array([1 + distance])) == "mismatch"
        assert verdict(lambda x: tf.abs(x - 1), np.array([1 + distance])) == "pass"

    @pytest.mark.parametrize("outside", [-0.5, -0.01, -1e-6, 1 + 1e-6, 1.01, 1.5])
    def test_a_value_outside_of_both_sides(self, tf: Any, outside: float) -> None:
        def gradient(g: Any, x: Any) -> Any:
            slope = tf.where(x > 0, tf.ones_like(x), tf.zeros_like(x))
            return g * tf.where(x == 0, tf.constant(outside, x.dtype), slope)

        wrong = with_gradient(tf.nn.relu, gradient)
        result = gradcheck.check(wrong, np.array([0.0, 1.0, -1.0]), upstream="ones")
        assert result.verdict == "mismatch"
        assert "between the one-sided derivatives" in result.comparisons[0].note
        (worst,) = result.comparisons[0].worst
        assert worst.error == pytest.approx(max(-outside, outside - 1), rel=1e-2)

    @pytest.mark.parametrize("inside", [0.0, 0.3, 1.0])
    def test_a_value_between_both_sides(self, tf: Any, inside: float) -> None:
        def gradient(g: Any, x: Any) -> Any:
            slope = tf.where(x > 0, tf.ones_like(x), tf.zeros_like(x))
            return g * tf.where(x == 0, tf.constant(inside, x.dtype), slope)

        assert verdict(with_gradient(tf.nn.relu, gradient), np.array([0.0, 1.0])) == "kink"


RAMP: Any = np.linspace(-1.0, 2.0, 5)


class TestHugeOutputsThatDependOnNothing:
    """An empty segment is 1.8e308: it must not make the bars, nor excuse anything."""

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("name", ["min", "max"])
    def test_what_depends_on_nothing_hides_nothing(self, tf: Any, name: str, dtype: str) -> None:
        segment = getattr(tf.math, f"unsorted_segment_{name}")

        def function(x: Any) -> Any:
            return segment(x, tf.constant([0, 0, 2, 2]), 4)

        x = np.random.default_rng(1).standard_normal((4, 3)).astype(dtype)
        (found,) = gradcheck.check(function, x).comparisons
        assert found.verdict == "pass"
        assert found.error_bar is not None
        assert found.error_bar < 1e-8

    @pytest.mark.parametrize("error", [1e-6, 1e-3])
    @pytest.mark.parametrize("huge", [-1.7976931348623157e308, 1.7e308, 3.4028234663852886e38])
    def test_a_fault_beside_them_is_found(self, tf: Any, huge: float, error: float) -> None:
        def function(x: Any) -> Any:
            return tf.concat([tf.nn.relu(x), tf.fill([2], tf.constant(huge, x.dtype))], 0)

        x = np.array([0.7, -0.4, 1.2, -2.0])
        assert gradcheck.check(function, x).verdict == "pass"
        (found,) = gradcheck.check(planted(function, lambda g: [g[0] + error]), x).comparisons
        assert found.verdict == "mismatch"
        assert found.failing == 4

    @pytest.mark.parametrize("huge", [1e16, 1e30, 1.7e308])
    def test_one_that_hides_what_it_depends_on_still_does(self, tf: Any, huge: float) -> None:
        def function(x: Any) -> Any:
            return tf.stack([tf.sin(x[0]), x[1] + huge])

        found = gradcheck.check(function, np.array([0.7, 0.4]))
        assert found.verdict in ("pass", "inconclusive"), describe(found)
        found = gradcheck.check(lambda x: tf.sin(x) + huge, np.array([0.7, 0.4]))
        assert found.verdict in ("pass", "inconclusive"), describe(found)


class TestDerivativesThatAreZero:
    """What does not move but for rounding is known to be zero, and a small gradient is wrong."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {
        "sines and cosines": lambda tf, x: tf.sin(x) ** 2 + tf.cos(x) ** 2,
        "a shift of softmax": lambda tf, x: tf.nn.softmax(tf.reshape(x, [-1, 1]) + RAMP),
        "a sum of softmax": lambda tf, x: tf.reduce_sum(tf.nn.softmax(x)),
        "a bias before a norm": lambda tf, x: _normed(tf, RAMP[:, None] + x),
        "a length of one": lambda tf, x: tf.norm(x / tf.norm(x)),
        "an inverse": lambda tf, x: tf.exp(x) * tf.exp(-x),
    }
    VANISHING: ClassVar[dict[str, Any]] = {
        "a mean that was taken off": lambda tf, x: tf.reduce_mean(_normed(tf, x)),
        "a logarithm of an exponential": lambda tf, x: tf.math.log(tf.exp(x)) - x,
        "a shift of a sum": lambda tf, x: (
            tf.reduce_logsumexp(x + x[0]) - x[0] - tf.reduce_logsumexp(x)
        ),
        "a variance of one": lambda tf, x: tf.math.reduce_variance(x[:, None], -1),
        "the logarithm of what is all": lambda tf, x: tf.math.reduce_variance(
            tf.nn.log_softmax(tf.sin(x[:, None])), -1
        ),
        "a distance from itself": lambda tf, x: tf.maximum(tf.exp(x) - tf.exp(x), 0.0),
    }

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_they_pass(self, tf: Any, name: str, dtype: str, seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal(4).astype(dtype)
        found = gradcheck.check(lambda x: self.FUNCTIONS[name](tf, x), x, seed=seed)
        assert found.verdict == "pass", describe(found)

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("name", VANISHING)
    def test_outputs_that_are_zero_themselves(self, tf: Any, name: str, seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal(4)
        found = gradcheck.check(lambda x: self.VANISHING[name](tf, x), x, seed=seed)
        assert found.verdict == "pass", describe(found)

    @pytest.mark.parametrize("error", [1e-10, 1e-6])
    @pytest.mark.parametrize("name", [*FUNCTIONS, *VANISHING])
    def test_a_small_gradient_is_wrong(self, tf: Any, name: str, error: float) -> None:
        function = (self.FUNCTIONS | self.VANISHING)[name]
        wrong = planted(lambda x: function(tf, x), lambda g: [g[0] + error])
        x = np.random.default_rng(4).standard_normal(4)
        found = gradcheck.check(wrong, x).verdict
        # (Nobody can tell how many digits an output has that is rounding and nothing else.)
        assert found == "mismatch" or (name in self.VANISHING and found == "inconclusive")


def test_far_from_a_slope_that_is_known_well(tf: Any) -> None:
    import tensorflow.experimental.numpy as tnp

    equal = np.ones(3)
    assert gradcheck.check(tnp.logaddexp, equal, equal).verdict == "mismatch"
    assert gradcheck.check(tnp.logaddexp, equal, equal + np.array([0.5, 0.1, 1])).verdict == "pass"


def test_a_last_digit_is_no_randomness(tf: Any) -> None:
    def again(x: Any) -> Any:
        values, left, right = tf.linalg.svd(x)
        return left @ tf.linalg.diag(values) @ tf.transpose(right)

    # (Its singular values are all the same, and TensorFlow's gradient takes none of them apart.)
    assert gradcheck.check(again, np.eye(3)).verdict == "mismatch"
    assert gradcheck.check(again, np.diag([1.0, 2.0, 3.0])).verdict == "pass"


def _normed(tf: Any, x: Any) -> Any:
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance)


CANCELLING: dict[str, Any] = {
    "sqrt": lambda tf: lambda x: (tf.sqrt(1 + x) - 1) / x,
    "exp": lambda tf: lambda x: (tf.exp(x) - 1) / x,
}


@pytest.mark.parametrize("name", CANCELLING)
@pytest.mark.parametrize("x", [7.3e-7, 3.5e-6, 7.3e-6, 1.2e-4, 2.6e-4])
def test_what_cancels_is_smooth_from_close_by(tf: Any, name: str, x: float) -> None:
    function = CANCELLING[name](tf)
    # Between the jumps of what is left it is smooth, with another slope.
    assert gradcheck.check(function, np.array([x]), upstream="ones").verdict == "pass"


@pytest.mark.parametrize("name", CANCELLING)
def test_and_its_faults_are_found(tf: Any, name: str) -> None:
    wrong = planted(CANCELLING[name](tf), lambda gs: [gs[0] * 1.01])
    assert gradcheck.check(wrong, np.array([2.6e-3]), upstream="ones").verdict == "mismatch"


def test_beyond_all_rounding_takes_few_passes(tf: Any) -> None:
    """Of a large input, for which a pass takes long."""
    passes = itertools.count()
    factor = np.ones(40_000)
    factor[1234] = 1.5

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        y = tf.tanh(x)

        def gradient(upstream: Any) -> Any:
            next(passes)
            return upstream * (1 - y * y) * factor

        return y, gradient

    result = gradcheck.check(function, np.linspace(-1.0, 1.0, 40_000), budget=100)
    (x,) = result.comparisons
    assert (result.verdict, x.worst_index, x.failing) == ("mismatch", (1234,), 1)
    before_causes = next(passes)
    assert before_causes < 40


SATURATED: dict[str, tuple[Any, list[float]]] = {
    "a normal distribution": (
        lambda tf: lambda x: tf.math.log((1 + tf.math.erf(x / np.sqrt(2.0))) / 2),
        [7.0, 7.5, 7.8, 8.0, 8.1],
    ),
    "a Gamma distribution": (
        lambda tf: lambda x: tf.math.log(tf.math.igamma(tf.constant(3.0, x.dtype), x)),
        [36.0, 38.0, 40.0, 41.0],
    ),
    "an exponential one": (
        lambda tf: lambda x: tf.math.log(1 - tf.exp(-x)),
        [30.0, 33.0, 34.0, 35.5],
    ),
    "a logistic one": (lambda tf: lambda x: tf.math.log(tf.sigmoid(x)), [30.0, 34.0, 35.5]),
    "the root of what is left": (lambda tf: lambda x: tf.sqrt(1 - tf.tanh(x)), [16.0, 17.0, 18.0]),
    "several at once": (
        lambda tf: lambda x: tf.reduce_sum(tf.math.log(1 - tf.exp(-x))) + 0 * x,
        [2.0, 34.0, 35.0],
    ),
}


class TestWhatIsOneButForItsLastDigits:
    """A function that stands still because its results round, and is nearly zero itself."""

    @pytest.mark.parametrize("name", SATURATED)
    def test_what_is_one_but_for_its_last_digits(self, tf: Any, name: str) -> None:
        make, points = SATURATED[name]
        for point in [*([x] for x in points), points]:
            found = gradcheck.check(make(tf), np.array(point))
            assert found.verdict in ("pass", "inconclusive"), describe(found)

    @pytest.mark.parametrize("name", SATURATED)
    def test_a_gradient_that_is_far_off_does_not_pass(self, tf: Any, name: str) -> None:
        make, points = SATURATED[name]
        wrong = planted(make(tf), lambda gs: [gs[0] + 1e-3])
        assert verdict(wrong, np.array(points)) in ("mismatch", "inconclusive")

    def test_what_really_stands_still(self, tf: Any) -> None:
        wrong = with_gradient(lambda x: tf.floor(x) + 0.25, lambda g, _: g)
        assert verdict(wrong, np.array([0.4, 3.3])) == "mismatch"
        constant = with_gradient(lambda x: tf.sin(x) ** 2 + tf.cos(x) ** 2, lambda g, _: 1e-6 * g)
        assert verdict(constant, np.array([0.4, 3.3])) == "mismatch"


MADE_OF_LARGE_NUMBERS: dict[str, tuple[Any, list[float]]] = {
    "one and less": (lambda _: lambda x: (1 + x) - 1, [1e-13]),
    "a loss beyond its corner": (lambda tf: lambda x: tf.sqrt(x**2 + 1e12) - 1e6, [0.3]),
    "a loss at its bottom": (lambda tf: lambda x: tf.sqrt(1 + x * x) - 1, [1e-6]),
    "a class that is certain": (lambda tf: lambda x: -tf.nn.log_softmax(x)[0], [33.0, 0.0, 1.0]),
    "the same as a loss": (
        lambda tf: lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0], x[None]),
        [33.0, 0.0, 1.0],
    ),
    "less its largest": (
        lambda tf: lambda x: tf.reduce_logsumexp(x) - tf.reduce_max(x),
        [30.0, 0.0, 1.0],
    ),
    "a logarithm near one": (lambda tf: lambda x: tf.math.log(1 + x), [1e-13]),
    "the same beside others": (lambda tf: lambda x: tf.math.log(1 + x), [1e-13, 0.5]),
    "what is left of one": (lambda tf: lambda x: 1 - tf.math.special.bessel_j0(x), [1e-7]),
    "what was added to a million": (lambda tf: lambda x: tf.add(x, 1e6) - 1e6, [1e-7, 1.0]),
    "and what is made of it": (lambda tf: lambda x: tf.tanh((x + 1e6) - 1e6), [1e-7]),
    "a root beside a million": (lambda tf: lambda x: (tf.sqrt(1e6 + x) - 1e3) * 1e3, [1e-7, 1.0]),
    "a sum that cancels": (
        lambda tf: lambda x: tf.reduce_sum(tf.stack([x + 1e9, -1e9 + 0 * x])),
        [1e-9],
    ),
}


class TestOutputsThatAreMadeOfLargeNumbers:
    @pytest.mark.parametrize("name", MADE_OF_LARGE_NUMBERS)
    def test_zero_for_what_only_seems_to_stand_still(self, tf: Any, name: str) -> None:
        make, point = MADE_OF_LARGE_NUMBERS[name]
        wrong = planted(make(tf), lambda gs: [0 * gs[0]])
        assert verdict(wrong, np.array(point)) in ("mismatch", "inconclusive")

    @pytest.mark.parametrize("name", MADE_OF_LARGE_NUMBERS)
    def test_the_right_one_is_not_blamed(self, tf: Any, name: str) -> None:
        make, point = MADE_OF_LARGE_NUMBERS[name]
        assert verdict(make(tf), np.array(point)) in ("pass", "inconclusive")

    def test_zero_beside_what_moves(self, tf: Any) -> None:
        def tanh_normal(x: Any) -> Any:
            return tf.reduce_sum(tf.math.log(1 - tf.tanh(x) ** 2))

        x = np.array([15.0, 1.0, -0.4])
        wrong = planted(tanh_normal, lambda gs: [gs[0] * np.array([0.0, 1.0, 1.0])])
        assert verdict(wrong, x) == "mismatch"
        assert verdict(tanh_normal, x) == "pass"


def test_a_gradient_is_rounded_to_its_own_dtype(tf: Any) -> None:
    rng = np.random.default_rng(0)
    left, right = (tf.constant(rng.normal(size=s), tf.bfloat16) for s in ((3, 4), (4, 2)))

    def product(a: Any, b: Any) -> Any:
        return tf.raw_ops.SparseMatMul(a=a, b=b)

    assert verdict(product, left, right) == "pass"
    more = planted(product, lambda gs: [1.05 * gs[0], gs[1]])
    assert verdict(more, left, right) == "mismatch"
