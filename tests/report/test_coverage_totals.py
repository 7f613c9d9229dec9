"""What counts as covered: planted cases that pass, fail as expected, fail, or have no verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradcheck.model import CheckKind, GradientCall, Result, Target, TargetKind, Verdict
from gradcheck.model.inventories import RegisteredGradient
from gradcheck.model.results import NOTHING_TO_JUDGE
from gradcheck.report.coverage_totals import (
    CoverageCount,
    Covered,
    by_family,
    called_gradients,
    covered_functions,
    covered_gradients,
    foreign_gradients,
    share,
)
from tests.report import examples

REGISTERED = (
    RegisteredGradient("Sin", "math", is_float=True),
    RegisteredGradient("MatMul", "linalg", is_float=True),
    RegisteredGradient("NcclReduce", "distribution", False, "no kernel for the CPU"),
)


def result(
    name: str,
    verdict: Verdict,
    *ops: str,
    check: CheckKind = CheckKind.REVERSE,
    note: str = "",
    **case: Any,
) -> Result:
    judged = verdict not in (Verdict.ERROR, Verdict.TIMEOUT, Verdict.CRASHED, Verdict.SKIPPED)
    compared = replace(examples.compared("x", verdict, note=note), check=check)
    calls = tuple(GradientCall(op, check, ("float64",)) for op in ops)
    return Result(
        f"a.yaml::{name}",
        verdict,
        (compared,) if judged else (),
        message="" if judged else "it raised",
        case=examples.case(f"a.yaml::{name}", **case),
        called=calls,
    )


def standing(*results: Result) -> dict[str, str]:
    told = {}
    for one in covered_gradients(REGISTERED, results):
        words = [word for word in ("exercised", "verified", "known_wrong") if getattr(one, word)]
        told[one.name] = " ".join(words)
    return told


NOTHING = {"Sin": "", "MatMul": "", "NcclReduce": ""}


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.KINK])
def test_a_case_that_passes_verifies_what_it_called(verdict: Verdict) -> None:
    assert standing(result("a", verdict, "Sin")) == NOTHING | {"Sin": "exercised verified"}


@pytest.mark.parametrize(
    "verdict", [Verdict.ERROR, Verdict.CRASHED, Verdict.TIMEOUT, Verdict.SKIPPED]
)
def test_a_case_without_a_verdict_covers_nothing(verdict: Verdict) -> None:
    assert standing(result("a", verdict, "Sin")) == NOTHING


def test_what_is_found_wrong_is_exercised_and_no_more() -> None:
    assert standing(result("a", Verdict.MISMATCH, "Sin")) == NOTHING | {"Sin": "exercised"}
    assert standing(result("a", Verdict.INCONCLUSIVE, "Sin")) == NOTHING | {"Sin": "exercised"}


def test_what_is_expected_to_be_wrong_is_known_to_be() -> None:
    known = result("a", Verdict.MISMATCH, "Sin", expect=Verdict.MISMATCH)
    assert standing(known) == NOTHING | {"Sin": "exercised known_wrong"}
    # It is right in one case, and wrong in the other: both are known.
    both = standing(known, result("b", Verdict.PASS, "Sin"))
    assert both["Sin"] == "exercised verified known_wrong"


def test_a_known_fault_is_not_that_of_what_is_right_elsewhere() -> None:
    known = result("a", Verdict.MISMATCH, "Sin", "MatMul", expect=Verdict.MISMATCH)
    told = standing(known, result("b", Verdict.PASS, "Sin"))
    assert told == NOTHING | {"Sin": "exercised verified", "MatMul": "exercised known_wrong"}


def test_a_known_fault_of_somebodys_own_function_is_not_that_of_tensorflow() -> None:
    known = result("a", Verdict.MISMATCH, "Sin", expect=Verdict.MISMATCH)
    assert known.case is not None
    target = Target(TargetKind.FUNCTION, "mypackage:f", known.case.location)
    own = replace(known, case=replace(known.case, target=target))
    assert standing(own)["Sin"] == "exercised"


def test_a_known_fault_of_a_layer_is_not_that_of_an_op_that_is_right_elsewhere() -> None:
    known = result("a", Verdict.MISMATCH, "Sin", expect=Verdict.MISMATCH)
    assert known.case is not None
    target = Target(TargetKind.LAYER, "keras.layers.Masking", known.case.location)
    layer = replace(known, case=replace(known.case, target=target))
    assert standing(layer, result("b", Verdict.PASS, "Sin"))["Sin"] == "exercised verified"
    named = {layer.id: {"keras.layers.Masking"}}
    (masking,) = covered_functions({"keras.layers.Masking": "keras.layers"}, named, [layer])
    assert masking.known_wrong == [layer.id]


def test_a_gradient_that_is_missing_is_not_that_of_what_was_called() -> None:
    known = result("a", Verdict.DISCONNECTED, "Sin", expect=Verdict.DISCONNECTED)
    assert standing(known)["Sin"] == "exercised"


def test_a_pass_that_judged_nothing_verifies_nothing() -> None:
    empty = result("a", Verdict.PASS, "Sin", note=f"{NOTHING_TO_JUDGE}: no outputs")
    assert standing(empty)["Sin"] == "exercised"


def test_each_derivative_has_its_own_verdict() -> None:
    second = result("a", Verdict.MISMATCH, "MatMul", check=CheckKind.SECOND)
    both = replace(
        second,
        comparisons=(examples.compared("x"), *second.comparisons),
        called=(GradientCall("Sin"), *(second.called or ())),
    )
    told = standing(both)
    assert (told["Sin"], told["MatMul"]) == ("exercised verified", "exercised")


def test_what_is_out_of_reach_does_not_count() -> None:
    covered = covered_gradients(REGISTERED, [result("a", Verdict.PASS, "Sin")])
    count = CoverageCount.of(covered)
    assert (count.registered, count.out_of_reach, count.missing, count.covered) == (3, 1, 1, 1)
    assert count.percent == 50.0
    # What was called could be, whatever was thought of it.
    reached = covered_gradients(REGISTERED, [result("a", Verdict.PASS, "NcclReduce")])
    assert CoverageCount.of(reached).out_of_reach == 0


def test_nothing_in_reach_is_all_of_it() -> None:
    assert CoverageCount.of([]).percent == 100.0
    assert CoverageCount.of([Covered("a", "b", out_of_reach="no kernel")]).percent == 100.0


def test_gradients_of_somebody_else() -> None:
    results = [result("a", Verdict.PASS, "Sin", "MyOp")]
    assert foreign_gradients(REGISTERED, results) == ["MyOp"]
    assert [one.name for one in called_gradients(results)] == ["MyOp", "Sin"]


def test_functions_count_where_a_case_names_them() -> None:
    results = [result("a", Verdict.PASS), result("b", Verdict.ERROR)]
    named = {"a.yaml::a": {"tf.math.sin", "tf.unknown"}, "a.yaml::b": {"tf.math.cos"}}
    functions = {"tf.math.sin": "tf.math", "tf.math.cos": "tf.math"}
    covered = covered_functions(functions, named, results)
    assert [(one.name, one.verified) for one in covered] == [
        ("tf.math.sin", True),
        ("tf.math.cos", False),
    ]
    assert list(by_family(covered)) == ["tf.math"]


def test_a_case_in_forward_mode_verifies_no_way_back() -> None:
    forward = result("a", Verdict.PASS, check=CheckKind.FORWARD)
    (covered,) = covered_functions({"tf.f": "tf"}, {"a.yaml::a": {"tf.f"}}, [forward])
    assert (covered.exercised, covered.verified) == (True, False)


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert (share(99.97), share(100.0)) == ("99.9 %", "100.0 %")
