from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.model import Element, Result, Verdict
from gradcheck.report import make_reporter
from tests.report import examples

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def text_of(results: list[Result]) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("json", stream), results, (examples.PROBLEM,))
    return stream.getvalue()


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def document(results: list[Result]) -> Any:
    return json.loads(text_of(results), parse_constant=refuse)


def test_the_whole_document(snapshot: SnapshotAssertion) -> None:
    assert text_of(examples.all_results()) == snapshot


def test_it_is_strict_and_complete() -> None:
    told = document(examples.all_results())
    assert list(told) == ["version", "environment", "results", "summary", "problems"]
    assert told["version"] == 1
    assert {result["verdict"] for result in told["results"]} == {str(v) for v in Verdict}
    assert told["summary"]["failed"] == 11
    assert told["problems"][0]["location"] == {"path": "specs/broken.yaml", "line": 4, "column": 7}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_results_are_written_one_by_one_and_the_text_is_that_of_the_whole(count: int) -> None:
    class Pieces(io.StringIO):
        longest = 0

        def write(self, text: str) -> int:
            self.longest = max(self.longest, text.count('"verdict"'))
            return super().write(text)

    stream = Pieces()
    results = [replace(examples.nonfinite(), id=f"specs/a.yaml::{n}") for n in range(count)]
    examples.tell(make_reporter("json", stream), results)
    assert stream.longest == (2 if count else 0)  # of the result and of its input
    text = stream.getvalue()
    assert text == json.dumps(json.loads(text), indent=2) + "\n"
    assert len(json.loads(text)["results"]) == count


def test_numbers_that_json_has_not() -> None:
    (result,) = document([examples.nonfinite()])["results"]
    (comparison,) = result["comparisons"]
    assert comparison["analytic"] == ["nan", 1.0, "inf", "-inf", 2.0]
    assert comparison["max_abs_error"] == "nan"
    (result,) = document([examples.complex_mismatch()])["results"]
    assert result["comparisons"][0]["worst"][0]["analytic"] == {"re": 0.25, "im": 1.0}
    assert result["comparisons"][0]["analytic"] == {"re": 0.25, "im": 1.0}


def test_numbers_of_numpy() -> None:
    fields: Any = ((np.int64(1),), np.float32(0.5), np.complex64(1j), 0.0, 0.0)
    element = Element(*fields)
    wrong = examples.compared("x", Verdict.MISMATCH, worst=(element,))
    (result,) = document([Result("a.yaml::x", Verdict.MISMATCH, (wrong,))])["results"]
    told = result["comparisons"][0]
    assert told["worst_index"] == [1]
    assert told["worst"][0]["value"] == 0.5
    assert told["worst"][0]["analytic"] == {"re": 0.0, "im": 1.0}


def test_large_arrays_are_left_out() -> None:
    def analytic(size: int) -> Any:
        told = examples.compared("x", analytic=np.zeros(size, np.float16))
        (result,) = document([Result("a.yaml::x", Verdict.PASS, (told,))])["results"]
        return result["comparisons"][0]["analytic"]

    assert analytic(64) == [0.0] * 64
    assert analytic(65) is None


def test_expectations() -> None:
    known, by_input, free = document(
        [examples.known_bug(), examples.one_input_as_expected(), examples.passing()]
    )["results"]
    assert (known["expect"], known["expected"], known["verdict"]) == ("mismatch", True, "mismatch")
    assert known["reason"] == "wrong for | negative shifts"
    assert by_input["expect"] == {"b": "disconnected"}
    assert (free["expect"], free["expected"]) == (None, True)


def test_the_same_results_give_the_same_bytes_but_for_the_time() -> None:
    slower = [replace(result, seconds=result.seconds + 1) for result in examples.all_results()]
    first, second = text_of(examples.all_results()), text_of(slower)
    assert first == text_of(examples.all_results())
    different = zip(first.splitlines(), second.splitlines(), strict=True)
    assert all(a == b or '"seconds":' in a for a, b in different)
