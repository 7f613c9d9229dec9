"""What a spec says of a known bug: the versions that have it, what is right, where it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from gradcheck.model import KnownBug, Verdict
from gradcheck.spec import load, schema

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.model import Case

SQUARE = "op: square\ninputs: {x: [2, 2]}\nreason: why\n"


@pytest.fixture(autouse=True)
def _versions(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"tensorflow": "2.22.0rc0", "keras": "3.5.1"}
    monkeypatch.setattr("gradcheck.spec.format.conditions.installed_version", known.get)


def cases(folder: Path, text: str) -> list[Case]:
    path = folder / "s.yaml"
    path.write_text(text)
    loaded = load([str(path)])
    assert [str(problem) for problem in loaded.problems] == []
    jsonschema.validate(yaml.safe_load(text), schema())
    return list(loaded.cases)


def only(folder: Path, text: str) -> Case:
    (case,) = cases(folder, SQUARE + text)
    return case


def problem(folder: Path, text: str) -> str:
    path = folder / "s.yaml"
    path.write_text(SQUARE + text)
    (found,) = load([str(path)]).problems
    return str(found)


def test_what_is_right_and_where_it_is_reported(tmp_path: Path) -> None:
    text = "expect: mismatch\ninstead: x * x\nissue: https://example.org/1\n"
    bug = only(tmp_path, text).bug
    assert bug == KnownBug(instead="x * x", issue="https://example.org/1")


def test_a_case_without_more_to_say_has_none(tmp_path: Path) -> None:
    assert only(tmp_path, "expect: mismatch\n").bug is None
    assert only(tmp_path, "").bug is None
    assert only(tmp_path, "expect: {verdict: mismatch, when: mode==xla}\n").bug is None


def test_a_bug_that_this_version_has_mended(tmp_path: Path) -> None:
    case = only(tmp_path, "expect: {verdict: mismatch, when: tensorflow<2.22}\ninstead: x * x\n")
    assert case.expect is None
    assert case.bug == KnownBug("tensorflow<2.22", mended="why", instead="x * x")


@pytest.mark.parametrize(
    ("when", "mended"),
    [
        ("tensorflow<2.22", True),
        ("tensorflow<=2.21", True),
        ("tensorflow>=2.18 and tensorflow<2.20", True),
        ("tensorflow<2.22 and keras<3", True),
        ("tensorflow<2.22 and mode==eager", True),
        ("tensorflow<2.22 and mode==xla", False),  # (it was never here)
        ("tensorflow>=2.23", False),  # (not yet)
        ("tensorflow==2.21", False),  # (nobody says that it was mended)
        ("tensorflow<2.22 and keras>=4", False),
        ("numpy<3", False),  # (what is not installed mends nothing)
    ],
)
def test_not_here_is_not_mended(tmp_path: Path, when: str, mended: bool) -> None:
    case = only(tmp_path, f"expect: {{verdict: mismatch, when: {when}}}\n")
    assert case.expect is None
    assert bool(case.bug and case.bug.mended) == mended


def test_the_versions_that_have_it_and_what_others_have(tmp_path: Path) -> None:
    text = (
        "expect:\n  - {verdict: {x: disconnected}, when: tensorflow>=2.17}\n"
        "  - {verdict: error, when: tensorflow<2.17}\n"
        "  - {verdict: nonfinite, when: mode==xla and tensorflow<2.17}\n"
    )
    case = only(tmp_path, text)
    assert case.expect == {"x": Verdict.DISCONNECTED}
    assert case.bug == KnownBug("tensorflow>=2.17", "error when tensorflow<2.17")


def test_what_is_said_instead_is_an_expression_over_the_inputs(tmp_path: Path) -> None:
    said = problem(tmp_path, "expect: mismatch\ninstead: x * y\n")
    assert "s.yaml:5:14" in said
    assert "`y` is not an input of this case" in said
    assert "open" in problem(tmp_path, "expect: mismatch\ninstead: open('/etc/passwd')\n")


def test_it_belongs_to_a_known_bug(tmp_path: Path) -> None:
    said = problem(tmp_path, "instead: x * x\n")
    assert "`instead` belongs to a known bug, and the case expects none" in said
    assert "expect: mismatch" in said


@pytest.mark.parametrize("address", ["bug 123", "javascript:alert(1)", "'https://a b'"])
def test_where_it_is_reported_is_an_address(tmp_path: Path, address: str) -> None:
    assert "`issue` cannot be" in problem(tmp_path, f"expect: mismatch\nissue: {address}\n")
    text = f"{SQUARE}expect: mismatch\nissue: {address}\n"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), schema())


def test_another_function_is_another_bug(tmp_path: Path) -> None:
    text = (
        f"{SQUARE}expect: mismatch\ninstead: x * x\ncases:\n  - {{}}\n"
        "  - {op: exp}\n  - {op: tan, instead: tf.sin(x) / tf.cos(x)}\n"
    )
    square, exp, tan = cases(tmp_path, text)
    assert square.bug == KnownBug(instead="x * x")
    assert exp.bug is None
    assert tan.bug == KnownBug(instead="tf.sin(x) / tf.cos(x)")
