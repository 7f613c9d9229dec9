"""The lessons that come with gradcheck, as somebody meets them who has installed it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli import guide
from gradcheck.spec import load
from gradcheck.spec.settings import read_settings

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Gradcheck

LESSONS = Path(__file__).parents[2] / "specs" / "guide"


def test_the_lessons_are_listed(gradcheck: Gradcheck, snapshot: SnapshotAssertion) -> None:
    said = gradcheck("guide")
    assert (said.code, said.err) == (0, "")
    assert said.out == snapshot
    names = [path.stem for path in sorted(LESSONS.glob("*.yaml"))]
    assert re.findall(r"(?m)^  (\d\d-[\w-]+)  ", said.out) == names


def test_a_copy_is_a_project_that_runs_as_it_is(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = gradcheck("guide", "--copy", "my lessons")
    assert (said.code, said.err) == (0, "")
    assert "cd 'my lessons'\n  gradcheck run\n" in said.out
    there = tmp_path / "my lessons"
    assert not list(there.rglob("__pycache__"))
    for path in LESSONS.glob("*.*"):
        assert (there / "specs/guide" / path.name).read_bytes() == path.read_bytes()
    monkeypatch.chdir(there)
    settings = read_settings(Path.cwd())
    loaded = load(["specs"], allow=settings.allow)
    assert loaded.problems == ()
    assert {Path(case.path).name for case in loaded.cases} == {
        p.name for p in LESSONS.glob("*.yaml")
    }
    code = "specs/guide/06-disconnected.yaml::captured-product"
    said = gradcheck("run", code, "specs/guide/08-models.yaml::functional", "--format", "plain")
    assert (said.code, "2 cases: 1 pass, 1 disconnected (expected)" in said.out) == (0, True)


def test_the_lessons_of_an_installed_package(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel has them inside of the package (tests/test_library.py), not beside it."""
    shutil.copytree(LESSONS, tmp_path / "gradcheck" / "guide")
    monkeypatch.setattr(guide, "__file__", str(tmp_path / "gradcheck" / "cli" / "guide.py"))
    (tmp_path / "gradcheck" / "guide" / "11-more.yaml").write_text("# One more.\nop: exp\n")
    assert "11-more          One more\n" in gradcheck("guide").out


@pytest.mark.parametrize("what", ["file", "folder"])
def test_nothing_is_written_over(gradcheck: Gradcheck, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "mine"
    if what == "file":
        folder.write_text("mine")
    else:
        folder.mkdir()
        (folder / "a").write_text("mine")
    said = gradcheck("guide", "--copy", str(folder))
    assert (said.code, said.out) == (2, "")
    assert "is there already, and not empty: name a new folder" in said.err


def test_an_empty_folder_will_do(gradcheck: Gradcheck, tmp_path: Path) -> None:
    assert gradcheck("guide", "--copy", str(tmp_path)).code == 0


def test_a_folder_that_cannot_be_made(gradcheck: Gradcheck, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = gradcheck("guide", "--copy", str(tmp_path / "file" / "below"))
    assert said.code == 2
    assert "cannot be written: Not a directory" in said.err


@pytest.fixture
def only_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spec of a course with a single lesson, whose claims are that exp' is exp, or zero."""
    home = tmp_path / "gradcheck" / "guide"
    home.mkdir(parents=True)
    monkeypatch.setattr(guide, "__file__", str(tmp_path / "gradcheck" / "cli" / "guide.py"))
    monkeypatch.chdir(tmp_path)
    (home / "01-exp.md").write_text(
        '# Exp\n\nWhat exp does.\n\n```claims\nright: It is exp.\nwrong: "It is zero."\n```\n\n'
        "```explain\ngradcheck explain exp --at x=0\n```\n\n```try\ngradcheck ops exp\n```\n"
    )
    spec = home / "01-exp.yaml"
    spec.write_text(
        "op: exp\nupstream: ones\ninputs: {x: {values: [0, 0]}}\ncases:\n"
        "  - {name: right, gradient: {x: out}}\n"
        "  - {name: wrong, gradient: {x: 0 * x}, expect: mismatch, reason: it is one}\n"
    )
    return spec


def test_a_lesson_explains_runs_and_leads_on(
    gradcheck: Gradcheck, only_lesson: Path, snapshot: SnapshotAssertion
) -> None:
    before = sorted(Path.cwd().rglob("*"))
    said = gradcheck("guide", "exp")
    assert (said.code, said.err) == (0, "")
    assert said.out == snapshot
    assert sorted(Path.cwd().rglob("*")) == before
    del only_lesson


def test_a_case_that_does_not_end_as_the_lesson_says_is_told(
    gradcheck: Gradcheck, only_lesson: Path
) -> None:
    text = only_lesson.read_text()
    only_lesson.write_text(text.replace("{x: out}", "{x: 2 * out}").replace("0 * x", "out"))
    said = gradcheck("guide", "1")
    assert said.code == 1
    assert "  failed  It is exp.\n          -> the case ended with mismatch" in said.out
    assert '  failed  "It is zero."\n          -> the case ended with pass' in said.out
    assert "These did not end as they should: right, wrong." in " ".join(said.out.split())


def test_a_spec_that_is_broken_is_told(gradcheck: Gradcheck, only_lesson: Path) -> None:
    only_lesson.write_text("opp: exp\n")
    said = gradcheck("guide", "1")
    assert said.code == 2
    assert "opp" in said.err


def test_a_lesson_of_the_course_with_code_of_its_own(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder whose own `specs` is a package with a `guide`: it is not taken for ours."""
    package = tmp_path / "specs" / "guide"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    said = gradcheck("guide", "09-custom")
    assert (said.code, said.err) == (0, "")
    assert "-> x: claimed [0.5, 1.46212], measured [0.5, 0.927671]" in said.out
    assert "The spec 09-custom.yaml has 6 cases, and all end as they should." in said.out
    assert said.out.rstrip().endswith("Next: `gradcheck guide 10`, The gradient of a gradient.")


def test_a_lesson_that_is_not_there(gradcheck: Gradcheck) -> None:
    said = gradcheck("guide", "matmull")
    assert (said.code, said.out) == (2, "")
    assert "did you mean 'matmul'?" in said.err


def test_a_copy_is_of_all_lessons(gradcheck: Gradcheck, tmp_path: Path) -> None:
    said = gradcheck("guide", "3", "--copy", str(tmp_path / "new"))
    assert said.code == 2
    assert "name none of them" in said.err
    assert not (tmp_path / "new").exists()
