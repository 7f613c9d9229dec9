"""Forward mode: the accumulator against the numeric derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.subject.accumulator import Accumulator, Moved
from gradcheck.model import Verdict

X = np.array([1.0, 2.0, 3.0])


class TestForwardMode:
    def test_right(self, tf: Any) -> None:
        result = gradcheck.check(tf.tanh, X, checks=["forward"])
        assert result.verdict is Verdict.PASS
        assert result.comparisons[0].judged == 3

    @pytest.mark.parametrize("size", [3, 100])
    def test_wrong(self, tf: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
        class Wrong(Accumulator):
            def __call__(self, *given: Any) -> Moved:
                right = super().__call__(*given)
                return Moved(right.outputs, [move * (1 + 1e-6) for move in right.moves])

        monkeypatch.setattr("gradcheck.checker.forward.Accumulator", Wrong)
        result = gradcheck.check(tf.sin, np.linspace(0.5, 1, size), checks=["forward"])
        assert result.verdict is Verdict.MISMATCH, describe(result)

    @pytest.mark.parametrize("broken", [np.inf, np.nan])
    def test_what_is_not_finite(
        self, tf: Any, broken: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Broken(Accumulator):
            def __call__(self, *given: Any) -> Moved:
                right = super().__call__(*given)
                return Moved(right.outputs, [move + broken for move in right.moves])

        monkeypatch.setattr("gradcheck.checker.forward.Accumulator", Broken)
        (told,) = gradcheck.check(tf.sin, X, checks=["forward"], upstream="ones").comparisons
        assert told.verdict is Verdict.NONFINITE
        assert told.max_abs_error == told.max_rel_error == np.inf

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    def test_none_is_no_number(self, tf: Any, mode: str) -> None:
        """Its gradient has a gradient that is None; the accumulator then knows of no move."""

        def resized(x: Any) -> Any:
            return tf.raw_ops.ResizeBilinear(images=x, size=[3, 1])

        image = np.ones((1, 2, 1, 1), np.float32)
        (told,) = gradcheck.check(resized, image, checks=["forward"], mode=mode).comparisons
        assert told.verdict is Verdict.DISCONNECTED, told
        assert "forward mode gives None" in told.note
        assert gradcheck.check(resized, image, mode=mode).verdict is Verdict.PASS

    def test_none_beside_an_input_that_moves(self, tf: Any) -> None:
        told = gradcheck.check(
            lambda x, y: tf.stop_gradient(x) * y, X, X + 1, checks=["forward"]
        ).comparisons
        assert [c.verdict for c in told] == [Verdict.DISCONNECTED, Verdict.PASS]

    def test_zero_beside_an_input_that_moves(self, tf: Any) -> None:
        """That is an answer, if a wrong one."""

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def product(x: Any, y: Any) -> Any:
            return x * y, lambda g: (tf.zeros_like(x) * g * y, g * x)

        told = gradcheck.check(product, X, X + 1, checks=["forward"]).comparisons
        assert [c.verdict for c in told] == [Verdict.MISMATCH, Verdict.PASS]

    def test_a_gradient_of_another_shape(self, tf: Any) -> None:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def scaled(s: Any, t: Any) -> Any:
            return s * t, lambda g: (t * g, s * g)

        told = gradcheck.check(scaled, 2.0, X, checks=["forward"])
        assert [c.verdict for c in told.comparisons] == [Verdict.MISMATCH, Verdict.PASS], told

    def test_forward_mode_through_a_list_of_tensors(self, tf: Any) -> None:
        def stacked(x: Any) -> Any:
            none = tf.constant([], tf.int32)
            made = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=none)
            return tf.raw_ops.TensorListStack(
                input_handle=made, element_shape=none, element_dtype=x.dtype
            )

        told = gradcheck.check(stacked, X, checks=["forward"])
        assert told.verdict is Verdict.ERROR
        assert "forward mode does not go through TensorListFromTensor" in told.message

    @pytest.mark.parametrize("slope", [1.0, 1.01])
    def test_variables_of_a_function_that_is_another_one_in_its_mode(
        self, tf: Any, slope: float
    ) -> None:
        """Compiled, tf.random draws other numbers: it is compared with its own derivative there."""
        weights = tf.Variable([0.5, 1.5, 2.5], dtype=tf.float64)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def times(x: Any, w: Any) -> Any:
            return x * w, lambda upstream: (upstream * w, slope * upstream * x)

        def noisy(x: Any) -> Any:
            drawn = tf.random.stateless_uniform([3], [1, 2], 0.5, 1.5, tf.float64)
            return times(x, weights) * drawn

        told = gradcheck.check(noisy, X[:3], checks=["forward"], mode="xla")
        right = Verdict.PASS if slope == 1 else Verdict.MISMATCH
        assert [c.verdict for c in told.comparisons] == [Verdict.PASS, right], describe(told)
        if right is Verdict.PASS:
            assert "in xla the function gives other outputs" in told.comparisons[0].note

    def test_none_for_what_does_not_matter(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: tf.floor(x + 0.1) + 1.0, X, checks=["forward"])
        assert result.verdict is Verdict.PASS, describe(result)

    def test_complex(self, tf: Any) -> None:
        assert gradcheck.check(tf.exp, X + 1j, checks=["forward"]).verdict is Verdict.PASS

    def test_two_inputs(self, tf: Any) -> None:
        result = gradcheck.check(tf.multiply, X, X, checks=["forward"])
        assert [c.name for c in result.comparisons] == ["x", "y"]
        assert result.verdict is Verdict.PASS

    def test_its_figures_are_derivatives(self, tf: Any) -> None:
        """And not what the outputs move along a step that suits the size of the input."""
        result = gradcheck.check(tf.square, np.array([1000.0]), checks=["forward"], upstream="ones")
        (element,) = result.comparisons[0].worst
        assert element.analytic == 2000
        assert element.numeric == pytest.approx(2000, rel=1e-9)

    def test_a_tolerance_that_cannot_fail(self, tf: Any) -> None:
        result = gradcheck.check(tf.sin, X, checks=["forward"], tolerance=(0, 1e6))
        assert result.verdict is Verdict.ERROR
        assert "the tolerance cannot fail: atol 1e+06" in result.message
        result = gradcheck.check(tf.sin, X, checks=["forward"], tolerance=(0, 1e-6))
        assert result.verdict is Verdict.PASS


def times_three(tf: Any, y: Any) -> Any:
    """The same value, with three times its derivative."""
    return y + 2 * (y - tf.stop_gradient(y))


class TestModes:
    @pytest.mark.parametrize("mode", ["graph", "xla"])
    @pytest.mark.parametrize("dtype", ["float64"])
    def test_one_that_is_wrong_there_alone(self, tf: Any, mode: str, dtype: str) -> None:
        def function(x: Any) -> Any:
            return x * x if tf.executing_eagerly() else times_three(tf, x * x)

        x = X.astype(dtype)
        assert gradcheck.check(function, x, checks="forward").verdict is Verdict.PASS
        result = gradcheck.check(function, x, checks="forward", mode=mode)
        assert result.verdict is Verdict.MISMATCH, describe(result)

    def test_what_cannot_be_had_there_is_skipped(self, tf: Any) -> None:
        def loop(x: Any) -> Any:
            return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]

        assert gradcheck.check(loop, X, checks="forward", mode="graph").verdict is Verdict.PASS
        result = gradcheck.check(loop, X, checks="forward", mode="xla")
        assert result.verdict is Verdict.SKIPPED
        assert "XLA cannot compile" in result.message
        assert "set maximum_iteration" in result.message.replace("setting", "set"), result.message

    def test_what_raises_there_is_an_error(self, tf: Any) -> None:
        def raises(x: Any) -> Any:
            if not tf.executing_eagerly():
                raise TypeError("not in a graph")
            return tf.sin(x)

        result = gradcheck.check(raises, X, checks="forward", mode="xla")
        assert result.verdict is Verdict.ERROR
        assert "not in a graph" in result.message, result.message
        assert result.message.endswith("(in xla)"), result.message

    def test_other_signs_in_another_mode(self, tf: Any) -> None:
        def function(a: Any) -> Any:
            return tf.exp(a) if tf.executing_eagerly() else -tf.exp(a)

        result = gradcheck.check(function, X, checks="forward", mode="graph")
        assert result.verdict is Verdict.PASS, describe(result)
        assert "gives other outputs than eagerly" in result.comparisons[0].note


class TestExtremes:
    @pytest.mark.parametrize(
        ("name", "at"),
        [
            ("relu", [np.inf, 1.0, -2.0]),
            ("twice", [1e307, 1.0]),
            ("twice", [1e308, 1.0]),
            ("square", [1e-300]),
            ("square", [1e-160, 1e-300, 2.0]),
            ("square", [1e300, 1.0]),
            ("exp", [800.0, 1.0]),
            ("tanh", [np.inf, 1.0]),
        ],
    )
    @pytest.mark.parametrize("many", [False, True])
    def test_numbers_that_are_huge_or_tiny_are_no_fault(
        self, tf: Any, name: str, at: list[float], many: bool
    ) -> None:
        functions = {"relu": tf.nn.relu, "twice": lambda x: 2 * x}
        function = functions.get(name) or getattr(tf, name)
        x = np.array(at + ([0.5 + 0.01 * i for i in range(80)] if many else []))
        result = gradcheck.check(function, x, checks=["forward"])
        assert result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), describe(result)

    def test_a_fault_beside_them_is_found(self, tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        class Wrong(Accumulator):
            def __call__(self, *given: Any) -> Moved:
                right = super().__call__(*given)
                return Moved(right.outputs, [move * (1 + 1e-6) for move in right.moves])

        monkeypatch.setattr("gradcheck.checker.forward.Accumulator", Wrong)
        x = np.array([np.inf, 1.0, -2.0])
        result = gradcheck.check(tf.nn.leaky_relu, x, checks=["forward"])
        assert result.verdict is Verdict.MISMATCH, describe(result)


@pytest.mark.parametrize("checks", ["reverse", "forward"])
def test_a_cast_that_is_none_in_its_own_precision(tf: Any, checks: str) -> None:
    """In double precision it rounds, so that the function stands still over short steps."""
    x = np.array([0.5, 1.2, -0.7], np.float32)
    for function in (
        lambda x: tf.cast(x, tf.float32),
        lambda x: tf.cast(tf.cast(x, tf.float32), x.dtype),
    ):
        result = gradcheck.check(function, x, checks=checks)
        assert result.verdict is Verdict.PASS, result
