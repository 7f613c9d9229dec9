"""Every line of a derivation, executed for every call: not the last one alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.derive.gradient_steps import forward_element, gradient_steps
from gradcheck.explainer.page.op_derivation import Letters
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.typeset.hidden_layout import as_shown
from gradcheck.ops import all_ops
from tests.explainer.explained import Explained, apart, every_op

if TYPE_CHECKING:
    from gradcheck.explainer import Subject

STEP = 2.0**-13


def _jacobian(call: Explained, name: str) -> Any:
    """∂out/∂input by differences of the printed forward, output axes first."""
    subject, values = call.subject, call.point.values
    forward, base = subject.forward, values[name]
    assert forward is not None
    found = np.zeros((*subject.shape, *base.shape))
    for place in np.ndindex(base.shape):
        around = []
        for move in (-STEP, STEP, -STEP / 2, STEP / 2):
            moved = base.copy()
            moved[place] += move
            known = {**subject.call.args, **values, name: moved}
            around.append(np.asarray(trees.run(forward, known), dtype=np.float64))
        far, near = (around[1] - around[0]) / (2 * STEP), (around[3] - around[2]) / STEP
        found[(..., *place)] = (4 * near - far) / 3
    return found


@every_op
def test_every_line_of_a_derivation_holds(calls: list[Explained]) -> None:
    for call in calls:
        subject = call.subject
        if subject.derivation or subject.op.outputs or subject.forward is None:
            continue
        for name in subject.gradients:
            steps = gradient_steps(subject, name)
            if steps is None:
                continue
            wanted = _jacobian(call, name)
            both = (*steps.out, *steps.at)
            for label, node in (("raw", steps.raw), ("contracted", steps.jacobian)):
                found = evaluate(node, call.known, both)
                assert apart(found, wanted) < 1e-6, (str(call), name, label)
            gradient = np.tensordot(call.known["G"], wanted, len(subject.shape))
            for label, node in (("inserted", steps.product), ("summed", steps.result)):
                found = evaluate(node, call.known, steps.at)
                assert apart(found, gradient) < 1e-6, (str(call), name, label)


@every_op
def test_the_forward_by_elements_is_the_forward(calls: list[Explained]) -> None:
    for call in calls:
        found = forward_element(call.subject)
        if found is not None:
            value = evaluate(found.node, call.known, found.indices)
            assert apart(value, np.asarray(call.point.out)) < 1e-7, str(call)


@every_op
def test_a_letter_has_one_meaning_and_one_range(calls: list[Explained]) -> None:
    for call in calls:
        for letters in _lettered(call.subject):
            known = {**letters.out, **letters.at, **letters.lettering.known}
            ranges: dict[str, int] = {}
            for index, letter in known.items():
                assert ranges.setdefault(letter, extent(str(index))) == extent(str(index)), call
            symbols = {*call.subject.symbols.values(), "G", call.subject.loss}
            assert not symbols & {*ranges}, str(call)


def _lettered(subject: Subject) -> list[Letters]:
    found = []
    for name in subject.gradients:
        steps = gradient_steps(subject, name)
        if steps is not None:
            nodes = (steps.raw, steps.jacobian, steps.product, steps.result)
            found.append(Letters(subject, UNICODE, steps.out, steps.at, nodes))
    return found


@every_op
def test_what_is_not_written_does_not_matter(calls: list[Explained]) -> None:
    """`reshape(x, [6])` of three elements cannot be read."""
    for call in calls:
        subject = call.subject
        for tree in (subject.forward, *subject.printed.values()):
            if tree is None or subject.op.outputs:
                continue
            whole = np.asarray(trees.run(tree, call.known))
            printed = subject.setting(UNICODE).text(tree)
            try:
                shown = np.asarray(trees.run(as_shown(tree), call.known))
                same = np.broadcast_shapes(whole.shape, shown.shape) == whole.shape
            except ValueError:
                same = False
            assert same or "expand_dims(" in printed, (str(call), printed)


def test_prose_has_no_equation_in_indices() -> None:
    """Indices in a sentence are right for one choice of axes; a claim is executed for all."""
    for op in all_ops():
        if "axis" not in op.args:
            continue
        call = gradcheck.explain(op.name)
        text = "\n".join(line for line in str(call).splitlines() if re.match(r"  \d\. ", line))
        assert "Write i and k" in text or not re.search(r"[a-z]\[[ij]", text), op.name


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"x": (2, 3), "y": (2, 3)}, "z at one place depends on x at the same place alone."),
        ({"x": (), "y": (2, 3)}, "Every element of z depends on the one of x."),
        ({"x": (1, 1), "y": (2, 3)}, "Every element of z depends on the one of x."),
        ({"x": (3,), "y": (2, 3)}, "z at one place depends on one element of x alone"),
    ],
)
def test_what_an_element_depends_on(shapes: dict[str, tuple[int, ...]], said: str) -> None:
    assert said in str(gradcheck.explain("multiply", shapes=shapes))


def test_an_axis_of_size_one_has_the_place_zero() -> None:
    page = str(
        gradcheck.explain(
            "einsum",
            args={"equation": "...ij,...jk->...ik"},
            shapes={"a": (1, 2, 3), "b": (4, 3, 5)},
        )
    )
    assert "a[a," not in page
    assert "∂L/∂b[l,j,k] = Σᵢ G[l,i,k]·a[0,i,j]" in page


def test_two_kinds_of_sums_in_one_line_are_told_apart() -> None:
    page = str(gradcheck.explain("softmax_cross_entropy_with_logits"))
    assert "sum₋₁(exp(logits), kept)" in page
    assert "kept" not in str(gradcheck.explain("reduce_sum"))


def test_a_square_of_elements_is_no_square_of_a_matrix() -> None:
    page = str(
        gradcheck.explain(
            expr="tf.reduce_sum(tf.square(x), 1) * y", shapes={"x": (2, 3), "y": (2,)}
        )
    )
    assert "(x ⊙ x) 𝟏" in page
    assert "x² 1" not in page
