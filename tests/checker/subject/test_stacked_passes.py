"""Passes at many points along a leading axis."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcheck

RNG = np.random.default_rng(3)


def square(tf: Any, shapes: list[int | None], back: Any) -> Any:
    """Elementwise, with a gradient of its own that is not as good as it can be in float32.

    Args:
        tf: TensorFlow.
        shapes: where the ranks go that the gradient is called with in float32.
        back: what else the gradient does.
    """

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            if x.dtype == tf.float32:
                shapes.append(x.shape.rank)
            return back(((2 * x + 1e3) - 1e3) * upstream)

        return x * x, grad

    return function


def test_neighbours_have_an_axis(tf: Any) -> None:
    ranks: list[int | None] = []
    function = square(tf, ranks, lambda gradient: gradient)
    result = gradcheck.check(function, RNG.standard_normal(5).astype(np.float32))
    assert result.verdict == "pass"
    assert ranks == [1, 2]


def test_not_where_the_way_back_adds_them_up(tf: Any) -> None:
    """Forward the rows are apart, back they are not: then they are not stacked."""
    ranks: list[int | None] = []
    function = square(tf, ranks, lambda gradient: gradient + 0.0 * tf.reduce_sum(gradient))
    assert gradcheck.check(function, RNG.standard_normal(5).astype(np.float32)).verdict == "pass"
    ranks.clear()
    mixed = square(tf, ranks, lambda gradient: gradient + 1e-3 * tf.reduce_sum(gradient))
    result = gradcheck.check(mixed, RNG.standard_normal(5).astype(np.float32))
    assert result.verdict == "mismatch"


def test_no_gradient_kernel_that_does_not_check_its_shapes(tf: Any) -> None:
    """`AvgPoolGrad` writes past its buffers where its arguments do not fit together."""
    ranks: list[int | None] = []

    def back(gradient: Any) -> Any:
        spread = tf.raw_ops.AvgPoolGrad(
            orig_input_shape=[1, 1, 1, 1],
            grad=tf.reshape(tf.reduce_sum(0.0 * gradient), [1, 1, 1, 1]),
            ksize=[1, 1, 1, 1],
            strides=[1, 1, 1, 1],
            padding="VALID",
        )
        # (Whoever comes behind it has seen it run.)
        ranks.append(None if gradient.shape.rank == 2 else 0)
        return gradient + tf.reshape(spread, [1])

    function = square(tf, [], back)
    result = gradcheck.check(function, RNG.standard_normal(5).astype(np.float32))
    assert result.verdict == "pass"
    assert None not in ranks
