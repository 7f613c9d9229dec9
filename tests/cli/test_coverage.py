from __future__ import annotations

import io
import json
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.checker.coverage.inventory import take_inventory
from gradcheck.model import Case, GradientCall, Plan, Result, Verdict
from gradcheck.model.inventories import Inventory, RegisteredGradient
from gradcheck.report import make_reporter
from gradcheck.run import check_with_tensorflow, summarise
from tests.cli.conftest import PROBLEM, Gradcheck, Stage
from tests.report import examples
from tests.report.schema_checks import valid

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

GRADIENTS = (
    RegisteredGradient("Exp", "math", is_float=True),
    RegisteredGradient("Sin", "math", is_float=True),
    RegisteredGradient("NcclReduce", "distribution", False, "no kernel for the CPU"),
)


@pytest.fixture
def coverage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Workers in which every case goes through the gradient of `Exp`."""

    def run(cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
        if options["check"] is take_inventory:
            (case,) = cases
            yield Inventory(case.id, Verdict.PASS, case=case, gradients=GRADIENTS)
            return
        stage.ran = options
        for case in reversed(cases):
            verdict = Verdict(case.name.partition("-")[0])
            compared = () if verdict is Verdict.ERROR else (examples.compared("x", verdict),)
            called = (GradientCall("Exp", dtypes=("float64",)),)
            yield Result(case.id, verdict, compared, case=case, called=called)
        if stage.interrupt:
            raise KeyboardInterrupt

    monkeypatch.setattr("gradcheck.run.run", run)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    return stage


def test_what_is_asked_of_the_workers(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("pass-1")
    said = gradcheck("coverage", "-j", "3", "--seed", "7")
    assert (said.code, said.err) == (0, "")
    check = coverage.ran["check"]
    assert isinstance(check, partial)
    assert (check.func, check.keywords) == (check_with_tensorflow, {"called": True})
    assert coverage.ran["jobs"] == 3
    assert coverage.loaded["seed"] == 7
    assert " 50.0 % of gradient functions: 1 of 2 in reach" in said.out
    assert "1 case, 1 with a verdict" in said.out


def test_a_case_that_raises_covers_nothing(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("error-1")
    assert "  0.0 % of gradient functions: 0 of 2 in reach" in gradcheck("coverage").out


def test_what_is_missing_is_listed(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("pass-1")
    said = gradcheck("coverage", "--missing").out
    assert "math                 Sin\n" in said
    assert "no kernel for the CPU\n  NcclReduce\n" in said
    assert "Sin" not in gradcheck("coverage").out


@pytest.mark.parametrize(("least", "code"), [("50", 0), ("50.1", 1), ("0", 0)])
def test_too_little_fails(coverage: Stage, gradcheck: Gradcheck, least: str, code: int) -> None:
    coverage.add("pass-1")
    said = gradcheck("coverage", "--fail-under", least)
    assert said.code == code
    assert said.err == ("" if code == 0 else "50.0 % are covered, below 50.1 %\n")


@pytest.mark.parametrize("least", ["nan", "101", "-1"])
def test_what_is_no_percentage(coverage: Stage, gradcheck: Gradcheck, least: str) -> None:
    assert gradcheck("coverage", "--fail-under", least).code == 2


def test_one_json_object(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("pass-1", "mismatch-2")
    coverage.problems.append(PROBLEM)
    said = gradcheck("coverage", "--format", "json")
    data = valid("coverage", said.out)
    assert said.code == 2
    assert data["gradients"][0]["first_cases"] == [
        "specs/a.yaml::pass-1",
        "specs/a.yaml::mismatch-2",
    ]
    assert data["environment"] == {"tensorflow": "2.0"}
    assert len(data["problems"]) == 1


def test_a_badge_is_written(coverage: Stage, gradcheck: Gradcheck, tmp_path: Path) -> None:
    coverage.add("pass-1")
    assert gradcheck("coverage", "--badge", "badge.json").code == 0
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "50.0 %"


def test_ctrl_c_tells_what_there_is(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("pass-1")
    coverage.interrupt = True
    said = gradcheck("coverage")
    assert said.code == 130
    assert "interrupted: 1 case" in said.out


def test_nothing_selected(coverage: Stage, gradcheck: Gradcheck) -> None:
    coverage.add("pass-1")
    said = gradcheck("coverage", "-k", "nonsense")
    assert (said.code, said.out) == (5, "")
    assert "matches none of the 1 cases" in said.err


def report_of(result: Result) -> str:
    assert result.case is not None
    stream = io.StringIO()
    reporter = make_reporter("json", stream)
    reporter.start(Plan((result.case,), (), {}))
    reporter.result(result)
    reporter.finish(summarise([result], problems=0, seconds=0.0, interrupted=False))
    return stream.getvalue()


def test_a_report_tells_the_same(coverage: Stage, gradcheck: Gradcheck, tmp_path: Path) -> None:
    coverage.add("pass-1")
    said = gradcheck("coverage")
    result = Result(
        "specs/a.yaml::pass-1",
        Verdict.PASS,
        (examples.compared("x"),),
        case=coverage.cases[0],
        called=(GradientCall("Exp", dtypes=("float64",)),),
    )
    (tmp_path / "report.json").write_text(report_of(result))
    assert gradcheck("coverage", "--from", "report.json").out == said.out


def test_a_report_that_does_not_tell(coverage: Stage, gradcheck: Gradcheck, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(report_of(examples.passing()))
    said = gradcheck("coverage", "--from", "report.json")
    assert said.code == 2
    assert "does not say which gradient functions its cases called" in said.err


def test_a_report_runs_nothing(coverage: Stage, gradcheck: Gradcheck) -> None:
    said = gradcheck("coverage", "specs", "--from", "report.json")
    assert said.code == 2
    assert "--from reads a report and runs nothing: PATH has no use there" in said.err


SPEC = """
cases:
  - {name: sine, op: tf.sin, inputs: {x: [3]}, mode: [eager, graph]}
  - {name: cut, expr: "tf.cosh(tf.stop_gradient(x))", inputs: {x: [3]}, expect: disconnected}
  - {name: own, function: "own:tangent", inputs: {x: [3]}}
  - {name: raises, expr: "tf.reshape(tf.exp(x), [7])", inputs: {x: [3]}}
  - name: theirs
    op: xdivy
    inputs: {x: [3], y: [3]}
    dtype: complex128
    expect: mismatch
    reason: not conjugated
  - {name: mine, function: "own:wrong", inputs: {x: [3]}, expect: mismatch, reason: planted}
"""

OWN = """
import tensorflow as tf

@tf.custom_gradient
def tangent(x):
    return tf.tan(x), lambda g: g / tf.cos(x) ** 2

@tf.custom_gradient
def _twice(x):
    return 2.0 * x, lambda g: 3.0 * g

def wrong(x):
    return tf.sinh(_twice(x))
"""


def test_what_cases_really_call(tmp_path: Path) -> None:
    """With real workers: an op, one that is cut off, a gradient of one's own, an error, a bug."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["own"]\n')
    command = [sys.executable, "-m", "gradcheck", "coverage", "spec.yaml", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    data = valid("coverage", done.stdout.decode())
    by_op = {one["name"]: one for one in data["gradients"] if one["exercised"]}
    assert {name: one["verified"] for name, one in by_op.items()} == {
        "Sin": True,
        "Sinh": False,
        "Xdivy": False,
    }
    assert by_op["Sin"]["first_cases"] == ["spec.yaml::sine[eager]", "spec.yaml::sine[graph]"]
    assert by_op["Xdivy"]["wrong_in"][0].startswith("spec.yaml::theirs")
    assert by_op["Sinh"]["wrong_in"] == []
    assert (data["summary"]["cases"], data["summary"]["judged"]) == (7, 6)
    exercised = [one["name"] for one in data["functions"] if one["exercised"]]
    assert "tf.math.sin" in exercised
    assert data["summary"]["gradients"]["registered"] > 350
