"""Derivations on a page: the claims of written ones hold, and every gradient has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradcheck.explainer import Subject
from gradcheck.explainer.document import Equation, Paragraph
from gradcheck.ops import Step, find
from tests.explainer.claims import failing_claims
from tests.explainer.explained import ALL_CALLS, CALLS, Explained

WRITTEN = {
    name: [
        call
        for call in calls
        # A derivation speaks of one matrix; batches are its repetition.
        if call.op.family != "linalg" or max(map(len, call.use.shapes.values())) <= 2
    ]
    for name, calls in CALLS.items()
    if calls[0].op.derivation or calls[0].op.slope
}


@pytest.mark.parametrize("calls", WRITTEN.values(), ids=WRITTEN)
def test_every_claim_of_a_written_derivation_holds(calls: list[Explained]) -> None:
    assert calls
    for call in calls:
        assert not failing_claims(call.subject), str(call)


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
