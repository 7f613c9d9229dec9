"""The tape's side: the upstream, the way back, and who is to blame when it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.accumulator import Accumulator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.refusals import NoGradient
from gradcheck.checker.subject.tape import GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised
from gradcheck.checker.subject.upstream import draw_upstream
from gradcheck.errors import UsageError
from gradcheck.model import Mode
from tests.checker.planted import with_gradient

X = np.array([1.0, 2.0])


class TestUpstream:
    def test_drawn_ones_are_signed_and_exact_in_every_precision(self, tf: Any) -> None:
        (drawn,) = draw_upstream("random", [(1000,)], [False], seed=3)
        assert np.abs(drawn).min() >= 0.5
        assert np.abs(drawn).max() <= 1.5
        assert 400 < (drawn > 0).sum() < 600
        for dtype in (np.float16, np.float32, tf.bfloat16.as_numpy_dtype):
            np.testing.assert_array_equal(drawn.astype(dtype).astype(np.float64), drawn)

    def test_complex_outputs_get_complex_ones(self) -> None:
        real, complex_ = draw_upstream("random", [(3,), (3,)], [False, True], seed=0)
        assert real.dtype == np.float64
        assert complex_.dtype == np.complex128
        assert (complex_.imag != 0).all()

    def test_no_sum_is_zero(self) -> None:
        """What all outputs lack alike, as a mean behind a stop_gradient, would pass."""
        for size in (2, 3, 4):
            drawn = [draw_upstream("random", [(size,)], [False], seed)[0] for seed in range(2000)]
            assert all(each.sum() for each in drawn)

    def test_outputs_differ(self) -> None:
        first, second = draw_upstream("random", [(50,), (50,)], [False, False], seed=0)
        assert (first != second).any()

    def test_ones(self) -> None:
        (ones,) = draw_upstream("ones", [(2, 1)], [False], seed=0)
        assert ones.tolist() == [[1], [1]]

    def test_given(self) -> None:
        assert draw_upstream((X,), [(2,)], [False], seed=0)[0].tolist() == [1, 2]
        with pytest.raises(UsageError, match=r"has 1 arrays, but the function has 2"):
            draw_upstream((X,), [(2,), (2,)], [False, False], seed=0)
        with pytest.raises(UsageError, match=r"has shape \[2\], but .* has shape \[3\]"):
            draw_upstream((X,), [(3,)], [False], seed=0)


def back(function: Any, *operands: Operand, mode: Mode = Mode.EAGER) -> list[Any]:
    values = [operand.value for operand in operands]
    return Tape(function, operands, mode)(values, [np.ones(2)]).gradients


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("variable", [False, True])
def test_one_gradient_per_differentiated_operand(mode: Mode, variable: bool) -> None:
    gradients = back(
        lambda a, b, c: a * a * b + 0 * c,
        Operand("a", X, variable=variable),
        Operand("b", X + 1, differentiate=False),
        Operand("c", X),
        mode=mode,
    )
    np.testing.assert_allclose(gradients[0], 2 * X * (X + 1))
    np.testing.assert_array_equal(gradients[1], [0, 0])


def test_none_stays_none() -> None:
    assert back(lambda a, _b: 2 * a, Operand("a", X), Operand("b", X))[1] is None


def test_slices_become_dense(tf: Any) -> None:
    table = Operand("table", np.ones((4, 1)), variable=True)
    tape = Tape(lambda t: tf.gather(t, [1, 1]), [table])
    gradients = tape([table.value], [np.ones((2, 1))]).gradients
    assert gradients[0] is not None
    assert gradients[0].tolist() == [[0], [2], [0], [0]]


@pytest.mark.parametrize("mode", [Mode.EAGER, Mode.GRAPH])
def test_the_function_is_to_blame(tf: Any, mode: Mode) -> None:
    def function(x: Any) -> Any:
        raise ValueError("forward")

    with pytest.raises(FunctionRaised, match="ValueError: forward"):
        back(function, Operand("x", X), mode=mode)


def test_the_gradient_is_to_blame() -> None:
    def gradient(*_: Any) -> Any:
        raise ValueError("back")

    with pytest.raises(GradientRaised, match="ValueError: back"):
        back(with_gradient(lambda x: 2 * x, gradient), Operand("x", X))


@pytest.mark.parametrize("mode", list(Mode))
def test_no_gradient_is_registered(tf: Any, mode: Mode) -> None:
    with pytest.raises(NoGradient, match="Unique"):
        back(lambda x: tf.unique(x)[0], Operand("x", X), mode=mode)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("variable", [False, True])
def test_moving_forward(tf: Any, mode: Mode, variable: bool) -> None:
    operands = [Operand("a", X, variable=variable), Operand("b", X, differentiate=False)]
    accumulator = Accumulator(tf.multiply, operands, mode)
    for at in (X, 2 * X):
        found = accumulator([at, at + 1], [np.array([1.0, 10.0])])
        np.testing.assert_allclose(found.outputs[0], at * (at + 1))
        np.testing.assert_allclose(found.moves[0], (at + 1) * [1, 10])


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("variable", [False, True])
def test_several_points(mode: Mode, variable: bool) -> None:
    tape = Tape(lambda x: x * x, [Operand("x", X, variable=variable)], mode)
    for point in (X, X + 1, 5 * X):
        (gradient,) = tape([point], [np.array([1.0, 3.0])]).gradients
        assert gradient is not None
        np.testing.assert_allclose(gradient, 2 * point * [1, 3])
