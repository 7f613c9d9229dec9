"""Derivations on a page: the claims of written ones hold, and every gradient has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradcheck.explainer import Subject
from gradcheck.explainer.document import Equation, Paragraph
from gradcheck.explainer.page.op_page import explain_op
from gradcheck.explainer.render.terminal import render_text
from gradcheck.ops import Step, find
from tests.explainer.claims import failing_claims
from tests.explainer.explained import ALL_CALLS, CALLS, Explained

WRITTEN = {
    name: calls for name, calls in CALLS.items() if calls[0].op.derivation or calls[0].op.slope
}


@pytest.mark.parametrize("calls", WRITTEN.values(), ids=WRITTEN)
def test_every_claim_of_a_written_derivation_holds(calls: list[Explained]) -> None:
    assert calls
    for call in calls:
        assert not failing_claims(call.subject.single), str(call)


def test_a_wrong_claim_is_found() -> None:
    op = find("inv")
    assert op is not None
    wrong = replace(op, derivation=(Step("Wrong.", "dout == matmul(matmul(out, dinput), out)"),))
    assert failing_claims(Subject(wrong, wrong.call({"input": (3, 3)}, {}))) == [
        "dout == matmul(matmul(out, dinput), out)"
    ]


def test_every_gradient_is_derived() -> None:
    for call in ALL_CALLS:
        derivations = [s for s in call.page.sections if s.heading.startswith("Derivation")]
        assert derivations, str(call)
        if any(0 in shape for shape in call.use.shapes.values()):
            continue
        subject = call.subject
        expected = 1 if subject.derivation else len(subject.gradients)
        assert len(derivations) == expected, str(call)
        for section in derivations:
            assert sum(isinstance(block, Equation) for block in section.blocks) >= 2, str(call)
            assert sum(isinstance(block, Paragraph) for block in section.blocks) >= 2, str(call)


@pytest.mark.parametrize("name", ["det", "logdet", "slogdet", "eigvalsh", "svdvals", "cholesky"])
def test_the_steps_of_a_batch_are_those_of_one_matrix(name: str) -> None:
    op = find(name)
    assert op is not None
    rank = op.call({p.name: (2, 3, 3) for p in op.inputs}, {})
    subject = Subject(op, rank)
    assert failing_claims(subject.single) == []
    if subject.single is not subject:
        # The axes of the batch would be multiplied with those of the matrices.
        with pytest.raises(ValueError, match=r"broadcast|matmul"):
            failing_claims(subject)
        text = " ".join(render_text(explain_op(subject)).split())
        assert "The steps are those of one matrix of the batch" in text
        assert "expand_dims" not in text.partition("In TensorFlow")[0]
    else:
        assert name == "cholesky"
