from __future__ import annotations

import json
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion  # noqa: TC002  (pytest reads the type)

from gradcheck.model import GradientCall
from gradcheck.report.coverage_totals import Covered
from gradcheck.report.formats.coverage_report import CoverageOutcome, badge, document, plain
from tests.report import examples
from tests.report.schema_checks import valid


def covered(name: str, family: str = "math", **more: object) -> Covered:
    one = Covered(name, family, is_float=True, **more)  # type: ignore[arg-type]  # by name
    if one.cases:
        one.calls.add(GradientCall(name, dtypes=("float64",), attributes="transpose_a=True"))
    return one


def outcome() -> CoverageOutcome:
    case, wrong = "specs/a.yaml::right", "specs/a.yaml::wrong"
    return CoverageOutcome(
        gradients=(
            covered("Sin", cases=[case], verified=True),
            covered("Cos"),
            covered("Pow", cases=[case, wrong], verified=True, known_wrong=[wrong]),
            covered("Abs", cases=["specs/a.yaml::failing"]),
            covered("CudnnRNN", "rnn", out_of_reach="no kernel for the CPU, but for GPU"),
            *(covered(f"QuiteALongNameOfAnOp{n}", "quantization") for n in range(5)),
        ),
        functions=(
            covered("tf.math.sin", "tf.math", cases=[case], verified=True),
            covered("tf.experimental.numpy.cos", "tf.experimental.numpy"),
        ),
        unknown=3,
        no_gradient=195,
        foreign=("MyOp",),
        cases=4,
        judged=3,
        seconds=2.5,
    )


def test_lines(snapshot: SnapshotAssertion) -> None:
    assert plain(outcome()) == snapshot


def test_lines_with_what_is_missing(snapshot: SnapshotAssertion) -> None:
    assert plain(outcome(), missing=True) == snapshot


def test_no_line_is_wider_than_60_characters() -> None:
    assert max(map(len, plain(outcome(), missing=True).splitlines())) <= 60


def test_problems_and_an_interruption_are_told() -> None:
    text = plain(replace(outcome(), problems=(examples.PROBLEM,), interrupted=True, unrecorded=1))
    assert text.startswith("1 spec problem:")
    assert "interrupted: 4 cases, 3 with a verdict, 1 of them without a record" in text


def test_names_from_elsewhere_are_harmless() -> None:
    text = plain(replace(outcome(), foreign=("\x1b[31mred\n::error::",)))
    assert "\x1b" not in text
    assert "\n::error" not in text


def test_the_document_has_its_schema() -> None:
    data = valid("coverage", document(outcome(), {"gradcheck": "1"}))
    assert data["summary"]["gradients"] == {
        "registered": 10,
        "out_of_reach": 1,
        "exercised": 3,
        "verified": 2,
        "known_wrong": 1,
        "covered": 2,
        "missing": 6,
        "percent": 22.22,
    }
    first = data["gradients"][0]
    assert (first["name"], first["dtypes"], first["verified"]) == ("Sin", ["float64"], True)
    assert first["attributes"] == ["transpose_a=True"]
    assert data["gradients"][4]["out_of_reach"] == "no kernel for the CPU, but for GPU"
    assert data["families"]["rnn"]["percent"] == 100.0
    with_problem = replace(outcome(), problems=(examples.PROBLEM,))
    assert valid("coverage", document(with_problem, {}))["problems"]


@pytest.mark.parametrize(
    ("right", "colour", "message"),
    [(10, "brightgreen", "100.0 %"), (6, "yellow", "60.0 %"), (0, "red", "0.0 %")],
)
def test_a_badge(right: int, colour: str, message: str) -> None:
    things = tuple(
        covered(f"Op{n}", cases=["a"] if n < right else [], verified=n < right) for n in range(10)
    )
    told = json.loads(badge(replace(outcome(), gradients=things)))
    assert told == {
        "schemaVersion": 1,
        "label": "gradients",
        "message": message,
        "color": colour,
    }
