"""Every line of a derivation by the rules, executed against TensorFlow's tape."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings

from gradcheck.explainer import Subject, trees
from gradcheck.explainer.calculus.einstein import Number, Product, Tensor, total_over
from gradcheck.explainer.calculus.evaluate import evaluate as evaluate_element
from gradcheck.explainer.derive.gradient_steps import forward_element, gradient_steps
from gradcheck.ops import find
from tests.explainer.explained import ALL_CALLS, CALLS, Explained, apart, every_op
from tests.ops.calls import Use
from tests.ops.families.test_einsum import Drawn, equations
from tests.ops.oracle import evaluate

if TYPE_CHECKING:
    from gradcheck.explainer.derive.gradient_steps import GradientSteps


def worst_line(call: Explained, steps: GradientSteps) -> float:
    """How far the worst of the lines of a derivation is from the tape."""
    name, known = steps.name, call.known
    result = evaluate_element(steps.result, known, steps.at)
    product = evaluate_element(steps.product, known, steps.at)
    errors = [call.off_the_tape(name, result), apart(product, result)]
    for line in (steps.raw, steps.jacobian):
        total = total_over(steps.out, Product((Tensor("G", steps.out), line)))
        errors.append(call.off_the_tape(name, evaluate_element(total, known, steps.at)))
    if steps.matrix is not None:
        errors.append(call.off_the_tape(name, trees.run(steps.matrix, known)))
    # Not Python's max, which overlooks nan.
    return float(np.max(errors))


@every_op
def test_every_line_agrees_with_the_tape(calls: list[Explained]) -> None:
    for call in calls:
        for name in call.point.tape:
            steps = gradient_steps(call.subject, name)
            if steps is not None:
                assert worst_line(call, steps) < call.tolerance, (str(call), name)


def test_the_forward_by_elements_is_what_tensorflow_computes() -> None:
    for call in ALL_CALLS:
        element = forward_element(call.subject)
        if element is not None:
            found = evaluate_element(element.node, call.known, element.indices)
            assert apart(found, call.point.out) < call.tolerance, str(call)


def test_most_ops_are_derived_by_the_rules() -> None:
    firsts = [calls[0].subject for calls in CALLS.values()]
    derived = [s for s in firsts if all(gradient_steps(s, name) for name in s.gradients)]
    assert len(derived) >= 100


def test_a_wrong_line_is_found() -> None:
    op = find("multiply")
    assert op is not None
    call = Explained(Use(op, {"x": (3,), "y": (3,)}))
    steps = gradient_steps(call.subject, "x")
    assert steps is not None
    assert worst_line(call, steps) < call.tolerance
    for line in ("raw", "jacobian", "product", "result"):
        twice: dict[str, Any] = {line: Product((Number(Fraction(2)), getattr(steps, line)))}
        assert worst_line(call, replace(steps, **twice)) > 1e-3, line
    assert worst_line(call, replace(steps, matrix=trees.read("G * x"))) > 1e-3


@settings(max_examples=50, deadline=None)
@given(equations())
def test_any_einsum_is_derived(drawn: Drawn) -> None:
    op = find("einsum")
    assert op is not None
    args = {"equation": drawn.equation}
    point = evaluate(op, drawn.shapes, args)
    subject = Subject(op, op.call(drawn.shapes, args))
    values = {**point.values, "G": point.upstream, "out": point.out}
    for name, tape in point.tape.items():
        steps = gradient_steps(subject, name)
        assert steps is not None
        found = evaluate_element(steps.result, values, steps.at)
        np.testing.assert_allclose(found, tape, rtol=1e-11, atol=1e-11)
        if steps.matrix is not None:
            again = trees.run(steps.matrix, values)
            np.testing.assert_allclose(again, tape, rtol=1e-11, atol=1e-11)
            assert np.shape(again) == tape.shape
