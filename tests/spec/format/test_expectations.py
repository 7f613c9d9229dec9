"""Expectations under conditions: versions, mode and dtype."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from gradcheck.model import Verdict
from gradcheck.model.versions import compares, installed_version, release
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
    path.write_text(SQUARE + text)
    loaded = load([str(path)])
    assert [str(problem) for problem in loaded.problems] == []
    jsonschema.validate(yaml.safe_load(SQUARE + text), schema())
    return list(loaded.cases)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("tensorflow<2.22", False),
        ("tensorflow>=2.22", True),
        ("tensorflow==2.22", True),
        ("tensorflow!=2.22", False),
        ("tensorflow > 2.21", True),
        ("tensorflow<=2.21", False),
        ("keras<3.10", True),
        ("keras==3.5", True),
        ("keras>3.5", False),
        ("tensorflow>=2.20 and keras<3", False),
        ("tensorflow>=2.20 and keras>=3", True),
        ("[tensorflow>=2.20, mode==eager]", True),
        ("mode==xla", False),
        ("mode!=xla", True),
        ("dtype==float64", True),
        ("numpy>=0", False),  # (what is not installed fulfils no condition)
    ],
)
def test_a_condition(tmp_path: Path, when: str, holds: bool) -> None:
    (case,) = cases(tmp_path, f"expect: {{verdict: mismatch, when: {when}}}\n")
    assert case.expect is (Verdict.MISMATCH if holds else None)
    assert case.reason == ("why" if holds else "")


def test_the_first_that_holds_counts(tmp_path: Path) -> None:
    (case,) = cases(
        tmp_path,
        "expect:\n  - {verdict: {x: mismatch}, when: tensorflow<2.22}\n"
        "  - {verdict: error, when: keras>=3, reason: another}\n  - {verdict: kink}\n",
    )
    assert (case.expect, case.reason) == (Verdict.ERROR, "another")


def test_each_variant_has_its_own(tmp_path: Path) -> None:
    text = "mode: [eager, xla]\nexpect: {verdict: {x: mismatch}, when: mode==xla}\n"
    assert [c.expect for c in cases(tmp_path, text)] == [None, {"x": Verdict.MISMATCH}]


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("{verdict: mismatch, when: tensorflo<2}", "did you mean `tensorflow`?"),
        ("{verdict: mismatch, when: tensorflow<2.22rc0}", "is no version"),
        ("{verdict: mismatch, when: tensorflow~=2.22}", "is no condition"),
        ("{verdict: mismatch, when: tensorflow}", "is no condition"),
        ("{verdict: mismatch, when: mode<xla}", "has no order"),
        ("{verdict: mismatch, when: mode==fast}", "there is no mode"),
        ("{verdict: mismatch, when: []}", "empty list"),
        ("{verdict: mismatch, when: 3}", "must be a condition"),
        ("{verdict: wrong, when: keras<3}", "must be one of"),
        ("{verdict: mismatch, wen: keras<3}", "did you mean `when`?"),
        ("{when: keras<3}", "no `verdict`"),
        ("[{verdict: kink}, {verdict: error, when: keras<3}]", "never counts"),
        ("[{verdict: kink, when: keras<3}, kink]", "holds mappings with `verdict`"),
        ("[]", "not a list"),
    ],
)
def test_what_is_no_condition_has_its_place(tmp_path: Path, expect: str, words: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SQUARE + f"expect: {expect}\n")
    (problem,) = load([str(path)]).problems
    assert words in f"{problem.message} {problem.hint}"
    assert problem.location.line == 4


def test_a_known_bug_needs_a_reason_there_too(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    text = "op: square\ninputs: {x: [2]}\nexpect: {verdict: mismatch, when: keras<3}\n"
    path.write_text(text)
    (problem,) = load([str(path)]).problems
    assert "needs a `reason`" in problem.message


def test_inputs_may_be_called_so(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "expr: verdict * when\ninputs: {verdict: [2], when: [2]}\nexpect: {when: kink}\n"
    )
    (case,) = load([str(path)]).cases
    assert case.expect == {"when": Verdict.KINK}


@pytest.mark.parametrize(
    ("version", "comparison", "wanted", "holds"),
    [
        ("2.21.3", "==", "2.21", True),
        ("2.21.3", "<=", "2.21", True),
        ("2.21.3", ">", "2.21", False),
        ("2.22.0.dev20260101", ">=", "2.22", True),
        ("2.9", "<", "2.10", True),
        ("3", ">=", "3.0.0", True),
    ],
)
def test_versions_compare_by_the_numbers_given(
    version: str, comparison: str, wanted: str, holds: bool
) -> None:
    assert compares(version, comparison, wanted) is holds


def test_a_nightly_build_is_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> str:
        if name != "tf-nightly":
            raise metadata.PackageNotFoundError(name)
        return "2.23.0.dev1"

    installed: Any = installed_version
    installed.cache_clear()
    monkeypatch.setattr(metadata, "version", found)
    assert installed_version("tensorflow") == "2.23.0.dev1"
    assert installed_version("keras") is None
    installed.cache_clear()
    assert release("nothing") == ()
