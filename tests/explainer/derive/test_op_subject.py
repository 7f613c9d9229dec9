"""The formulas of an op in one call: forward, gradients and forward mode against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees
from tests.explainer.claims import random_like
from tests.explainer.explained import CALLS, Explained, apart, every_op

if TYPE_CHECKING:
    from gradcheck.model import Array


@every_op
def test_every_printed_gradient_agrees_with_the_tape(calls: list[Explained]) -> None:
    for call in calls:
        assert call.subject.gradients.keys() == call.point.tape.keys()
        for name, tree in call.subject.printed.items():
            error = call.off_the_tape(name, trees.run(tree, call.known))
            assert error < call.tolerance, (str(call), name)


@every_op
def test_the_forward_that_is_printed_is_what_tensorflow_computes(calls: list[Explained]) -> None:
    for call in calls:
        assert call.subject.forward is not None, str(call)
        found, out = trees.run(call.subject.forward, call.known), call.point.out
        pairs = zip(found, out, strict=True) if call.op.outputs else [(found, out)]
        for one, other in pairs:
            assert apart(one, other) < call.tolerance, str(call)


@every_op
def test_forward_mode_is_the_transpose_of_reverse_mode(calls: list[Explained]) -> None:
    for call in calls:
        point, tangent = call.point, call.subject.tangent
        assert tangent is not None, str(call)
        rng = np.random.default_rng(0)
        moves: dict[str, Array] = {
            f"d{name}": call.visible(name, random_like(rng, point.values[name]))
            for name in point.tape
        }
        moved = trees.run(tangent, call.known | moves)
        several = bool(call.op.outputs)
        pairs = zip(point.upstream, moved, strict=True) if several else [(point.upstream, moved)]
        forward = sum(float(np.real(np.sum(np.conj(a) * b))) for a, b in pairs)
        reverse = sum(
            float(np.real(np.sum(np.conj(point.formula[n]) * moves[f"d{n}"]))) for n in point.tape
        )
        assert abs(forward - reverse) <= 1e-9 * max(1.0, abs(reverse)), str(call)


def test_every_formula_is_shown_as_it_is_executed() -> None:
    for calls in CALLS.values():
        subject = calls[0].subject
        formulas = subject.op.formulas(subject.call)
        for name, tree in subject.gradients.items():
            declared = trees.substitute(trees.read(formulas[name]), dict(subject.call.args))
            if subject.op.outputs:
                declared = trees.listed(declared, {"G", "out"}, len(subject.shape))
            declared = declared if subject.op.is_complex else trees.real(declared)
            assert trees.text_of(declared) == trees.text_of(tree), str(calls[0])
