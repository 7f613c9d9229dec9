"""Where TensorFlow is known to be wrong, a proof that fails says so and names the finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.errors import UsageError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.page import known_findings
from gradcheck.explainer.page.known_findings import Finding, told_of_findings
from gradcheck.explainer.render.terminal import render_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
CHECKS = {"float64": "", "float64, second": "second", "float64, forward": "forward"}


def shown_in_double() -> Iterator[Any]:
    for op, findings in known_findings._table().items():
        for finding in findings:
            if finding.where in CHECKS:
                yield pytest.param(finding, id=f"{op} {finding.case.rpartition('::')[2]}")


@pytest.mark.parametrize("finding", list(shown_in_double()))
def test_a_known_fault_is_named(finding: Finding) -> None:
    check, file = CHECKS[finding.where], ROOT / finding.case
    asked = Question(
        name=str(file), verify=True, second=check == "second", forward=check == "forward"
    )
    try:
        document, proofs = answer(asked)
    except UsageError as error:  # its gradient raises
        text = str(error)
    else:
        assert not all(proof.holds for proof in proofs)
        text = " ".join(render_text(document).split())
    assert f"({finding.case})" in text
    # (No value of TensorFlow's that is wrong is called what a formula should give.)
    assert "formula of this page DIFFERS" not in text


def test_nothing_is_said_of_what_is_right() -> None:
    document, proofs = answer(Question(name="cumprod", verify=True))
    assert all(proof.holds for proof in proofs)
    assert "known to be wrong" not in render_text(document)
    assert told_of_findings(["matmul"]) == ""


def test_a_formula_that_is_no_number_says_so() -> None:
    at = {"x": np.array([2.0, 0.0, 3.0])}
    document, _ = answer(Question(name="cumprod", at=at, verify=True))
    text = " ".join(render_text(document).split())
    assert "the formula of this page is no number at x[1]: it divides by 0 there" in text
    assert "the tape gives 0. " in text
    assert "The product of the others is found by dividing by the element" in text
