"""The way back finds what its own forward pass left, and all of it is put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from tests.checker.verdicts import draw, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

DTYPES = ["float64", "float32"]
MODES = ["eager", "graph", "xla"]
X = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.5]])


def cached_sine(tf: Any) -> Callable[[Any, Any], Any]:
    """A method that keeps its input for its gradient."""

    def method(self: Any, x: Any) -> Any:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def function(x: Any) -> Any:
            self.cache = x
            self.calls.append(x)
            return tf.sin(x), lambda upstream: upstream * tf.cos(self.cache + 0 * self.calls[-1])

        return function(x)

    return method


def scaled(tf: Any, dtype: str, *, counts_first: bool) -> tuple[Any, Any]:
    """A function that counts its calls in a variable that its gradient reads, and the variable."""
    count = tf.Variable(2.0, dtype=dtype, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        if counts_first:
            count.assign_add(1.0)
        y = x * count
        if not counts_first:
            count.assign_add(1.0)
        return y, lambda upstream: upstream * count

    return function, count


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["module", "plain", "layer"])
def test_a_cache_that_the_gradient_reads(tf: Any, kind: str, dtype: str) -> None:
    import keras

    base: Any = {"module": tf.Module, "plain": object, "layer": keras.layers.Layer}[kind]

    class Cached(base):  # type: ignore[misc]  # no types in TF
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.cache: Any = None
            self.calls: list[Any] = []

    setattr(Cached, "call" if kind == "layer" else "__call__", cached_sine(tf))
    target = Cached(dtype=dtype) if kind == "layer" else Cached()
    assert verdict(target, X.astype(dtype)) == "pass"
    assert target.cache is None
    assert list(target.calls) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_variable_that_the_gradient_reads(tf: Any, dtype: str, mode: str) -> None:
    for right in (True, False):
        function, count = scaled(tf, dtype, counts_first=right)
        assert verdict(function, X.astype(dtype), mode=mode) == ("pass" if right else "mismatch")
        assert count.numpy() == 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_recomputed_draws_other_numbers(tf: Any, dtype: str) -> None:
    import keras

    for again in (tf.recompute_grad, keras.remat):
        dropout = keras.layers.Dropout(0.5, seed=3, dtype=dtype)
        before = dropout.seed_generator.state.numpy()
        function = again(lambda x, layer=dropout: layer(tf.sin(x), training=True))
        assert verdict(function, X.astype(dtype)) == "mismatch"
        np.testing.assert_array_equal(dropout.seed_generator.state.numpy(), before)
        # What is not random is recomputed as it was.
        dense = keras.layers.Dense(2, dtype=dtype)
        dense.build((3, 2))
        function = again(lambda x, layer=dense: layer(tf.sin(x)))
        assert verdict(function, X.astype(dtype)) == "pass"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_a_gradient_function_writes_and_the_function_reads(
    tf: Any, dtype: str, mode: str
) -> None:
    weight = tf.Variable(2.0, dtype=dtype, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            found = upstream * weight * tf.cos(x)
            weight.assign_add(1.0)
            return found

        return tf.sin(x) * weight, gradient

    assert verdict(function, X.astype(dtype), mode=mode) == "pass"
    assert weight.numpy() == 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_also_if_the_gradient_alone_uses_it(tf: Any, dtype: str) -> None:
    count = tf.Variable(1.0, dtype=dtype, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            count.assign_add(1.0)
            return upstream * count

        return x * 2.0, gradient

    assert verdict(function, X.astype(dtype)) == "pass"
    assert count.numpy() == 1.0


def test_a_gradient_that_raises_leaves_no_traces(tf: Any) -> None:
    weight = tf.Variable(2.0, dtype=tf.float64, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(_: Any) -> Any:
            weight.assign_add(1.0)
            raise ValueError("no gradient")

        weight.assign_add(5.0)
        return tf.sin(x) * weight, gradient

    assert verdict(function, X) == "error"
    assert weight.numpy() == 2.0


def test_the_gradient_of_a_gradient(tf: Any) -> None:
    class Cached:
        cache: Any = None

        def __call__(self, x: Any) -> Any:
            @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
            def cube(x: Any) -> Any:
                self.cache = x
                return x**3, lambda upstream: upstream * 3.0 * self.cache**2

            return cube(x)

    cached = Cached()
    assert verdict(cached, X, checks=["reverse", "second"]) == "pass"
    assert cached.cache is None


def test_neighbours_share_a_pass_of_what_keeps_averages(tf: Any) -> None:
    """What is written at many points is noted and put back at all of them."""
    import keras

    layer = keras.layers.BatchNormalization(dtype="float64")
    layer.build((None, 2))
    before = [v.numpy().tobytes() for v in layer.variables]
    value = draw(5, 2)
    with explored(
        Problem(function=lambda x: layer(x, training=True), operands=(Operand("x", value),))
    ) as problem:
        tape = Tape(problem.function, problem.operands)
        at = [operand.value for operand in problem.operands]
        upstream = [draw(5, 2)]
        points = [[value * (1 + 0.1 * i) for value in at] for i in range(3)]
        together = tape.at_all(points, upstream)
        for point, found in zip(points, together, strict=True):
            alone = Tape(problem.function, problem.operands)(point, upstream)
            for one, other in zip(found.gradients, alone.gradients, strict=True):
                assert one is not None
                assert other is not None
                np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
    assert [v.numpy().tobytes() for v in layer.variables] == before


def test_a_variable_that_was_written_is_read(tf: Any) -> None:
    total = tf.Variable(1.0, dtype=tf.float64, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        total.assign_add(tf.reduce_sum(x))
        total.assign_sub(tf.constant(0.5, tf.float64))
        return x * x, lambda upstream: upstream * 2.0 * x * total.read_value()

    with explored(Problem(function=function, operands=(Operand("x", draw(3)),))) as problem:
        upstream, points = [np.ones(3)], [[draw(3)], [2.0 * draw(3)]]
        together = Tape(problem.function, problem.operands).at_all(points, upstream)
        for (x,), found in zip(points, together, strict=True):
            (gradient,) = found.gradients
            assert gradient is not None
            np.testing.assert_allclose(gradient, 2.0 * x * (0.5 + x.sum()))
    assert total.numpy() == 1.0


def test_what_is_recorded_goes_back_with_the_weights_of_its_point(tf: Any) -> None:
    """Much is moved between the first call and the way back of its record."""
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64)
    function = tf.recompute_grad(lambda x: tf.sin(x * weight))
    with explored(Problem(function=function, operands=(Operand("x", X),))) as problem:
        assert problem.recorded is not None
        weight.assign([5.0, 7.0])
        gradient, _ = problem.recorded.back([np.ones_like(X)]).gradients
        assert gradient is not None
        np.testing.assert_allclose(gradient, np.cos(X * [2.0, 3.0]) * [2.0, 3.0])


def test_what_a_trial_left_is_not_done_again() -> None:
    """A layer that draws, and computes in float32: it is tried as it is before it is promoted.

    On the way back its seed must be where it was, and not where the trial left it.
    """
    import keras

    for seed in range(3):
        layer = keras.layers.Solarization(threshold_factor=0.5, value_range=(0, 1), seed=1)
        at = np.random.default_rng(seed).uniform(0, 1, (1, 1, 2, 3)).astype(np.float32)
        assert verdict(layer, at) == "pass"
