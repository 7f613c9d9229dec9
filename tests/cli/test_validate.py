from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import PROBLEM, Gradcheck, Stage


def test_right_specs_are_counted(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    said = gradcheck("validate", "specs")
    assert (said.code, said.out, said.err) == (0, "1 file, 2 cases, 0 problems\n", "")
    assert not stage.warmed_up


def test_problems_are_shown_and_are_2(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    stage.problems.append(PROBLEM)
    said = gradcheck("validate")
    assert said.code == 2
    assert said.out == f"{PROBLEM}\n\n2 files, 1 case, 1 problem\n"


def test_what_is_allowed_reaches_the_specs(stage: Stage, gradcheck: Gradcheck) -> None:
    Path("pyproject.toml").write_text('[tool.gradcheck]\nallow = ["ours"]\n')
    gradcheck("validate", "a.yaml", "--allow", "theirs")
    assert stage.loaded == {"paths": ("a.yaml",), "allow": ("ours", "theirs")}


def test_bad_settings_are_2(stage: Stage, gradcheck: Gradcheck) -> None:
    Path("pyproject.toml").write_text('[tool.gradcheck]\nalow = ["ours"]\n')
    said = gradcheck("validate")
    assert said.code == 2
    assert "allow" in said.err
    assert "pyproject.toml" in said.err
