"""The formulas and shape rules of all families against TensorFlow's tape and shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.ops import Op, all_ops, find
from tests.ops.calls import COMPLEX_USES, USES, Use
from tests.ops.oracle import Point, evaluate, forward, structure_of, tolerance, within

if TYPE_CHECKING:
    from gradcheck.model import Array


def op(name: str) -> Op:
    found = find(name)
    assert found is not None
    return found


def disagreement(declared: Op, point: Point) -> float:
    """The largest error of a formula, relative to the largest element of the gradient."""
    worst = 0.0
    assert point.formula.keys() == point.tape.keys()
    for name, found in point.tape.items():
        structure = structure_of(declared, name)
        formula, tape = within(point.formula[name], structure), within(found, structure)
        assert formula.shape == tape.shape
        if tape.size:
            scale = max(1.0, float(np.abs(tape).max()))
            worst = max(worst, float(np.abs(formula - tape).max()) / scale)
            assert not np.isnan(formula).any()
    return worst


def test_every_op_has_calls() -> None:
    assert {use.op.name for use in USES} == {declared.name for declared in all_ops()}


@pytest.mark.parametrize("use", USES, ids=str)
def test_formula_and_shape_agree_with_tensorflow(use: Use) -> None:
    point = evaluate(use.op, use.shapes, use.args)
    shapes = use.op.output_shapes(use.op.call(use.shapes, use.args))
    assert shapes == [out.shape for out in (point.out if use.op.outputs else [point.out])]
    assert disagreement(use.op, point) < tolerance(use.op, 1e-12)


@pytest.mark.parametrize("use", COMPLEX_USES, ids=str)
def test_formula_agrees_with_tensorflow_for_complex_inputs(use: Use) -> None:
    assert disagreement(use.op, evaluate(use.op, use.shapes, use.args, complex_=True)) < 1e-12


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("multiply", {"x": "G * conj(y)", "y": "G * conj(y)"}),
        ("square", {"x": "2.001 * G * conj(x)"}),
        ("exp", {"x": "G * conj(x)"}),
        ("softmax", {"logits": "out * G"}),
    ],
)
def test_a_wrong_formula_disagrees(name: str, wrong: dict[str, str]) -> None:
    use = next(use for use in USES if use.op.name == name and max(map(len, use.shapes.values())))
    assert (
        disagreement(use.op, evaluate(replace(use.op, formula=wrong), use.shapes, use.args)) > 1e-4
    )


def test_a_forgotten_conjugate_disagrees_for_complex_inputs() -> None:
    wrong = replace(op("exp"), formula={"x": "G * out"})
    assert disagreement(wrong, evaluate(wrong, {"x": (3,)}, {})) < 1e-12
    assert disagreement(wrong, evaluate(wrong, {"x": (3,)}, {}, complex_=True)) > 1e-4


# In TensorFlow 2.21 these lack a conjugate (xlogy, det) or the real part of the upstream, since
# squared_difference computes |x - y|².
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("squared_difference", {"x": (3,), "y": (3,)}),
        ("xlogy", {"x": (3,), "y": (3,)}),
        ("det", {"input": (3, 3)}),
    ],
)
def test_where_tensorflow_is_wrong_the_formula_agrees_with_differences(
    name: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    point = evaluate(op(name), shapes, {}, complex_=True)
    assert disagreement(op(name), point) > 1e-3
    for key, formula in point.formula.items():
        np.testing.assert_allclose(formula, differences(op(name), point, key), rtol=1e-7, atol=1e-7)


def differences(declared: Op, point: Point, name: str) -> Array:
    """∂L/∂Re x + i·∂L/∂Im x of L = Re⟨G, f(x)⟩, which is what a complex gradient means."""

    def loss(values: Array) -> float:
        out = forward(declared, {**point.values, name: values}, {})
        return float(np.real(np.sum(np.conj(point.upstream) * np.asarray(out))))

    step, at = 1e-6, point.values[name]
    result = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        for unit in (1, 1j):
            move = np.zeros_like(at)
            move[index] = step * unit
            result[index] += unit * (loss(at + move) - loss(at - move)) / (2 * step)
    return result


def array(*values: float) -> Array:
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize(
    ("name", "values", "args"),
    [
        ("relu", {"features": array(-1, 0, 2)}, {}),
        ("relu6", {"features": array(0, 6, 3)}, {}),
        ("leaky_relu", {"features": array(-1, 0, 2)}, {}),
        ("elu", {"features": array(-1, 0, 2)}, {}),
        ("selu", {"features": array(-1, 0, 2)}, {}),
        ("softsign", {"features": array(-1, 0, 2)}, {}),
        ("abs", {"x": array(-1, 0, 2)}, {}),
        ("maximum", {"x": array(1, 2, 3), "y": array(2, 2, 2)}, {}),
        ("minimum", {"x": array(1, 2, 3), "y": array(2, 2, 2)}, {}),
        ("reduce_max", {"input_tensor": array(1, 3, 3, 2)}, {}),
        ("reduce_max", {"input_tensor": np.array([[1.0, 1], [0, 2]])}, {"axis": 1}),
        ("reduce_min", {"input_tensor": array(1, 1, 3)}, {"keepdims": True}),
        ("reduce_prod", {"input_tensor": array(2, 0, 3)}, {}),
        ("reduce_prod", {"input_tensor": array(0, 0, 3)}, {}),
        ("gather", {"params": array(1, 2, 3), "indices": np.array([2, 0, 2, 2])}, {}),
        ("silu", {"features": array(-3, 0, 3)}, {"beta": 0.5}),
    ],
)
def test_ties_kinks_and_zeros_follow_tensorflow(
    name: str, values: dict[str, Array], args: dict[str, Any]
) -> None:
    shapes = {key: value.shape for key, value in values.items()}
    assert disagreement(op(name), evaluate(op(name), shapes, args, values=values)) < 1e-12
