"""Forward mode and second derivatives, as they are printed, are what TensorFlow gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
import numpy as np
import pytest

from gradcheck import ops
from gradcheck.errors import GradcheckError, UsageError
from gradcheck.explainer.compose import Question, answer, answering
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.derive.complete_call import make_call
from gradcheck.explainer.derive.op_subject import Subject
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.document import Equation
from gradcheck.explainer.proof_points import expression_point, op_point
from gradcheck.explainer.render.latex import render_latex
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.tangents.along import drawn
from gradcheck.explainer.tangents.one_step import graph_of_op
from gradcheck.explainer.tangents.second_form import hessian_block, hessian_product
from gradcheck.explainer.tangents.tangent_chain import (
    adjoint_changes,
    dot,
    run_changes,
    step_changes,
)
from gradcheck.explainer.tangents.tangent_page import second_sections
from gradcheck.explainer.tangents.tangent_proof import Point, prove_forward, prove_second
from gradcheck.explainer.tangents.tangent_rules import RULES
from tests.explainer.grammar import expressions

if TYPE_CHECKING:
    from gradcheck.explainer.proof import Proof
    from gradcheck.model import Shape

UNDERIVED = {"svdvals", "linear_recurrence", "simple_rnn"}
"""Ops of which no second derivative is derived: the page says so."""
DIFFERS = {"softmax_cross_entropy_with_logits", "layer_norm", "batch_norm_training"}
"""Ops of which TensorFlow's second derivative is not the derivative of its first."""
EMPTY = {"unsorted_segment_max", "unsorted_segment_min"}
"""Ops of which TensorFlow's forward mode is NaN where a segment is empty."""
UNPROVED = {op.name for op in ops.all_ops() if op.float32_only}
"""Ops that TensorFlow computes in float32 alone."""
SEVERAL = {op.name for op in ops.all_ops() if op.outputs}
COMPLEX = {op.name for op in ops.all_ops() if op.is_complex}
ONE = [op.name for op in ops.all_ops() if not op.outputs and not op.is_complex]


def at(name: str) -> tuple[Subject, Point]:
    op = ops.find(name)
    assert op is not None
    subject = Subject(op, make_call(op, {}, {}))
    return subject, drawn(op_point(subject, None, 3))


@pytest.mark.parametrize("name", sorted({*ONE} - EMPTY - UNPROVED))
def test_forward_mode_of_every_op(name: str) -> None:
    subject, point = at(name)
    found = prove_forward(graph_of_op(subject), point, subject.differentiable)
    assert [proof for _, proof in found if not proof.holds] == []


@pytest.mark.parametrize(
    "name", sorted({*ONE} - UNDERIVED - DIFFERS - UNPROVED - {"batch_normalization"})
)
def test_second_derivatives_of_every_op(name: str) -> None:
    subject, point = at(name)
    found = prove_second(graph_of_op(subject), point, subject.differentiable)
    assert found
    assert [proof for _, proof in found if not proof.holds] == []


def test_where_tensorflow_is_wrong_it_is_said() -> None:
    document, proofs = answer(
        Question("softmax_cross_entropy_with_logits", second=True, verify=True)
    )
    assert "TensorFlow DIFFERS" in render_text(document)
    assert not all(proof.holds for proof in proofs)
    worst = [proof for proof in proofs if not proof.holds]
    assert all(proof.against_numeric < 1e-9 for proof in worst)


@pytest.mark.parametrize("name", sorted(UNDERIVED))
def test_what_is_not_derived_is_said_and_not_proved(name: str) -> None:
    document, _ = answer(Question(name, second=True))
    assert "It is not derived here: no rule says how" in render_text(document)
    document, proofs = answer(Question(name, second=True, verify=True))
    assert "there is nothing to prove" in render_text(document)
    assert proofs
    assert [proof for proof in proofs if not proof.holds] == []


def test_what_has_a_rule_is_derived_beside_what_has_none() -> None:
    text = "tf.reduce_sum(tf.linalg.svd(x, compute_uv=False)) * tf.reduce_sum(y * y)"
    asked = Question(expr=text, shapes={"x": (2, 2), "y": (3,)}, second=True, verify=True)
    document, proofs = answer(asked)
    shown = render_text(document)
    assert "Not derived here is (∂L/∂x)˙: no rule says how the way back through svdvals" in shown
    assert "(∂L/∂y)˙ = 2·G·(" in shown
    assert "∂²L/∂x∂y  the Hessian" in shown
    assert [proof for proof in proofs if not proof.holds] == []


def test_a_step_without_a_rule_costs_what_is_made_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(RULES, "slogdet")
    text = "tf.linalg.slogdet(x)[1] * tf.reduce_sum(tf.exp(x * x))"
    asked = Question(expr=text, shapes={"x": (2, 2)}, forward=True, second=True, verify=True)
    document, proofs = answer(asked)
    shown = render_text(document)
    assert "Not derived here is v̇₁, v̇₅: no rule says how slogdet (slogdet) changes." in shown
    assert "v̇₃ = v̇₂ ⊙ v₃" in shown
    assert [proof.name for proof in proofs if proof.formula == "by the lines"] == ["v4"]
    assert [proof for proof in proofs if not proof.holds] == []


def test_an_exponent_is_a_number() -> None:
    shown = render_text(answer(Question(expr="x ** 2", shapes={"x": (3,)}, forward=True))[0])
    assert "v̇₁ = 2·ẋ ⊙ x " in shown


def test_beside_a_singular_matrix() -> None:
    near = np.array([[1.0, 0.0], [0.0, 2.0**-7]])
    graph = read_graph("tf.reduce_sum(tf.linalg.inv(x))", {"x": (2, 2)})
    point = drawn(expression_point(graph, {"x": near}, 0))
    found = proofs_of(prove_second(graph, point, ("x",)))
    assert [proof for proof in found if not proof.holds] == []


@pytest.mark.parametrize("name", sorted(UNPROVED))
def test_what_cannot_be_proved_is_told_in_a_sentence(name: str) -> None:
    try:
        with answering(verify=True):
            document, proofs = answer(Question(name, second=True, verify=True))
    except GradcheckError as why:
        assert "cannot be explained" in str(why)  # noqa: PT017
    else:
        assert "here is nothing to" in render_text(document)
        assert [proof for proof in proofs if not proof.holds] == []


def test_several_outputs_are_refused_with_a_way_out() -> None:
    for name in sorted(SEVERAL):
        with pytest.raises(UsageError, match="name one of them with --expr"):
            answer(Question(name, forward=True))


def test_complex_numbers_are_refused_with_what_there_is() -> None:
    for name in sorted(COMPLEX - SEVERAL):
        with pytest.raises(UsageError, match="its page has forward mode"):
            answer(Question(name, forward=True))


EXPRESSIONS: list[tuple[str, dict[str, Shape]]] = [
    ("tf.reduce_sum(tf.square(x) * y)", {"x": (3,), "y": (3,)}),
    ("tf.reduce_logsumexp(tf.matmul(x, tf.expand_dims(w, 1)))", {"x": (4, 3), "w": (3,)}),
    ("tf.nn.softmax(tf.matmul(x, w))", {"x": (2, 3), "w": (3, 2)}),
    ("tf.linalg.inv(tf.matmul(x, x, transpose_b=True))", {"x": (2, 3)}),
    ("tf.reduce_mean(tf.sin(x) * tf.reduce_sum(x, 0), 1)", {"x": (2, 3)}),
    ("tf.where(x > 0.5, tf.exp(x) * y, y ** 3)", {"x": (2, 2), "y": (2,)}),
    ("tf.concat([x * x, tf.reverse(tf.exp(x), [0])], 0)[1:]", {"x": (3,)}),
    ("tf.linalg.qr(x)[1]", {"x": (2, 2)}),
    ("tf.stop_gradient(x) * tf.square(x)", {"x": (3,)}),
]


@pytest.mark.parametrize(("text", "shapes"), EXPRESSIONS)
def test_expressions(text: str, shapes: dict[str, Shape]) -> None:
    asked = Question(expr=text, shapes=shapes, verify=True, forward=True, second=True)
    document, proofs = answer(asked)
    assert [proof for proof in proofs if not proof.holds] == []
    assert sum(proof.formula == "by the lines" for proof in proofs) == 1 + len(shapes)
    assert "Second derivative" in render_text(document)
    assert r"\dot{" in render_latex(document)


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True, database=None)
@hypothesis.given(expressions())
def test_random_expressions(drawn_: tuple[str, dict[str, Shape]]) -> None:
    text, shapes = drawn_
    graph = read_graph(text, shapes)
    forward, back = step_changes(graph, list(shapes)), adjoint_changes(graph, list(shapes))
    try:
        point = drawn(expression_point(graph, None, 0))
    except UsageError:
        return
    moving = [name for name in shapes if graph.uses(name)]
    upstream = np.ones(graph.shapes[graph.output])
    known = run_chain(graph, point.values, upstream)
    dots = {name: point.direction(name) for name in moving}
    still = {dot(name): dots.get(name, 0 * known[name]) for name in shapes}
    along = run_changes((*forward.lines, *back.lines), known | still)

    def gradient(step: float, name: str) -> np.ndarray:
        there = {n: v + step * dots.get(n, 0.0) for n, v in point.values.items()}
        return np.asarray(run_chain(graph, there, upstream)[bar(graph, name)])

    for name in moving:
        if bar(graph, name) in back.lost:
            continue
        near, far = (gradient(k * 1e-5, name) - gradient(-k * 1e-5, name) for k in (1, 2))
        wanted = (8 * near - far) / 12e-5
        own = along.get(dot(bar(graph, name)), np.zeros_like(wanted))
        if np.isfinite(wanted).all() and np.abs(wanted).max(initial=0) < 1e3:
            scale = 1 + np.abs(known[bar(graph, name)]).max(initial=0)
            np.testing.assert_allclose(own, wanted, rtol=1e-4, atol=1e-4 * scale)


def proofs_of(found: list[tuple[str, Proof]]) -> list[Proof]:
    return [proof for _, proof in found]


def test_a_wrong_direction_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, point = at("softmax")
    honest = run_changes
    monkeypatch.setattr(
        "gradcheck.explainer.tangents.tangent_proof.run_changes",
        lambda *given: {k: v * 1.001 if "_bar_dot" in k else v for k, v in honest(*given).items()},
    )
    found = proofs_of(prove_second(graph_of_op(subject), point, subject.differentiable))
    assert not found[0].holds


def test_the_hessian_of_a_quadratic_form() -> None:
    graph = read_graph("tf.reduce_sum(x * tf.linalg.matvec(a, x))", {"x": (2,), "a": (2, 2)})
    block = hessian_block(graph, "x", "x")
    assert block is not None
    text = "\n".join(
        equation.math(UNICODE)
        for section in second_sections(graph, ("x",))
        for equation in section.blocks
        if isinstance(equation, Equation)
    )
    assert "(∂L/∂x)˙ = G·((a + aᵀ) ẋ)" in text
    assert "∂L/∂a" not in text
    assert "∂²L/∂x[i]∂x[j] = G·a[i,j] + G·a[j,i]" in text
    form = hessian_product(graph, "x", ("x",))
    assert form is not None
    assert not form.steps


def test_a_function_of_ones_own_and_what_has_no_rule() -> None:
    dense = {"layer": "keras.layers.Dense", "args": {"units": 2, "activation": "tanh"}}
    asked = Question(shapes={"x": (2, 2)}, verify=True, forward=True, second=True, **dense)  # type: ignore[arg-type]
    _, proofs = answer(asked)
    assert [proof for proof in proofs if not proof.holds] == []
    assert len(proofs) > 20
