"""Every formula that a page prints, executed against TensorFlow's tape, for every declared op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.explain import Subject, trees
from gradcheck.explain.calculus.einstein import Product, Tensor, Total
from gradcheck.explain.calculus.evaluate import evaluate as evaluate_element
from gradcheck.explain.derive.gradient_steps import forward_element, gradient_steps
from gradcheck.ops import all_ops
from gradcheck.ops.samples.registry import SAMPLES
from tests.explain.claims import failing_claims
from tests.ops.calls import USES, Use
from tests.ops.oracle import Point, evaluate, within

if TYPE_CHECKING:
    from gradcheck.model import Array

TOLERANCE = 1e-10
NO_FORWARD: frozenset[str] = frozenset()


def subject_of(use: Use) -> Subject:
    return Subject(use.op, use.op.call(use.shapes, use.args))


def apart(one: Any, other: Any) -> float:
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    return float(np.max(np.abs(one - other), initial=0.0)) / scale


def known(use: Use, point: Point) -> dict[str, Any]:
    return {
        **use.op.call(use.shapes, use.args).args,
        **point.values,
        "G": point.upstream,
        "out": point.out,
    }


def structure(use: Use, name: str) -> str:
    parameters = {p.name: p for p in use.op.inputs}
    return SAMPLES[parameters.get(name, use.op.inputs[0]).domain.sample.name].structure


@pytest.mark.parametrize("use", USES, ids=str)
def test_every_printed_formula_agrees_with_the_tape(use: Use) -> None:
    subject, point = subject_of(use), evaluate(use.op, use.shapes, use.args)
    values = known(use, point)
    assert subject.gradients.keys() == point.tape.keys()
    for name, tape in point.tape.items():
        kind = structure(use, name)
        found = within(trees.run(subject.printed[name], values), kind)
        assert apart(found, within(tape, kind)) < TOLERANCE
        steps = gradient_steps(subject, name)
        if steps is None:
            continue
        assert (
            apart(
                within(evaluate_element(steps.result, values, steps.at), kind), within(tape, kind)
            )
            < TOLERANCE
        )
        assert (
            apart(
                evaluate_element(steps.product, values, steps.at),
                evaluate_element(steps.result, values, steps.at),
            )
            < TOLERANCE
        )
        bound = tuple(i for i in steps.out if isinstance(i, str))
        for line in (steps.raw, steps.jacobian):
            whole = Product((Tensor("G", steps.out), line))
            total = Total(bound, whole) if bound else whole
            assert (
                apart(within(evaluate_element(total, values, steps.at), kind), within(tape, kind))
                < TOLERANCE
            )
        if steps.matrix is not None:
            assert (
                apart(within(trees.run(steps.matrix, values), kind), within(tape, kind)) < TOLERANCE
            )


@pytest.mark.parametrize("use", USES, ids=str)
def test_the_forward_that_is_printed_is_what_tensorflow_computes(use: Use) -> None:
    subject, point = subject_of(use), evaluate(use.op, use.shapes, use.args)
    if subject.forward is None:
        assert use.op.name in NO_FORWARD
        return
    values = known(use, point)
    found = trees.run(subject.forward, values)
    for one, other in (
        zip(found, point.out, strict=True) if use.op.outputs else [(found, point.out)]
    ):
        assert apart(one, other) < TOLERANCE
    element = forward_element(subject)
    if element is not None:
        assert apart(evaluate_element(element.node, values, element.indices), point.out) < TOLERANCE


@pytest.mark.parametrize("use", USES, ids=str)
def test_forward_mode_is_the_transpose_of_reverse_mode(use: Use) -> None:
    subject, point = subject_of(use), evaluate(use.op, use.shapes, use.args)
    assert subject.tangent is not None
    rng = np.random.default_rng(0)
    moves: dict[str, Array] = {}
    for name in point.tape:
        moves[f"d{name}"] = within(
            rng.standard_normal(point.values[name].shape), structure(use, name)
        )
    moved = trees.run(subject.tangent, known(use, point) | moves)
    pairs = zip(point.upstream, moved, strict=True) if use.op.outputs else [(point.upstream, moved)]
    forward = sum(float(np.sum(a * b)) for a, b in pairs)
    reverse = sum(float(np.sum(point.formula[n] * moves[f"d{n}"])) for n in point.tape)
    assert abs(forward - reverse) <= 1e-9 * max(1.0, abs(reverse))


@pytest.mark.parametrize("use", [u for u in USES if u.op.derivation or u.op.slope], ids=str)
def test_every_claim_of_a_written_derivation_holds(use: Use) -> None:
    if use.op.family == "linalg" and max(map(len, use.shapes.values())) > 2:
        pytest.skip("a derivation speaks of one matrix; batches are its repetition")
    assert not failing_claims(subject_of(use))


def test_a_wrong_claim_is_found() -> None:
    from dataclasses import replace

    from gradcheck.ops import Step, find

    op = find("inv")
    assert op is not None
    wrong = replace(op, derivation=(Step("Wrong.", "dout == matmul(matmul(out, dinput), out)"),))
    assert failing_claims(Subject(wrong, wrong.call({"input": (3, 3)}, {}))) == [
        "dout == matmul(matmul(out, dinput), out)"
    ]


def test_every_formula_is_shown_as_it_is_executed() -> None:
    for op in all_ops():
        use = next(use for use in USES if use.op is op)
        subject = subject_of(use)
        for name, tree in subject.gradients.items():
            declared = trees.substitute(
                trees.read(op.formulas(subject.call)[name]), dict(subject.call.args)
            )
            if op.outputs:
                declared = trees.listed(declared, {"G", "out"}, len(subject.shape))
            assert trees.text_of(trees.real(declared)) == trees.text_of(tree)
