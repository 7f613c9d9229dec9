from __future__ import annotations

from gradcheck.model import Result, Verdict
from gradcheck.run import summarise
from gradcheck.run.summary import left_out
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


def test_what_was_left_out_is_skipped_and_says_why() -> None:
    case = make_case("a")
    one, two = (left_out(case, failures) for failures in (1, 2))
    assert (one.verdict, one.case) == (Verdict.SKIPPED, case)
    assert one.message == "not run: stopped after 1 failure"
    assert two.message == "not run: stopped after 2 failures"
