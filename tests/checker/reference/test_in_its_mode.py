"""Functions that are others in XLA: vectors with other signs, and with fewer digits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.reference.in_its_mode import in_its_mode
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import Mode
from tests.checker.planted import with_gradient

RNG = np.random.default_rng(0)
GENERAL = RNG.standard_normal((4, 3))
SYMMETRIC = RNG.standard_normal((4, 4)) + RNG.standard_normal((4, 4)).T
WEIGHTS = RNG.standard_normal((4, 4))

FUNCTIONS: dict[str, Any] = {
    "eigenvectors": (lambda tf, x: tf.linalg.eigh(x + tf.transpose(x)), SYMMETRIC),
    "singular vectors": (lambda tf, x: tf.linalg.svd(x)[1:], GENERAL),
    "in the middle": (
        lambda tf, x: tf.reduce_sum(
            tf.linalg.eigh(x + tf.transpose(x))[1] ** 3 * tf.constant(WEIGHTS, x.dtype)
        ),
        SYMMETRIC,
    ),
    "factors": (lambda tf, x: tf.linalg.qr(x), GENERAL),
}


# (XLA takes seconds to compile each of these: that a precision is kept is seen in two of them.)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float64") for name in FUNCTIONS),
        ("factors", "float32"),
        ("in the middle", "float32"),
    ],
)
def test_other_signs_in_another_mode(tf: Any, name: str, dtype: str) -> None:
    function, x = FUNCTIONS[name]
    found = gradcheck.check(lambda x: function(tf, x), x.astype(dtype), mode="xla", budget=60.0)
    assert found.verdict == "pass", describe(found)
    assert found.comparisons[0].dtype == dtype


@pytest.mark.parametrize("error", [1e-6, 0.1])
@pytest.mark.parametrize("name", ["eigenvectors", "in the middle"])
def test_a_wrong_gradient_is_found_all_the_same(tf: Any, name: str, error: float) -> None:
    function, x = FUNCTIONS[name]
    larger = with_gradient(tf.identity, lambda g, _: g * (1 + error))
    found = gradcheck.check(lambda x: function(tf, larger(x)), x, mode="xla", budget=60.0)
    assert found.verdict == "mismatch", describe(found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("mode", ["graph", "xla"])
def test_another_function_in_a_graph(tf: Any, mode: str, dtype: str) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def power(x: Any) -> Any:
        return (x**2 if tf.executing_eagerly() else x**3), lambda g: g * 2 * x

    x = np.array([1.5, 2.0], dtype)
    assert gradcheck.check(power, x).verdict == "pass"
    assert gradcheck.check(power, x, mode=mode).verdict == "mismatch"


def test_one_that_is_wrong_in_its_mode_alone(tf: Any) -> None:
    def two(x: Any, slope: float) -> Any:
        factor = 1.0 if tf.executing_eagerly() else 1.5

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def own(x: Any) -> Any:
            return factor * tf.sin(x), lambda g: g * tf.cos(x) * (1.0 if factor == 1 else slope)

        return own(x)

    x = np.array([0.3, 0.9])
    for slope, verdict in ((1.5, "pass"), (1.4, "mismatch")):
        function = partial(two, slope=slope)
        assert gradcheck.check(function, x).verdict == "pass"
        assert gradcheck.check(function, x, mode="graph").verdict == verdict


OTHERS: dict[str, Any] = {
    "another axis": lambda y: y[None],
    "fewer": lambda y: y[:1],
    "twice": lambda y: (y, y),
}


@pytest.mark.parametrize("check", ["reverse", "forward", "second", "jacobian"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_shapes_than_eagerly(tf: Any, name: str, dtype: str, check: Any) -> None:
    def function(x: Any) -> Any:
        y = tf.sin(x)
        return y if tf.executing_eagerly() else OTHERS[name](y)

    x = np.array([0.3, 0.9], dtype)
    assert gradcheck.check(function, x, checks=check).verdict == "pass"
    found = gradcheck.check(function, x, checks=check, mode="graph")
    assert found.verdict == "error", describe(found)
    assert "graph the function returns" in found.message
    assert "and else a tensor of [2]" in found.message


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_other_shapes_that_only_the_compiler_knows(tf: Any, dtype: str) -> None:
    def pushed(y: Any) -> Any:
        row, empty = [2], tf.raw_ops.EmptyTensorList
        rows = empty(element_shape=row, max_num_elements=4, element_dtype=y.dtype)
        rows = tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=y)
        stack = tf.raw_ops.TensorListStack
        return stack(input_handle=rows, element_shape=row, element_dtype=y.dtype)

    y = np.array([0.3, 0.9], dtype)
    assert gradcheck.check(pushed, y, mode="graph").verdict == "pass"
    found = gradcheck.check(pushed, y, mode="xla")
    assert found.verdict == "error", describe(found)
    assert "in xla the function returns a tensor of [4, 2]" in found.message


def test_the_same_in_every_mode(tf: Any) -> None:
    problem = Problem(function=tf.sin, operands=(Operand("x", np.ones(3)),), mode=Mode.XLA)
    assert in_its_mode(problem) is None


@pytest.mark.parametrize("error", [0.0, 0.001])
@pytest.mark.parametrize("check", ["reverse", "forward"])
def test_eigenvalues_in_xla(tf: Any, check: Any, error: float) -> None:
    larger = with_gradient(tf.identity, lambda g, _: g * (1 + error))
    x = np.array([[-0.65, 1.08, 1.0], [-0.34, 0.75, -0.58], [1.68, -0.19, 0.31]])
    found = gradcheck.check(
        lambda x: tf.linalg.eigvalsh(larger(x) + tf.transpose(x)), x, checks=check, mode="xla"
    )
    assert found.verdict == ("mismatch" if error else "pass"), describe(found)


@pytest.mark.parametrize("error", [0.0, 0.01])
def test_what_is_drawn_otherwise_in_xla_and_in_float32_alone(tf: Any, error: float) -> None:
    import keras

    larger = with_gradient(tf.identity, lambda g, _: g * (1 + error))

    class Own(keras.layers.Dropout):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any, training: bool = False) -> Any:
            return larger(super().call(inputs, training=training))

    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    layer, call = Own(0.5, seed=1), {"training": True}
    found = gradcheck.check(layer, x, checks="forward", mode="xla", call=call, budget=60.0)
    assert found.verdict == ("mismatch" if error else "pass"), describe(found)


@pytest.mark.parametrize("error", [0.0, 1e-6])
@pytest.mark.parametrize("check", ["reverse", "forward"])
def test_what_drops_at_random_has_narrow_bars(tf: Any, check: Any, error: float) -> None:
    larger = with_gradient(tf.identity, lambda g, _: g * (1 + error))

    def noisy(x: Any) -> Any:
        drawn = tf.random.stateless_uniform([4], [1, 2], 0.5, 1.5, tf.float64)
        return tf.tanh(larger(x) * drawn)

    x = np.array([0.3, -0.8, 1.2, 0.1])
    found = gradcheck.check(noisy, x, checks=check, mode="xla")
    assert found.verdict == ("mismatch" if error else "pass"), describe(found)
    if not error:
        assert found.comparisons[0].another_in_its_mode
