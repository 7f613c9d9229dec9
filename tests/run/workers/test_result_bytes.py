from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck.model import (
    CloseUp,
    CodePlace,
    Comparison,
    Diagnosis,
    Element,
    Result,
    Stage,
    Verdict,
)
from gradcheck.model.planted import Fate, Planted, Power
from gradcheck.run.workers.result_bytes import LONGEST_TEXT, from_bytes, to_bytes
from tests.run.fakes import make_case

CASE = make_case("a")
RESULT = Result(CASE.id, Verdict.MISMATCH, message="wrong", seconds=0.5, case=CASE)
COMPARISON = Comparison(
    "x",
    Verdict.KINK,
    (2, 1),
    "complex128",
    note="½",
    judged=2,
    max_abs_error=float("nan"),
    max_rel_error=float("inf"),
    worst=(Element((0, 0), np.float64(0.1), 1 + 2j, 5e-324, 1e308, left=np.complex128(1j)),),
    failing=int(np.int64(1)),
    analytic=np.array([[1 + 2j], [-0.0]]),
    numeric=np.array([[0.1], [1e-300]], np.float32),
    diagnosis=Diagnosis("sign", "it has the wrong sign"),
    places=(CodePlace("a.py", 3, "f"),),
    decided_by=Stage.TIES,
    shades="01",
    close_up=CloseUp(
        (0, 0), True, 1.0, 2.0, 3.0, 0.5, (0.5, 0.25), (1.0, 0.0), (2.0,) * 2, (3.0, 4.0)
    ),
    jacobian=("+0", "?-"),
)


def test_a_result_comes_back_with_the_case_of_the_parent() -> None:
    assert b"specs" not in to_bytes(replace(RESULT, id="x")), "the case stays where it is"
    back = from_bytes(to_bytes(RESULT), CASE)
    assert (back.id, back.verdict, back.message) == (CASE.id, Verdict.MISMATCH, "wrong")
    assert back.seconds == 0.5
    assert back.case is CASE


def test_all_that_a_comparison_says_comes_back() -> None:
    back = from_bytes(to_bytes(replace(RESULT, comparisons=(COMPARISON,))), CASE)
    (comparison,) = back.comparisons
    assert repr(replace(comparison, worst=())) == repr(replace(COMPARISON, worst=()))
    assert comparison.worst == COMPARISON.worst
    assert comparison.numeric is not None
    assert comparison.numeric.dtype == np.float32
    comparison.numeric[0] = 0.0  # it can be written to, as any other


def test_what_power_measures_comes_back() -> None:
    planted = Planted("x", "sign", "−g", Fate.CAUGHT, Verdict.MISMATCH, size=0.5)
    back = from_bytes(to_bytes(Power(CASE.id, Verdict.PASS, planted=(planted,))), CASE)
    assert isinstance(back, Power)
    assert back.planted == (planted,)


def test_a_number_of_few_bits_comes_as_float64() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, 2.5], ml_dtypes.bfloat16)
    sent = replace(RESULT, comparisons=(replace(COMPARISON, bound=array),))
    bound = from_bytes(to_bytes(sent), CASE).comparisons[0].bound
    assert bound is not None
    assert bound.tolist() == [1.5, 2.5]


def test_what_cannot_be_sent_is_an_error() -> None:
    message: Any = lambda: None  # noqa: E731
    for spoilt in (replace(RESULT, message=message), replace(RESULT, comparisons=(message,))):
        back = from_bytes(to_bytes(spoilt), CASE)
        assert back.verdict is Verdict.ERROR
        assert "the result could not be sent back" in back.message
        assert back.case is CASE


class Trap:
    """Unpickled, it would do something."""

    def __reduce__(self) -> Any:
        return print, ("executed",)


def sent_with(place: int, value: Any) -> bytes:
    """A result with one of its parts replaced, on its way."""
    kind, parts = json.loads(to_bytes(RESULT))
    parts[place] = value
    return json.dumps([kind, parts]).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"no json",
        b"",
        b"null",
        b"[1,2,3]",
        b'["Case",[]]',
        b'["Result",[]]',
        b'["Result",{}]',
        b"[" * 100_000,
        pickle.dumps(Trap()),
        sent_with(0, "specs/a.yaml::another"),
        sent_with(1, "perfect"),
        sent_with(2, [["x"]]),
        sent_with(2, {}),
        sent_with(3, 7),
        sent_with(4, "1"),
        sent_with(4, True),
        sent_with(4, 10**400),
        sent_with(5, {}),
        sent_with(6, "mind"),
    ],
)
def test_what_is_no_result_is_an_error(data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    back = from_bytes(data, CASE)
    assert (back.id, back.verdict, back.case) == (CASE.id, Verdict.ERROR, CASE)
    assert "the result cannot be read: " in back.message
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "array",
    [
        ["<f8", [2], "AAAA"],
        ["<f8", [10**18], ""],
        ["<f8", [-1, -8], ""],
        ["|O", [1], "AAAAAAAAAAA="],
        ["O", [1], "AAAAAAAAAAA="],
        ["M", [1], "AAAAAAAAAAA="],
        ["d", [1], "AAAAAAAAAAA="],
        ["", [1], "AAAAAAAAAAA="],
        ["<V9999", [0], ""],
        ["<f8", 1, "AAAAAAAAAAA="],
        ["<f8", [1.0], "AAAAAAAAAAA="],
        ["<f8", [1], "AAAA…AAAAAAA="],
        ["<f8", [1]],
        [[], [], []],
    ],
)
def test_what_is_no_array_is_an_error(array: Any) -> None:
    kind, parts = json.loads(to_bytes(replace(RESULT, comparisons=(COMPARISON,))))
    place = parts[2][0].index(next(p for p in parts[2][0] if isinstance(p, list) and "<c16" in p))
    parts[2][0][place] = array
    back = from_bytes(json.dumps([kind, parts]).encode(), CASE)
    assert "the result cannot be read: " in back.message


def test_a_huge_text_is_cut() -> None:
    back = from_bytes(to_bytes(replace(RESULT, message="a" + "x" * 10**6 + "z")), CASE)
    assert len(back.message) < LONGEST_TEXT + 100
    assert back.message.startswith("ax")
    assert back.message.endswith("xz")


def test_half_a_character_does_not_spoil_a_text() -> None:
    assert from_bytes(to_bytes(replace(RESULT, message="a\ud800b")), CASE).message == "a?b"
