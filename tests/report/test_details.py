from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from gradcheck.model import ANOTHER_IN_ITS_MODE, NO_DOUBLE, Element, Result, Verdict
from gradcheck.report.columns import failure_text
from gradcheck.report.details import (
    element_grid,
    failure_details,
    gist,
    input_mark,
    mark,
    replay_command,
)
from gradcheck.report.remark_lines import kink_lines, known_lines, skipped_lines, weak_lines
from tests.report import examples


def details_of(result: Result) -> str:
    return failure_text(failure_details(result, examples.plan_of([result])))


def test_a_mismatch_is_told_in_full() -> None:
    text = details_of(examples.mismatch())
    assert "at specs/linalg/matmul.yaml:7:5" in text
    assert Verdict.MISMATCH.meaning in text
    assert "3 of 12 elements" in text
    assert "likely cause: The gradient is 1.0005 times" in text
    assert "in your code: layers/products.py:31, in Product.call.grad" in text
    assert "The closed formula agrees" in text
    assert "b[4,5]" not in text, "an input that is right has no place among the failures"


def test_a_function_that_is_random_is_not_called_ill_conditioned() -> None:
    text = details_of(Result("s::dropout", Verdict.INCONCLUSIVE, message="it is random"))
    assert "inconclusive: There is no numeric derivative to judge by: see the message." in text
    assert "better conditioned" in details_of(examples.inconclusive())


def test_the_worst_elements_show_all_oracles() -> None:
    grid = failure_details(examples.mismatch(), examples.plan_of([])).inputs[0].elements
    assert grid is not None
    assert grid.header == (
        "index",
        "input value",
        "analytic",
        "numeric ± bound",
        "error",
        "formula",
    )
    assert grid.rows[0] == ("[0, 1]", "0.74613", "2.001", "2 ± 3.1e-13", "1.0e-03", "2")


def test_one_sided_derivatives_have_columns_only_where_they_differ() -> None:
    smooth = element_grid([Element((), 1.0, 2.0, 1.0, 0.0)])
    bent = element_grid([Element((), 0.0, 3.0, 0.5, 0.5, left=0.0, right=1.0)])
    assert smooth is not None
    assert bent is not None
    assert "from left" not in smooth.header
    assert bent.header[-2:] == ("from left", "from right")
    assert bent.rows[0][-2:] == ("0", "1")
    assert element_grid([]) is None


def test_the_error_at_a_kink_is_the_distance_from_the_nearer_side() -> None:
    assert Element((), 0.0, 3.0, 0.5, 0.5, left=0.0, right=1.0).error == 2.0
    assert Element((), 0.0, -3.0, 0.5, 0.5, left=1.0, right=0.0).error == 3.0
    assert Element((), 0.0, 0.3, 0.5, 0.5, left=0.0, right=1.0).error == 0.0
    assert Element((), 0j, 3 - 4j, 0j, 0.5, left=-1 - 1j, right=0j).error == abs(3 - 3j)


def test_a_kink_shows_both_sides() -> None:
    (line,) = kink_lines(examples.kink())
    assert line.endswith("kink: x: 0, between -1 from the left and 1 from the right")
    assert kink_lines(examples.passing()) == []
    assert kink_lines(examples.broken_kink()) == [], "a failure is told in full"


def test_a_jump_is_no_kink_between_two_slopes() -> None:
    element = Element((1,), 2.0, 0.0, -0.0, 1e-9, left=0.0, right=-0.0)
    jump = examples.compared("x", Verdict.KINK, (2,), worst=(element,))
    (line,) = kink_lines(Result("s::floor", Verdict.KINK, (jump,)))
    assert line == "s::floor  kink: x[2] at [1]: 0, the slope on both sides of a jump"


def test_a_bug_that_is_gone_says_so() -> None:
    text = details_of(examples.bug_gone())
    assert "expected mismatch, but it passes: the known bug is gone; remove `expect`" in text
    assert "reason in the spec: wrong for negative shifts" in text


def test_another_verdict_than_the_expected_one() -> None:
    case = examples.case("a.yaml::x", expect=Verdict.DISCONNECTED)
    wrong = examples.compared("x", Verdict.MISMATCH, failing=2)
    text = details_of(Result("a.yaml::x", Verdict.MISMATCH, (wrong,), case=case))
    assert "expected disconnected, got mismatch" in text
    assert "2 of 12 elements" in text


def test_an_expectation_by_input_that_was_never_reached() -> None:
    case = examples.case("a.yaml::x", expect={"b": Verdict.DISCONNECTED})
    text = details_of(Result("a.yaml::x", Verdict.ERROR, (), "ValueError: no", case=case))
    assert "expected disconnected for b, got error before any input was compared" in text
    assert "ValueError: no" in text


def test_an_expectation_of_something_that_is_not_there() -> None:
    case = examples.case("a.yaml::x", expect={"dense/bais": Verdict.MISMATCH})
    right = examples.compared("dense/bias", Verdict.PASS)
    result = Result("a.yaml::x", Verdict.PASS, (right,), case=case)
    assert not result.expected
    text = details_of(result)
    assert "`expect` names 'dense/bais', which was not compared: there are dense/bias" in text
    assert "did you mean 'dense/bias'?" in text


def test_an_expectation_does_not_cover_what_ended_the_check() -> None:
    case = examples.case("a.yaml::x", expect={"x": Verdict.PASS})
    right = examples.compared("x", Verdict.PASS)
    assert Result("a.yaml::x", Verdict.PASS, (right,), case=case).expected
    assert not Result("a.yaml::x", Verdict.ERROR, (right,), "raised", case=case).expected


def test_what_was_compared_in_low_precision_alone() -> None:
    note = f"{NO_DOUBLE}, so the numeric derivative was taken in its own"
    weak = replace(examples.compared("x", Verdict.PASS), note=note, dtype="float32", error_bar=0.1)
    case = examples.case("a.yaml::x")
    (line,) = weak_lines(Result("a.yaml::x", Verdict.PASS, (weak,), case=case))
    assert line == "a.yaml::x float32 alone: x (error bar up to 0.1)"
    assert weak_lines(Result("a.yaml::x", Verdict.PASS, (), case=case)) == []


def test_what_is_another_function_in_its_mode() -> None:
    note = f"{ANOTHER_IN_ITS_MODE}xla: it gives other outputs there; in float32 within 1 ulp"
    other = replace(examples.compared("x", Verdict.PASS), note=note)
    lines = weak_lines(Result("a.yaml::x", Verdict.PASS, (other,), case=examples.case("a.yaml::x")))
    (line,) = lines
    assert line == "a.yaml::x another function in xla: it gives other outputs there"


@pytest.mark.parametrize("case_id", ["a.yaml::x", "a b.yaml::it's[float32,xla]", "$(rm).yaml::;"])
def test_the_replay_command_survives_a_shell(case_id: str) -> None:
    plan = examples.plan_of([])
    assert shlex.split(replay_command(case_id, plan)) == ["gradcheck", "run", case_id]


def test_the_replay_command_repeats_the_seed_of_the_run() -> None:
    plan = examples.plan_of([], environment={"seed": "7"})
    assert replay_command("a.yaml::x", plan) == "gradcheck run a.yaml::x --seed 7"


def test_marks_tell_known_bugs_from_new_ones() -> None:
    assert mark(examples.passing()) == ""
    assert mark(examples.mismatch()) == ""
    assert mark(examples.known_bug()) == "expected"
    assert mark(examples.bug_gone()) == "unexpected"


@pytest.mark.parametrize(
    ("result", "marks"),
    [
        (examples.passing(), ["", ""]),
        (examples.disconnected(), ["", ""]),
        (examples.known_bug(), ["expected"]),
        (examples.bug_gone(), ["unexpected"]),
        (examples.one_input_as_expected(), ["", "expected"]),
        (examples.one_input_not_as_expected(), ["", "unexpected"]),
    ],
)
def test_marks_of_inputs(result: Result, marks: list[str]) -> None:
    assert [input_mark(result, comparison) for comparison in result.comparisons] == marks


def test_the_gist_fits_a_list() -> None:
    def gist_of(result: Result) -> str:
        return gist(failure_details(result, examples.plan_of([])))

    assert gist_of(examples.mismatch()).startswith("a[3,4]: The gradient is 1.0005 times")
    assert gist_of(examples.disconnected()).startswith("b[2,2]: The tape returned None")
    assert gist_of(examples.timeout()) == "still running after 30 s"
    assert gist_of(examples.nonfinite()).startswith("x[5]: float64, 2 of 5 elements")
    assert "\n" not in gist_of(examples.error())


def test_variants_of_a_known_bug_share_a_line() -> None:
    bug = examples.known_bug()
    name = bug.id.partition("[")[0]
    some = [replace(bug, id=f"{name}{variant}") for variant in ("", "[second]", "[graph,second]")]
    other = replace(bug, id=f"{name}[xla]", verdict=Verdict.NONFINITE)
    told = "wrong for | negative shifts"
    assert known_lines([*some, other, replace(bug, id=f"{name}s")]) == [
        f"{name}, [second], [graph,second]  mismatch: {told}",
        f"{name}[xla]  nonfinite: {told}",
        f"{name}s  mismatch: {told}",
    ]
    many = [replace(bug, id=f"{name}[{n}]") for n in range(7)]
    assert known_lines(many) == [f"{name}[0], [1], [2], [3], [4] and 2 more  mismatch: {told}"]


def test_known_bugs_and_skipped_cases_give_their_reason() -> None:
    assert known_lines([examples.known_bug()])[0].endswith("mismatch: wrong for | negative shifts")
    assert skipped_lines([examples.skipped(), examples.skipped(), examples.passing()]) == [
        "2 cases skipped: there is no GPU"
    ]
