"""The declared slopes of scalar functions against SymPy's derivative of their forward."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.scalar import can_fuse, derivative
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.ops import Op, all_ops
from tests.explainer.explained import example_of


def is_scalar(op: Op) -> bool:
    if not is_elementwise(op):
        return False
    forward = example_of(op).forward
    return forward is not None and can_fuse(forward)


SCALAR = [op for op in all_ops() if is_scalar(op)]


def slopes(op: Op, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The declared slope and SymPy's, at points where most functions are defined."""
    subject = example_of(op)
    forward = subject.forward
    assert forward is not None
    rng = np.random.default_rng(len(op.name))
    low, high = (1.1, 3.0) if op.name == "acosh" else (0.1, 0.9)
    values = {n: rng.uniform(low, high, 32) for n in subject.differentiable}
    known = {**op.args, **values}
    known |= {"G": np.ones(32), "out": np.asarray(trees.run(forward, known))}
    declared = np.broadcast_to(trees.run(subject.gradients[name], known), 32)
    derived = np.broadcast_to(trees.run(derivative(forward, name), known), 32)
    return declared, derived


def test_most_elementwise_ops_are_scalar_functions_that_sympy_knows() -> None:
    assert len(SCALAR) >= 30


@pytest.mark.parametrize("op", SCALAR, ids=lambda op: op.name)
def test_the_declared_slope_is_the_derivative(op: Op) -> None:
    for name in example_of(op).differentiable:
        declared, derived = slopes(op, name)
        np.testing.assert_allclose(declared, derived, rtol=1e-9, atol=1e-12)


def test_a_wrong_slope_would_show() -> None:
    declared, derived = slopes(next(op for op in SCALAR if op.name == "tanh"), "x")
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(declared * (1 + 1e-6), derived, rtol=1e-9)
