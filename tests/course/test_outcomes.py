"""The word beside a claim is what its case came to, and a case that surprises is never true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck.course.lesson_page import Claim
from gradcheck.course.outcomes import Outcome, numbers_of, outcome, summary
from gradcheck.model import (
    CheckKind,
    Comparison,
    Diagnosis,
    Input,
    Location,
    Result,
    Verdict,
)
from tests.run.fakes import make_case

CLAIM = Claim("case", "It is so.")
GIVEN = Input("x", (2,), Location("a.yaml", 1, 1), values=np.array([1.0, 2.0]))


def compared(verdict: Verdict, **changes: Any) -> Comparison:
    two = np.array([1.0, 2.0])
    parts: dict[str, Any] = {"analytic": two, "numeric": two, "judged": 2, **changes}
    return Comparison("x", verdict, (2,), "float64", **parts)


def seen(comparison: Comparison, *, drawn: bool = False, **changes: Any) -> Outcome:
    given = replace(GIVEN, values=None) if drawn else GIVEN
    parts: dict[str, Any] = {"inputs": (given,), "upstream": "ones", **changes}
    case = make_case("case", **parts)
    return outcome(CLAIM, [Result(case.id, comparison.verdict, (comparison,), case=case)])


def test_what_passes_is_true() -> None:
    assert seen(compared(Verdict.PASS)) == Outcome(CLAIM, "true", ("x: [1, 2]",))


def test_a_mismatch_that_is_expected_is_false_with_both_numbers_and_the_reason() -> None:
    wrong = compared(Verdict.MISMATCH, numeric=np.array([1.0, 4.0]))
    found = seen(wrong, expect=Verdict.MISMATCH, reason="it is half")
    assert found == Outcome(CLAIM, "false", ("x: claimed [1, 2], measured [1, 4]",), "it is half")


def test_none_is_told_with_whether_the_output_moves() -> None:
    note = "the output does move with this input: its numeric derivative is 4 ± 8e-14"
    none = compared(Verdict.DISCONNECTED, analytic=None, note=note)
    found = seen(none, expect=Verdict.DISCONNECTED)
    assert (found.word, found.facts) == (
        "true",
        ("x: None; the output does move with this input",),
    )


@pytest.mark.parametrize(
    ("verdict", "expect"),
    [
        (Verdict.MISMATCH, None),
        (Verdict.PASS, Verdict.MISMATCH),
        (Verdict.DISCONNECTED, None),
        (Verdict.DISCONNECTED, Verdict.MISMATCH),
    ],
)
def test_what_does_not_end_as_the_lesson_says_is_a_surprise(
    verdict: Verdict, expect: Verdict | None
) -> None:
    found = seen(compared(verdict), expect=expect)
    assert found.word == "failed"
    assert found.facts[0] == f"the case ended with {verdict}"


def test_an_error_is_told() -> None:
    case = make_case("case")
    found = outcome(CLAIM, [Result(case.id, Verdict.ERROR, message="no such\nthing", case=case)])
    assert found.word == "failed"
    assert found.facts == ("the case ended with error: no such thing",)


def test_a_claim_whose_case_is_not_there_is_a_surprise() -> None:
    assert outcome(CLAIM, []).word == "failed"


def test_numbers_that_were_drawn_are_not_shown() -> None:
    right = ("x: 2 elements, all right",)
    assert seen(compared(Verdict.PASS), drawn=True).facts == right
    assert seen(compared(Verdict.PASS), upstream="random").facts == right
    twice = compared(Verdict.PASS, check=CheckKind.SECOND)
    assert seen(twice).facts == ("x, differentiated twice: 2 elements, all right",)
    cause = Diagnosis("factor", "the gradient of x is 2 times too small (to 5e-17)")
    wrong = compared(Verdict.MISMATCH, check=CheckKind.SECOND, diagnosis=cause)
    found = seen(wrong, expect=Verdict.MISMATCH)
    assert found.facts == ("x, differentiated twice: the gradient of x is 2 times too small",)


def test_many_gradients_are_counted() -> None:
    every = tuple(replace(compared(Verdict.PASS), name=f"w{i}") for i in range(5))
    case = make_case("case")
    passed = Result(case.id, Verdict.PASS, every, case=case)
    assert outcome(CLAIM, [passed]).facts == ("5 gradients with 10 elements, all right",)
    assert outcome(CLAIM, [replace(passed, comparisons=every[:4])]).facts[3] == (
        "w3: 2 elements, all right"
    )


def test_numbers_are_short_and_what_rounding_left_is_zero() -> None:
    assert numbers_of(-6.000000000000008) == "-6"
    assert numbers_of([[0.1 + 0.2, -1e-17]]) == "[[0.3, 0]]"
    assert numbers_of(0.9276705118714867) == "0.927671"


def test_the_summary_counts_all_cases() -> None:
    good, bad = make_case("good"), make_case("bad")
    results = {
        "good": [Result(good.id, Verdict.PASS, case=good)],
        "bad": [Result(bad.id, Verdict.MISMATCH, case=bad)],
    }
    assert summary("01-a", {"good": results["good"]}) == (
        "The spec 01-a.yaml has 1 case, and all end as they should."
    )
    assert summary("01-a", results) == (
        "The spec 01-a.yaml has 2 cases. These did not end as they should: bad."
    )
