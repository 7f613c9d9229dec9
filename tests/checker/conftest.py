"""TensorFlow once for all, and a look at every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.checker import api, case, check
from gradcheck.model import Stage, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Result


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow, imported when the first test asks for it."""
    import tensorflow

    return tensorflow


ARISES_IN = {
    Verdict.PASS: {
        *(Stage.FIRST_LOOK, Stage.NOISE, Stage.CONFIRMATION, Stage.ROUNDING, Stage.SHAPE),
        *(Stage.FORMULA, Stage.PRECISION, Stage.FORWARD, Stage.CONNECTION, Stage.JACOBIAN),
    },
    Verdict.KINK: {
        *(Stage.NOISE, Stage.CONFIRMATION, Stage.PRECISION, Stage.FORWARD, Stage.JACOBIAN),
        Stage.CONNECTION,
    },
    Verdict.MISMATCH: {
        *(Stage.CONFIRMATION, Stage.DIRECTIONS, Stage.TIES, Stage.SHAPE),
        *(Stage.FORMULA, Stage.PRECISION, Stage.FORWARD, Stage.JACOBIAN),
    },
    Verdict.NONFINITE: {
        *(Stage.NOISE, Stage.CONFIRMATION, Stage.DIRECTIONS, Stage.PRECISION, Stage.FORWARD),
        Stage.JACOBIAN,
    },
    Verdict.DISCONNECTED: {Stage.CONNECTION, Stage.PRECISION, Stage.FORWARD, Stage.JACOBIAN},
    Verdict.INCONCLUSIVE: {
        Stage.BUDGET,
        *(Stage.SET_UP, Stage.NOISE, Stage.CONFIRMATION, Stage.ROUNDING, Stage.DIRECTIONS),
        *(Stage.REPEATABILITY, Stage.PRECISION, Stage.FORWARD, Stage.PHASE, Stage.JACOBIAN),
    },
    Verdict.ERROR: {Stage.SET_UP, Stage.FORMULA, Stage.PRECISION},
    Verdict.SKIPPED: {Stage.SET_UP},
}
"""By verdict: the stages that may decide so."""


@pytest.fixture(autouse=True)
def _verdicts_name_their_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test checks: every verdict says which stage it arose in, and it can have."""

    def checked(problem: Problem, name: str) -> Result:
        result = check.check_problem(problem, name)
        told = [(c.verdict, c.decided_by) for c in result.comparisons]
        for verdict, stage in [(result.verdict, result.decided_by), *told]:
            assert stage in ARISES_IN[verdict], (verdict, stage)
        return result

    monkeypatch.setattr(api, "check_problem", checked)
    monkeypatch.setattr(case, "check_problem", checked)
