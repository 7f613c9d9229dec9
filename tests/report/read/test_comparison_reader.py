from __future__ import annotations

import json
from typing import Any

import pytest

from gradcheck.model import TargetKind, Verdict
from gradcheck.report.formats.json import encode_result
from gradcheck.report.read.json_reader import decode_result
from gradcheck.report.read.typed_json import DamagedError
from tests.report import examples


def document() -> Any:
    return json.loads(json.dumps(encode_result(examples.pictured())))


def test_what_pictures_need_comes_back() -> None:
    (told,) = decode_result(document()).comparisons
    (original,) = examples.pictured().comparisons
    assert told.close_up == original.close_up
    assert told.jacobian == original.jacobian
    # (Of 72 elements only how wrong each is.)
    assert told.analytic is None
    assert told.shades == "5" * 12 + "0" * 60
    assert encode_result(decode_result(document())) == document()


def test_what_passes_needs_none() -> None:
    data = encode_result(examples.pictured())
    passing = examples.passing()
    (first, _) = encode_result(passing)["comparisons"]
    assert {"close_up", "jacobian", "shades"} <= data["comparisons"][0].keys()
    assert not {"close_up", "jacobian", "shades"} & first.keys()
    assert passing.verdict is Verdict.PASS


def test_the_target_comes_back() -> None:
    case = decode_result(document()).case
    assert case is not None
    assert (case.target.kind, case.target.text) == (TargetKind.OP, "matmul")
    older = document()
    del older["target"]
    case = decode_result(older).case
    assert case is not None
    assert case.target.text == ""


@pytest.mark.parametrize(
    ("member", "wrong", "why"),
    [
        ("shades", "012", "a digit for each element"),
        ("shades", "7" * 72, "a digit for each element"),
        ("jacobian", ["+0", "+"], "rows of as many signs"),
        ("jacobian", ["+x"], "rows of as many signs"),
        ("jacobian", ["+"] * 2000, "rows of as many signs"),
        ("close_up", {}, "`steps` is missing"),
        ("close_up", [], "`steps` should be inside of an object"),
    ],
)
def test_what_is_damaged_is_told(member: str, wrong: Any, why: str) -> None:
    data = document()
    data["comparisons"][0][member] = wrong
    with pytest.raises(DamagedError, match=why):
        decode_result(data)


@pytest.mark.parametrize(
    ("series", "why"), [([1.0], "as many `errors` as `steps`"), ([1.0] * 2000, "too many")]
)
def test_series_fit_together(series: list[float], why: str) -> None:
    data = document()
    data["comparisons"][0]["close_up"]["steps"] = series
    with pytest.raises(DamagedError, match=why):
        decode_result(data)
