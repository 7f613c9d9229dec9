from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import PROBLEM, Gradcheck, Stage
from tests.report.schema_checks import valid


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
    assert stage.loaded == {
        "paths": ("a.yaml",),
        "allow": ("ours", "theirs"),
        "max_cases": 200_000,
    }


def test_bad_settings_are_2(stage: Stage, gradcheck: Gradcheck) -> None:
    Path("pyproject.toml").write_text('[tool.gradcheck]\nalow = ["ours"]\n')
    said = gradcheck("validate")
    assert said.code == 2
    assert "allow" in said.err
    assert "pyproject.toml" in said.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('memory_limit = "4X"', "`memory_limit` in [tool.gradcheck]: "),
        ('format = "htm"', "no report format 'htm': did you mean 'html'?"),
        ('reports = {htm = "x"}', "no report format 'htm': did you mean 'html'?"),
        ("timeout = 0", "above 0"),
    ],
)
def test_settings_that_a_run_would_refuse_are_2(
    stage: Stage, gradcheck: Gradcheck, line: str, told: str
) -> None:
    stage.add("pass-1")
    Path("pyproject.toml").write_text(f"[tool.gradcheck]\n{line}\n")
    said = gradcheck("validate", "specs")
    assert said.code == 2
    assert told in said.err
    assert "pyproject.toml:2: " in said.err
    assert gradcheck("run", "specs").err == said.err


def test_all_of_them_at_once(stage: Stage, gradcheck: Gradcheck) -> None:
    text = '[tool.gradcheck]\nmemory_limit = "4X"\nformat = "htm"\n'
    Path("pyproject.toml").write_text(text)
    said = gradcheck("validate", "specs")
    assert "pyproject.toml:2: " in said.err
    assert "pyproject.toml:3: " in said.err


def test_other_formats(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    stage.problems.append(PROBLEM)
    said = gradcheck("validate", "--format", "github")
    assert said.code == 2
    first, last = said.out.splitlines()
    assert first.startswith("::error file=specs/bad.yaml,line=3,col=12,title=gradcheck%3A spec ")
    assert last == "::notice title=gradcheck::2 files, 1 case, 1 problem"
    said = gradcheck("validate", "--format", "json")
    assert said.code == 2
    (problem,) = valid("problems", said.out)["problems"]
    assert problem["location"] == {"path": "specs/bad.yaml", "line": 3, "column": 12}
    assert gradcheck("validate", "--format", "html").code == 2


def test_forced_colours_are_there_in_a_pipe(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage.add("pass-1")
    stage.problems.append(PROBLEM)
    plain = [gradcheck("validate").out, gradcheck("run").out]
    assert not any("\x1b" in said for said in plain)
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = tmp_path / "report.txt"
    coloured = [gradcheck("validate").out, gradcheck("run").out]
    assert all("\x1b[" in said for said in coloured)
    assert "\x1b[?25l" not in coloured[1], "a bar moves on a terminal alone"
    gradcheck("run", "--format", "table", "--output", str(file))
    assert "\x1b" not in file.read_text(), "a file is no screen"
    monkeypatch.setenv("NO_COLOR", "1")
    assert gradcheck("validate").out == plain[0]
    assert "\x1b" not in gradcheck("run").out
