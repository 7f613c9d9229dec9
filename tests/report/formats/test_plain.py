from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gradcheck.model import Result, Verdict
from gradcheck.report import make_reporter
from gradcheck.report.formats.plain import result_line
from tests.report import examples

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def test_the_whole_report(snapshot: SnapshotAssertion) -> None:
    stream = io.StringIO()
    reporter = make_reporter("plain", stream, durations=3)
    examples.tell(reporter, examples.all_results(), (examples.PROBLEM,))
    assert stream.getvalue() == snapshot


def test_a_line_comes_at_once() -> None:
    arrived = io.BytesIO()
    reporter = make_reporter("plain", io.TextIOWrapper(arrived, encoding="utf-8"))
    reporter.start(examples.plan_of([examples.passing()]))
    reporter.result(examples.passing())
    assert arrived.getvalue().splitlines()[-1].startswith(b"PASS         specs/linalg/matmul.yaml")


def test_a_line_has_everything() -> None:
    result = Result(
        "specs/a.yaml::name",
        Verdict.PASS,
        (examples.compared("x"),),
        seconds=0.02,
        case=examples.case("specs/a.yaml::name"),
    )
    numbers = "x[3,4] abs 1.2e-14 rel 3.0e-13 ± 4.0e-13"
    assert result_line(result, 0) == f"PASS         specs/a.yaml::name  {numbers}  0.02s"


def test_a_line_tells_which_stage_decided_if_asked() -> None:
    line = result_line(examples.mismatch(), 0, stages=True)
    assert "± 3.1e-13 by confirmation" in line
    assert line.count("by first look") == 1
    assert "by confirmation" not in result_line(examples.mismatch(), 0)


def test_a_line_stays_one_line() -> None:
    line = result_line(examples.error(), 0)
    assert "\n" not in line
    assert "Incompatible shapes: [2,3]" in line
    long = Result("a.yaml::x", Verdict.ERROR, (), "much " * 1000)
    assert len(result_line(long, 0)) < 140
