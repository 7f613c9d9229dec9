"""Elements, set with letters for their indices."""

from __future__ import annotations

import pytest

from gradcheck.explainer import Subject, make_call
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.gradient_steps import forward_element
from gradcheck.explainer.page.op_derivation import Letters
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.style import UNICODE
from gradcheck.ops import find


@pytest.mark.parametrize(
    ("name", "args", "written"),
    [
        ("slice", {}, "x[i + 1,j]"),
        ("roll", {}, "x[(i − 2) mod 5]"),
        ("reverse", {}, "x[3 − i]"),
        ("gather", {}, "x[indices[i],j]"),
        ("pad", {}, "Σⱼ x[j]·[i = j + 1]"),
        ("cumsum", {}, "Σⱼ x[j]·[j ≤ i]"),
        ("cumsum", {"reverse": True}, "Σⱼ x[j]·[i ≤ j]"),
        ("band_part", {}, "X[i,j]·[j ≤ i]"),
        ("conv1d", {}, "Σ_{ac} K[a,c,d]·x[n,w + a,c]"),
    ],
)
def test_the_forward_is_written_by_elements(
    name: str, args: dict[str, object], written: str
) -> None:
    op = find(name)
    assert op is not None
    subject = Subject(op, make_call(op, {}, args))
    found = forward_element(subject)
    assert found is not None
    assert Letters(subject, UNICODE, found.indices, ()).text(found.node) == written


def test_the_numbers_of_an_identity_matrix_are_a_delta() -> None:
    text = "tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2], x)"
    document, proofs = answer(Question(expr=text, shapes={"x": (3, 3)}, verify=True))
    assert "∂L/∂x[i,j] = G[i]·(P[i,j] − δ[i,j])" in render_text(document)
    assert [proof for proof in proofs if not proof.holds] == []
