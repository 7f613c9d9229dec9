from __future__ import annotations

import math

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.model.planted import Fate, Planted, Power
from gradcheck.report.power_totals import (
    PowerOutcome,
    Tally,
    floor,
    percent,
    power_totals,
)


def power(name: str, *fates: Fate) -> Power:
    faults = tuple(Planted("x", f"f{n}", "is wrong", fate) for n, fate in enumerate(fates))
    return Power(name, Verdict.PASS, planted=faults)


GOOD = power("a.yaml::good", Fate.CAUGHT, Fate.CAUGHT, Fate.EQUIVALENT)
POOR = power("b.yaml::poor", Fate.CAUGHT, Fate.SURVIVED)
BROKEN = Result("a.yaml::broken", Verdict.ERROR, message="it raised")


def test_faults_that_change_nothing_do_not_count() -> None:
    tally = Tally.of([GOOD, POOR])
    assert (tally.caught, tally.survived, tally.equivalent, tally.faults) == (3, 1, 1, 4)
    assert tally.score == 75.0


def test_nothing_planted_has_no_score() -> None:
    assert Tally.of([]).score is None


def test_cases_without_planted_faults_are_not_measured() -> None:
    outcome = PowerOutcome((GOOD, BROKEN, POOR), (), 1.0)
    assert outcome.measured == (GOOD, POOR)
    assert outcome.unmeasured == (BROKEN,)


def test_the_last_line_says_it_all() -> None:
    line = power_totals(PowerOutcome((GOOD, BROKEN, POOR), (), 1.0, interrupted=True))
    assert line == (
        "interrupted: 3 cases (1 not measured); 4 faults planted, 3 caught; score 75.0 %; "
        "1 that change nothing do not count; floor –, one element –; in 1.00 s"
    )


@pytest.mark.parametrize(
    ("score", "text"), [(None, "–"), (100.0, "100.0 %"), (99.99, "99.9 %"), (0.0, "0.0 %")]
)
def test_only_a_whole_hundred_is_shown_as_one(score: float | None, text: str) -> None:
    assert percent(score) == text


@pytest.mark.parametrize(
    ("size", "text"), [(None, "–"), (math.inf, "> 1e-1"), (1e-3, "1e-3"), (1e-10, "1e-10")]
)
def test_floors_are_short(size: float | None, text: str) -> None:
    assert floor(size) == text
