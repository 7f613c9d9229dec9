from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.report.difference import Difference, compare
from gradcheck.report.read.json_reader import Report
from tests.report import examples


def report(*results: Result, **environment: str) -> Report:
    return Report(environment, results, (), 1.0, False, None)


def case(verdict: Verdict = Verdict.PASS, name: str = "a", **changes: Any) -> Result:
    compared = examples.compared("x", verdict, **changes)
    return Result(name, verdict, (compared,), case=examples.case(name))


def difference(old: Result, new: Result) -> Difference:
    return compare(report(old), report(new))


def test_a_report_does_not_differ_from_itself() -> None:
    same = compare(report(*examples.all_results()), report(*examples.all_results()))
    assert same == Difference((), (), (), (), (), (), (), len(examples.all_results()))
    assert not same.worse


def test_versions_and_flags() -> None:
    told = compare(
        report(tensorflow="2.20", python="3.11", oneDNN="on"),
        report(tensorflow="2.21", python="3.11", XLA="on"),
    )
    assert told.environment == ("tensorflow 2.20 → 2.21", "oneDNN on → unset", "XLA unset → on")
    assert not told.worse


def test_a_verdict_that_got_worse() -> None:
    told = difference(case(), case(Verdict.MISMATCH))
    assert [(c.id, c.text) for c in told.broken] == [("a", "pass → mismatch; x pass → mismatch")]
    assert told.worse


def test_a_verdict_that_got_better() -> None:
    told = difference(case(Verdict.NONFINITE), case())
    assert [c.id for c in told.mended] == ["a"]
    assert not told.worse


def test_a_known_bug_that_is_gone_is_news() -> None:
    known = examples.known_bug()
    gone = replace(known, verdict=Verdict.PASS)
    told = difference(known, gone)
    assert [c.text for c in told.broken] == ["mismatch (expected) → pass (not expected)"]


def test_another_way_to_be_wrong() -> None:
    told = difference(case(Verdict.MISMATCH), case(Verdict.NONFINITE))
    assert [c.id for c in told.other] == ["a"]
    assert not told.worse


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.KINK, Verdict.MISMATCH])
def test_what_is_not_looked_at_any_more_got_worse(verdict: Verdict) -> None:
    skipped = Result("a", Verdict.SKIPPED, message="no `tf.gone`", case=examples.case("a"))
    told = difference(case(verdict), skipped)
    assert [c.text for c in told.broken] == [f"{verdict} → skipped: no `tf.gone`"]
    assert not told.mended
    assert told.worse
    assert not difference(skipped, replace(skipped, message="another")).worse
    assert not difference(skipped, case()).worse


def test_a_message_says_what_happened() -> None:
    crash = Result("a", Verdict.CRASHED, message="died of SIGABRT\nmore", case=examples.case("a"))
    (change,) = difference(case(), crash).broken
    assert change.text == "pass → crashed: died of SIGABRT"


@pytest.mark.parametrize(
    ("old", "new", "grown"),
    [
        ((1e-13, 1e-13, 1e-12), (1e-10, 1e-10, 1e-12), ["x rel 1.0e-13 → 1.0e-10"]),
        ((1e-13, 1e-13, 1e-12), (1e-13, 1e-13, 1e-9), ["x error bar 1.0e-12 → 1.0e-09"]),
        ((1e-13, 1e-13, 1e-12), (1e-13, 1e-13, float("nan")), ["x error bar 1.0e-12 → nan"]),
        ((1e-13, 1e-13, 1e-12), (5e-13, 5e-13, 5e-12), []),
        ((0.0, 0.0, 1e-12), (1e-15, 1e-15, 1e-12), []),
        ((0.0, 0.0, 1e-12), (1e-9, 1e-9, 1e-12), ["x rel 0 → 1.0e-09"]),
    ],
)
def test_errors_that_grew(old: Any, new: Any, grown: list[str]) -> None:
    told = difference(case(errors=old), case(errors=new))
    assert [change.text for change in told.grown] == grown
    assert told.worse == bool(grown)


def test_what_is_noise_depends_on_the_precision() -> None:
    old, new = (0.0, 0.0, 1e-12), (1e-7, 1e-7, 1e-12)
    assert difference(case(errors=old), case(errors=new)).grown
    single = [case(errors=errors, dtype="float32") for errors in (old, new)]
    assert not difference(*single).grown


def test_the_factor_can_be_chosen() -> None:
    old, new = report(case(errors=(1e-12,) * 3)), report(case(errors=(5e-12,) * 3))
    assert not compare(old, new).grown
    assert compare(old, new, 2.0).grown


def test_cases_that_came_and_went() -> None:
    told = compare(report(case(), case(name="b")), report(case(), case(name="c")))
    assert (told.removed, told.added, told.common) == (("b",), ("c",), 1)
    assert told.worse
