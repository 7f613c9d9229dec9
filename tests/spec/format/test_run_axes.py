from __future__ import annotations

from pathlib import Path

import pytest

from gradcheck.model import CheckKind, Comparison, Mode, Result, Verdict
from gradcheck.spec.format.run_axes import RunAxes, shorter_ids
from gradcheck.spec.load_specs import load

SPEC = """
op: sin
inputs: {x: [3]}
cases:
  - {name: one}
  - {name: both, mode: [eager, xla], dtype: [float64, float32]}
  - {name: bug, expect: mismatch, reason: known}
  - {name: of, op: tf.multiply, inputs: {x: [3], y: [3]}, expect: {x: mismatch}, reason: known}
  - {name: there, expect: {verdict: mismatch, when: mode==xla and check==second}, reason: known}
"""
ALL = RunAxes(tuple(Mode), tuple(CheckKind))


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)
    return "a.yaml"


def ids(spec: str, axes: RunAxes, *names: str) -> list[str]:
    loaded = load([f"{spec}::{name}" for name in names], axes=axes)
    assert not loaded.problems
    return [case.id.partition("::")[2] for case in loaded.cases]


def test_what_the_spec_names_keeps_its_id(spec: str) -> None:
    axes = RunAxes((Mode.EAGER, Mode.XLA), (CheckKind.REVERSE, CheckKind.SECOND))
    assert ids(spec, axes, "one") == ["one", "one[second]", "one[xla]", "one[xla,second]"]
    assert ids(spec, RunAxes(), "one") == ["one"]


def test_a_case_is_found_by_its_id_in_the_spec(spec: str) -> None:
    axes = RunAxes(checks=(CheckKind.SECOND,))
    assert ids(spec, axes, "both[float32,xla]") == ["both[float32,xla,second]"]
    assert len(ids(spec, ALL, "both[float32]")) == 12
    assert shorter_ids("a[float32,xla]") == {"a[float32]", "a[float32,xla]"}


def test_every_mode_and_check_is_counted(spec: str) -> None:
    assert len(load([spec], axes=ALL).cases) == 12 * 6
    assert load([spec], axes=ALL, max_cases=20).problems


def test_a_known_bug_may_be_absent_where_the_run_has_added_a_mode(spec: str) -> None:
    cases = {c.id.partition("::")[2]: c for c in load([spec], axes=ALL).cases}

    def expected(name: str, verdict: Verdict) -> bool:
        return Result(name, verdict, case=cases[name]).expected

    assert expected("bug", Verdict.MISMATCH)
    assert not expected("bug", Verdict.PASS)
    assert expected("bug[xla]", Verdict.MISMATCH)
    assert expected("bug[xla]", Verdict.PASS)
    assert not expected("bug[xla]", Verdict.ERROR)
    # What a condition names was said of that very mode.
    assert expected("there[xla,second]", Verdict.MISMATCH)
    assert not expected("there[xla,second]", Verdict.PASS)
    assert not expected("there[xla]", Verdict.MISMATCH)


def test_a_gradient_wrong_by_one_input_has_derivatives_wrong_by_others(spec: str) -> None:
    cases = {c.id.partition("::")[2]: c for c in load([spec], axes=ALL).cases}

    def expected(name: str, x: Verdict, y: Verdict) -> bool:
        told = (Comparison("x", x, (3,), "float64"), Comparison("y", y, (3,), "float64"))
        return Result(name, x, told, case=cases[name]).expected

    wrong, right = Verdict.MISMATCH, Verdict.PASS
    assert expected("of[second]", wrong, wrong)
    assert expected("of[second]", right, wrong)
    assert not expected("of[second]", wrong, Verdict.NONFINITE)
    assert expected("of", wrong, right)
    assert not expected("of", wrong, wrong)
    assert not expected("of[xla]", wrong, wrong)


def test_what_is_none_on_the_tape_and_zero_in_forward_mode(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    path.write_text(
        "inputs: {x: [3], y: [3]}\nexpr: x * y\nexpect: {y: disconnected}\n"
        "cases:\n  - name: some\n  - {name: whole, expect: disconnected}\n"
        "  - {name: own, check: forward}\n"
    )
    cases = {c.id.partition("::")[2]: c for c in load([str(path)], axes=ALL).cases}

    def expected(name: str, y: Verdict) -> bool:
        told = tuple(Comparison(n, v, (3,), "float64") for n, v in (("x", Verdict.PASS), ("y", y)))
        return Result(name, y, told, case=cases[name]).expected

    for name in ("some", "whole"):
        assert expected(f"{name}[forward]", Verdict.MISMATCH)
        assert expected(f"{name}[forward]", Verdict.DISCONNECTED)
        assert not expected(f"{name}[forward]", Verdict.NONFINITE)
        assert not expected(f"{name}[xla]", Verdict.MISMATCH)
        assert not expected(f"{name}[jacobian]", Verdict.MISMATCH)
        assert not expected(name, Verdict.MISMATCH)
    # What the spec itself checks is said of that.
    assert not expected("own", Verdict.MISMATCH)
