"""Runs of pytest inside of tests, with checks that need no TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Comparison, Element, Result, Verdict

# Loaded before any run inside of a test: what such a run imports is forgotten at its end.
from gradcheck.testing import fixture, plugin, recognise, run_case, spec_items  # noqa: F401

if TYPE_CHECKING:
    from gradcheck.model import Case


def pretended(case: Case) -> Result:
    """The verdict that stands in the name of the case, at the beginning; else a pass."""
    verdict = next((v for v in Verdict if case.name.startswith(v)), Verdict.PASS)
    if verdict in (Verdict.ERROR, Verdict.SKIPPED):
        return Result(case.id, verdict, message=f"pretended to be {verdict}")
    element = Element((0,), 0.5, 2.0, 1.0, 1e-13)
    found = Comparison(
        "x", verdict, (3,), "float64", max_abs_error=1.0, max_rel_error=1.0, error_bar=1e-13,
        worst=() if verdict.acceptable else (element,), failing=int(not verdict.acceptable),
        judged=3,
    )  # fmt: skip
    return Result(case.id, verdict, (found,))


@pytest.fixture
def no_tensorflow(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets cases have the verdict that their name begins with; which of them ran, by id."""
    ran: list[str] = []

    def run(self: run_case.Here, case: Case) -> Result:
        ran.append(case.id)
        return pretended(case)

    monkeypatch.setattr(run_case.Here, "prepare", lambda _: None)
    monkeypatch.setattr(run_case.Here, "run", run)
    return ran
