"""Drafts one after the other: what an answer leads to, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.model import Comparison, Result, Stage, Verdict
from gradcheck.model.findings import Found, FoundKind, Taken
from gradcheck.start.attempts import (
    MOST_ATTEMPTS,
    Draft,
    Grade,
    UnusableError,
    attempts,
    grade,
)

if TYPE_CHECKING:
    from collections.abc import Callable

POSITIONAL = Found(FoundKind.FUNCTION, "m:f", (Taken("x", by_position=True),))
ANY_NUMBER = Found(FoundKind.FUNCTION, "m:f")
NAMED = Found(FoundKind.FUNCTION, "m:f", (Taken("x"),))
TWO = Found(FoundKind.FUNCTION, "m:f", (Taken("x"), Taken("y")))


def went(verdict: Verdict, message: str = "", note: str = "") -> Result:
    return Result("c", verdict, (Comparison("x", verdict, (3,), "float64", note=note),), message)


def drive(found: Found, answer: Callable[[Draft], Result], key: str = "function") -> list[Draft]:
    """All drafts, each answered, until one is good."""
    way = attempts(found, key)
    drafts = [next(way)]
    while grade(result := answer(drafts[-1])) is not Grade.GOOD:
        try:
            drafts.append(way.send(result))
        except StopIteration:
            break
    return drafts


def samples(draft: Draft) -> set[Any]:
    inputs = draft["inputs"]
    values = inputs.values() if isinstance(inputs, dict) else inputs
    return {v.get("sample") if isinstance(v, dict) else None for v in values}


@pytest.mark.parametrize("verdict", [Verdict.NONFINITE, Verdict.INCONCLUSIVE])
@pytest.mark.parametrize("found", [POSITIONAL, ANY_NUMBER, NAMED, TWO])
def test_what_is_not_defined_gets_other_numbers_however_its_inputs_are_given(
    found: Found, verdict: Verdict
) -> None:
    def answer(draft: Draft) -> Result:
        return went(Verdict.PASS if samples(draft) == {"positive"} else verdict)

    first, last = drive(found, answer)
    assert samples(first) == {None}
    assert isinstance(last["inputs"], type(first["inputs"]))
    assert samples(last) == {"positive"}


def test_what_is_dear_gets_no_other_numbers() -> None:
    dear = Result("c", Verdict.INCONCLUSIVE, decided_by=Stage.BUDGET)
    assert {None} == set().union(*map(samples, drive(NAMED, lambda _: dear)))


def test_tensors_in_a_list_get_other_numbers_too() -> None:
    merging = Found(FoundKind.LAYER, "m:Merge", (Taken("inputs"),))

    def answer(draft: Draft) -> Result:
        value = draft["inputs"]["inputs"]
        if not isinstance(value, dict) or "list" not in value:
            return went(Verdict.ERROR, "a list is wanted")
        sampled = all(isinstance(v, dict) and v["sample"] == "positive" for v in value["list"])
        return went(Verdict.PASS if sampled else Verdict.NONFINITE)

    assert drive(merging, answer, "layer")[-1]["inputs"] == {
        "inputs": {"list": [{"shape": [2, 4], "sample": "positive"}] * 2}
    }


def test_what_takes_float32_alone_gets_other_numbers_in_float32() -> None:
    def answer(draft: Draft) -> Result:
        if draft.get("dtype") != "float32":
            return went(Verdict.ERROR, "cannot compute Mul as input #1 was a double tensor")
        return went(Verdict.PASS if samples(draft) == {"positive"} else Verdict.NONFINITE)

    assert drive(NAMED, answer)[-1] == {
        "function": "m:f",
        "inputs": {"x": {"shape": [3, 4], "sample": "positive"}},
        "dtype": "float32",
    }


@pytest.mark.parametrize("message", ["the shapes are wrong", "the dtype is wrong"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_no_more_are_tried_than_there_may_be(count: int, message: str) -> None:
    call = tuple(Taken(f"x{i}") for i in range(count))
    init = (Taken("units"),)
    found = Found(FoundKind.LAYER, "m:L", call, init)
    drafts = drive(found, lambda _: went(Verdict.ERROR, message), "layer")
    assert count < len(drafts) <= MOST_ATTEMPTS


def test_the_first_that_runs_leaves_a_few_to_try() -> None:
    few = drive(TWO, lambda _: went(Verdict.NONFINITE))
    many = drive(TWO, lambda _: went(Verdict.ERROR, "no"))
    assert len(few) < len(many)


def test_a_class_whose_parameter_is_no_size_gets_a_number() -> None:
    found = Found(FoundKind.LAYER, "m:L", (Taken("x"),), (Taken("what"),))
    drafts = drive(found, lambda _: went(Verdict.ERROR, "no"), "layer")
    assert [d["init"] for d in (drafts[0], drafts[-1])] == [{"what": 4}, {"what": 0.5}]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Found(FoundKind.FUNCTION, "m:f", (Taken("path", annotation="str"),)), "`path: str`"),
        (Found(FoundKind.FUNCTION, "m:f", (Taken("axis"),)), "no tensor"),
    ],
)
def test_what_cannot_be_called_says_why(found: Found, told: str) -> None:
    with pytest.raises(UnusableError, match=told):
        next(attempts(found, "function"))


@pytest.mark.parametrize(
    ("result", "worth"),
    [
        (went(Verdict.PASS), Grade.GOOD),
        (went(Verdict.MISMATCH), Grade.GOOD),
        (went(Verdict.PASS, note="nothing to judge: no elements"), Grade.POOR),
        (Result("c", Verdict.PASS), Grade.POOR),
        (went(Verdict.NONFINITE), Grade.POOR),
        (went(Verdict.CRASHED), Grade.USELESS),
    ],
)
def test_what_an_attempt_is_worth(result: Result, worth: Grade) -> None:
    assert grade(result) is worth


def test_an_op_of_ours_is_tried_as_it_is_declared() -> None:
    found = Found(FoundKind.FUNCTION, "matmul", (Taken("a"), Taken("b")))
    (draft,) = drive(found, lambda _: went(Verdict.PASS), "op")
    assert draft["op"] == "matmul"
    assert draft["inputs"].keys() == {"a", "b"}


def test_labels_of_a_loss_are_not_differentiated() -> None:
    found = Found(FoundKind.LOSS, "m:L", (Taken("y_true"), Taken("y_pred")))
    (draft,) = drive(found, lambda _: went(Verdict.PASS), "layer")
    assert draft["inputs"]["y_true"]["grad"] is False


@pytest.mark.parametrize("count", [1, 2])
def test_states_of_a_cell_are_a_list_of_as_many_as_it_has(count: int) -> None:
    def takes(draft: Draft) -> Result:
        given = draft["inputs"]["states"]
        right = isinstance(given, dict) and len(given["list"]) == count
        return went(Verdict.PASS) if right else went(Verdict.ERROR)

    found = Found(FoundKind.LAYER, "m:Cell", (Taken("inputs"), Taken("states")))
    shapes = drive(found, takes, "layer")[-1]["inputs"]
    assert shapes["states"] == {"list": [shapes["inputs"]] * count}


@pytest.mark.parametrize(
    ("kind", "name"), [(FoundKind.LAYER, "stated"), (FoundKind.FUNCTION, "states")]
)
def test_what_sounds_like_states_and_is_none_is_one_tensor(kind: FoundKind, name: str) -> None:
    found = Found(kind, "m:Cell", (Taken("inputs"), Taken(name)))
    key = "layer" if kind is FoundKind.LAYER else "function"
    (draft,) = drive(found, lambda _: went(Verdict.PASS), key)
    assert isinstance(draft["inputs"][name], list)
