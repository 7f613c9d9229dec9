from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.checker.power.measure_power import measure_power
from gradcheck.model import Case, Result, Verdict
from gradcheck.model.planted import Fate, Planted, Power
from tests.cli.conftest import PROBLEM, Gradcheck, Stage

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

HIDDEN = "the upstream hides it: for a random one the gradient would differ"
SIZES = (1e-1, 1e-2, 1e-3, 1e-9)


def sized(family: str, floor: float, reason: str = "") -> list[Planted]:
    return [
        Planted(
            "x",
            f"{family} {size:.0e}".replace("e-0", "e-"),
            f"is too large by {size:g}",
            Fate.CAUGHT if size >= floor else Fate.SURVIVED,
            Verdict.MISMATCH if size >= floor else None,
            "" if size >= floor else reason,
            family,
            size,
            counted=size >= 1e-8,
        )
        for size in SIZES
    ]


def fault(name: str, fate: Fate, reason: str = "") -> Planted:
    return Planted("x", name, f"is {name}", fate, reason=reason)


PLANTED = {
    "good": [
        *sized("whole", 1e-9),
        *sized("element", 1e-3),
        fault("sign", Fate.CAUGHT),
        fault("transposed", Fate.EQUIVALENT, "at this point the gradient is the same"),
    ],
    "poor": [
        *sized("whole", 1.0, HIDDEN),
        *sized("element", 1e-2, "below the error bar"),
        fault("sign", Fate.SURVIVED, HIDDEN),
        fault("nan", Fate.CAUGHT),
    ],
    "blind": [
        fault("sign", Fate.EQUIVALENT, "at this point the gradient is zero throughout"),
        fault("none", Fate.CAUGHT),
    ],
}
"""By how the name of a case begins: the faults that were planted in it."""


@pytest.fixture
def power(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Workers that find what the names of the cases say, in the reverse order."""

    def run(cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
        stage.ran = {**options, "timeouts": [case.timeout for case in cases]}
        for case in reversed(cases):
            kind = case.name.partition("-")[0]
            if kind in PLANTED:
                planted = tuple(PLANTED[kind])
                yield Power(case.id, Verdict.PASS, seconds=0.25, case=case, planted=planted)
            else:
                yield Result(case.id, Verdict(kind), message="as planted", case=case)
        if stage.interrupt:
            raise KeyboardInterrupt

    monkeypatch.setattr("gradcheck.run.run", run)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    return stage


@pytest.mark.parametrize("format_", ["plain", "table"])
def test_the_report(
    power: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion, format_: str
) -> None:
    power.add("good-1", "poor-1", "blind-1", "crashed-1")
    power.cases.append(
        replace(power.cases[0], id="specs/b.yaml::good-2", path="specs/b.yaml", name="good-2")
    )
    said = gradcheck("power", "--format", format_)
    assert said.code == 0
    assert said.err == ""
    assert said.out == snapshot
    assert "\x1b" not in said.out


def test_plain_lines_where_nobody_looks(power: Stage, gradcheck: Gradcheck) -> None:
    power.add("good-1")
    assert gradcheck("power").out == gradcheck("power", "--format", "plain").out


def test_beyond_fifty_cases_a_spec_has_one_row(
    power: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion
) -> None:
    power.add(*(f"good-{n}" for n in range(51)))
    assert gradcheck("power", "--format", "table").out == snapshot


def test_the_json_report_has_every_fault(power: Stage, gradcheck: Gradcheck) -> None:
    power.add("poor-1", "crashed-1")
    report = json.loads(gradcheck("power", "--format", "json").out)
    result, crashed = report["results"]
    assert (crashed["verdict"], crashed["score"], crashed["planted"]) == ("crashed", None, [])
    assert result["planted"][0] == {
        "input": "x",
        "name": "whole 1e-1",
        "text": "is too large by 0.1",
        "size": 0.1,
        "counted": True,
        "fate": "survived",
        "verdict": None,
        "reason": HIDDEN,
    }
    assert len(result["planted"]) == len(PLANTED["poor"])
    assert result["floor"] == {"whole": "inf", "element": 0.01}
    assert (result["caught"], result["survived"]) == (3, 5)
    assert report["summary"]["score"] == 100 * 3 / 8


def test_a_score_of_100_means_that_nothing_survived(
    power: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearly = [fault(f"a{n}", Fate.CAUGHT) for n in range(9999)]
    nearly.append(fault("sign", Fate.SURVIVED, HIDDEN))
    monkeypatch.setitem(PLANTED, "good", nearly)
    power.add("good-1")
    assert "score 99.9 %" in gradcheck("power").out


@pytest.mark.parametrize(("least", "code"), [("37.5", 0), ("37.6", 1), ("0", 0), ("100", 1)])
def test_min_score(power: Stage, gradcheck: Gradcheck, least: str, code: int) -> None:
    power.add("poor-1")
    said = gradcheck("power", "--min-score", least)
    assert said.code == code
    assert said.err == (f"the score is 37.5 %, below {least} %\n" if code else "")


def test_min_score_is_not_reached_by_measuring_nothing(power: Stage, gradcheck: Gradcheck) -> None:
    power.add("mismatch-1")
    assert gradcheck("power").code == 0
    assert gradcheck("power", "--min-score", "0").code == 1


@pytest.mark.parametrize("value", ["-1", "101", "nan", "all"])
def test_a_score_is_a_percentage(power: Stage, gradcheck: Gradcheck, value: str) -> None:
    power.add("good-1")
    said = gradcheck("power", "--min-score", value)
    assert said.code == 2
    assert value in said.err
    assert not power.ran


def test_a_bad_spec_is_2_and_the_good_cases_are_measured(
    power: Stage, gradcheck: Gradcheck
) -> None:
    power.add("good-1")
    power.problems.append(PROBLEM)
    said = gradcheck("power", "--min-score", "100")
    assert said.code == 2
    assert "specs/a.yaml::good-1" in said.out
    assert "specs/bad.yaml:3:12" in said.out


def test_nothing_selected_is_5(power: Stage, gradcheck: Gradcheck) -> None:
    assert gradcheck("power").code == 5
    power.add("good-1", "good-2")
    said = gradcheck("power", "-k", "absent")
    assert (said.code, said.out) == (5, "")
    assert "'absent' matches none of the 2 cases" in said.err


def test_ctrl_c_is_130_and_what_there_is_is_reported(power: Stage, gradcheck: Gradcheck) -> None:
    power.add("good-1")
    power.interrupt = True
    said = gradcheck("power")
    assert said.code == 130
    assert "specs/a.yaml::good-1" in said.out
    assert "interrupted" in said.out


def test_options_reach_the_specs_and_the_workers(
    power: Stage, gradcheck: Gradcheck, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["ours"]\n')
    power.add("good-1", "poor-1", timeout=0.5)
    gradcheck("power", "a.yaml", "-k", "good", "--allow", "theirs", "-j3")
    assert power.loaded == {
        "paths": ("a.yaml",),
        "allow": ("ours", "theirs"),
        "seed": None,
        "budget": None,
        "max_cases": 200_000,
    }
    assert power.ran == {
        "allow": ("ours", "theirs"),
        "root": str(tmp_path),
        "jobs": 3,
        "timeout": 900.0,
        "check": measure_power,
        "timeouts": [None],
    }
    assert power.warmed_up


def test_upstream_of_ones_on_a_softmax_in_real_workers(tmp_path: Path) -> None:
    spec = tmp_path / "softmax.yaml"
    spec.write_text(
        "op: softmax\ninputs: {logits: [2, 3]}\n"
        "cases:\n  - {name: ones, upstream: ones}\n  - {name: random}\n"
    )
    command = [sys.executable, "-m", "gradcheck", "power", "softmax.yaml", "--format", "json"]
    done = subprocess.run(
        [*command, "--min-score", "99"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr
    ones, random = json.loads(done.stdout)["results"]
    assert ones["score"] < 10
    assert ones["floor"]["whole"] == "inf"
    assert (random["score"], random["survived"]) == (100, 0)
