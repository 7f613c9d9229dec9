from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradcheck.model import Result, Verdict
from gradcheck.run.workers.result_bytes import from_bytes, to_bytes
from tests.run.fakes import make_case

CASE = make_case("a")
RESULT = Result(CASE.id, Verdict.MISMATCH, message="wrong", seconds=0.5, case=CASE)


def test_a_result_comes_back_with_the_case_of_the_parent() -> None:
    assert b"a.yaml" not in to_bytes(replace(RESULT, id="x")), "the case stays where it is"
    back = from_bytes(to_bytes(RESULT), CASE)
    assert (back.id, back.verdict, back.message) == (CASE.id, Verdict.MISMATCH, "wrong")
    assert back.seconds == 0.5
    assert back.case is CASE


def test_what_cannot_be_sent_is_an_error() -> None:
    message: Any = lambda: None  # noqa: E731
    back = from_bytes(to_bytes(replace(RESULT, message=message)), CASE)
    assert back.verdict is Verdict.ERROR
    assert "the result could not be sent back" in back.message
    assert back.case is CASE


def test_what_cannot_be_read_is_an_error() -> None:
    back = from_bytes(b"no pickle", CASE)
    assert (back.id, back.verdict, back.case) == (CASE.id, Verdict.ERROR, CASE)
    assert "the result cannot be read: UnpicklingError" in back.message
