from __future__ import annotations

from gradcheck.model import Result, Verdict
from gradcheck.run import summarise
from tests.run.fakes import make_case


def test_counts() -> None:
    known = make_case("known", expect=Verdict.MISMATCH)
    cured = make_case("cured", expect=Verdict.MISMATCH)
    unrun = make_case("unrun", expect=Verdict.MISMATCH)
    results = [
        Result("a", Verdict.PASS),
        Result("b", Verdict.KINK),
        Result("c", Verdict.MISMATCH),
        Result("known", Verdict.MISMATCH, case=known),
        Result("cured", Verdict.PASS, case=cured),
        Result("unrun", Verdict.SKIPPED, case=unrun),
    ]
    summary = summarise(results, problems=3, seconds=1.5, interrupted=True)
    assert summary.total == 6
    assert summary.verdicts == {
        Verdict.PASS: 2,
        Verdict.KINK: 1,
        Verdict.MISMATCH: 2,
        Verdict.SKIPPED: 1,
    }
    assert summary.failed == 2  # c, and cured: its known bug is gone
    assert summary.known == 1
    assert (summary.problems, summary.seconds, summary.interrupted) == (3, 1.5, True)
