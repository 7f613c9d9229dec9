"""Forward mode: the accumulator against the numeric derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.case import check_case
from gradcheck.checker.subject.accumulator import Accumulator, Moved
from gradcheck.model import CheckKind, Mode, Verdict
from gradcheck.spec import load
from gradcheck.spec.format.run_axes import RunAxes
from tests.suite import SPECS

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
            assert "another function in xla: it gives other outputs" in told.comparisons[0].note

    @pytest.mark.parametrize("slope", [1.0, 1.1])
    @pytest.mark.parametrize("mode", ["eager", "graph"])
    @pytest.mark.parametrize("dtype", ["float32", "float16"])
    def test_forward_mode_that_is_wrong_in_its_own_precision(
        self, tf: Any, dtype: str, mode: str, slope: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Sloped(Accumulator):
            def __call__(self, *given: Any) -> Moved:
                right = super().__call__(*given)
                return Moved(right.outputs, [move * slope for move in right.moves])

        monkeypatch.setattr("gradcheck.checker.forward_own.Accumulator", Sloped)
        told = gradcheck.check(tf.sin, X.astype(dtype), checks=["forward"], mode=mode)
        wanted = Verdict.PASS if slope == 1 else Verdict.MISMATCH
        assert told.verdict is wanted, describe(told)
        if slope != 1:
            assert f"in {dtype}" in told.comparisons[0].note
            assert ("in graph" in told.comparisons[0].note) == (mode == "graph")

    @pytest.mark.parametrize("dtype", ["float32", "float16"])
    @pytest.mark.parametrize("name", ["what cancels", "a wave", "a sum that overflows"])
    def test_forward_mode_of_another_function_in_low_precision(
        self, tf: Any, dtype: str, name: str
    ) -> None:
        functions = {
            "what cancels": lambda x: (x + 300.0) ** 2 - x**2 - 90000.0,
            "a wave": lambda x: tf.sin(x * 300.0),
            "a sum that overflows": lambda x: tf.math.log(tf.reduce_sum(tf.exp(x * 30.0))),
        }
        told = gradcheck.check(functions[name], X.astype(dtype), checks=["forward"])
        assert told.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), describe(told)

    @pytest.mark.parametrize("off", [0.0, 1e-9])
    def test_a_derivative_that_cancels_to_nothing(self, tf: Any, off: float) -> None:
        """What is added to all the numbers does not matter to their softmax."""
        scores = np.random.default_rng(0).normal(size=(2, 3))

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def shifted(b: Any) -> Any:
            y = tf.nn.softmax(tf.constant(scores) + b)
            return y, lambda upstream: tf.reduce_sum(
                y * (upstream - tf.reduce_sum(upstream * y, -1, keepdims=True)) + off
            )

        told = gradcheck.check(shifted, np.array(0.7), checks=["forward"])
        wanted = (Verdict.MISMATCH, Verdict.INCONCLUSIVE) if off else (Verdict.PASS,)
        assert told.verdict in wanted, describe(told)

    @pytest.mark.usefixtures("tf")
    def test_modes_that_differ_by_what_the_outputs_round_off(self) -> None:
        """What is added up, and cancels, is rounded otherwise by either mode."""
        axes = RunAxes((Mode.GRAPH,), (CheckKind.FORWARD,))
        cases = load([str(SPECS / "nn" / "more_losses.yaml")], axes=axes).cases
        (case,) = (case for case in cases if case.name == "nce")
        told = check_case(case)
        assert told.verdict is Verdict.PASS, describe(told)

    def test_what_forward_mode_leaves_open_is_said(self, tf: Any) -> None:
        told = gradcheck.check(lambda x: tf.sin(1e15 * x), X, checks=["forward"])
        assert told.verdict is Verdict.INCONCLUSIVE, describe(told)
        assert "hides" in told.comparisons[0].note

    @pytest.mark.usefixtures("tf")
    def test_what_rounds_inside_where_nobody_sees_it(self) -> None:
        import keras

        x = np.random.default_rng(1).normal(size=(1, 3, 3))
        one = np.array([[1, 2]]), np.array([2]), np.array([3])
        told = gradcheck.check(
            lambda x: keras.ops.ctc_loss(one[0], x, one[1], one[2]),
            x,
            checks=["forward"],
            budget=60.0,
        )
        assert told.verdict is Verdict.PASS, describe(told)

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
        assert "gives other outputs there than eagerly" in result.comparisons[0].note


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
