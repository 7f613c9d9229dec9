from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.report.reporter import Outcome
from gradcheck.report.totals import environment_line, slowest, succeeded, totals
from tests.report import examples

if TYPE_CHECKING:
    from gradcheck.model import Result


def outcome(
    results: list[Result], *, problems: bool = False, planned: int | None = None
) -> Outcome:
    found = (examples.PROBLEM,) if problems else ()
    plan = examples.plan_of(results, found)
    if planned is not None:
        plan = replace(plan, cases=tuple(examples.case(f"a.yaml::{i}") for i in range(planned)))
    return Outcome(plan, tuple(results), examples.summary_of(results))


def test_the_totals_count_known_bugs_apart() -> None:
    results = [examples.passing(), examples.passing(), examples.mismatch(), examples.known_bug()]
    text = "4 cases: 2 pass, 1 mismatch, 1 mismatch (expected) in 3.21 s"
    assert totals(outcome(results)) == text
    assert not succeeded(outcome(results))


def test_known_bugs_alone_are_a_success() -> None:
    assert succeeded(outcome([examples.passing(), examples.known_bug(), examples.kink()]))
    assert not succeeded(outcome([examples.bug_gone()]))


def test_problems_are_counted_and_fail() -> None:
    told = outcome([examples.passing()], problems=True)
    assert totals(told) == "1 case: 1 pass in 3.21 s, 1 spec problem"
    assert not succeeded(told)


def test_cases_that_did_not_run_are_told() -> None:
    assert totals(outcome([examples.passing()], planned=5)).startswith("1 of 5 cases: 1 pass")
    stopped = outcome([examples.passing()], planned=5)
    stopped = replace(stopped, summary=replace(stopped.summary, interrupted=True))
    assert totals(stopped).startswith("interrupted after 1 of 5 cases")
    assert not succeeded(stopped)


def test_nothing_to_do() -> None:
    assert totals(outcome([])) == "0 cases in 3.21 s"


def test_the_slowest_come_first() -> None:
    results = [examples.passing("a.yaml::x", seconds=s) for s in (1.0, 3.0, 2.0)]
    assert [r.seconds for r in slowest(results, 2)] == [3.0, 2.0]
    assert len(slowest(results, 0)) == 3
    assert slowest(results, None) == []


def test_facts_are_told_in_words() -> None:
    plan = examples.plan_of([], environment={"device": "CPU:1 GPU:2", "XLA": "off", "numpy": "2"})
    assert environment_line(plan) == "1 CPU and 2 GPUs, XLA auto-jit off, numpy 2"
    # (Of machines that differ.)
    plan = examples.plan_of([], environment={"device": "CPU:1 | GPU:1"})
    assert environment_line(plan) == "device CPU:1 | GPU:1"
