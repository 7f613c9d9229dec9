"""The lessons that come with gradcheck, as somebody meets them who has installed it."""

from __future__ import annotations

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
    assert said.out.count("\n  ") + 1 == len(list(LESSONS.glob("*.yaml")))


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
    code = "specs/guide/02-disconnected.yaml::captured-product"
    said = gradcheck("run", code, "specs/guide/08-models.yaml::functional", "--format", "plain")
    assert (said.code, "2 cases: 1 pass, 1 disconnected (expected)" in said.out) == (0, True)


def test_the_lessons_of_an_installed_package(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel has them inside of the package (tests/test_library.py), not beside it."""
    shutil.copytree(LESSONS, tmp_path / "gradcheck" / "guide")
    monkeypatch.setattr(guide, "__file__", str(tmp_path / "gradcheck" / "cli" / "guide.py"))
    (tmp_path / "gradcheck" / "guide" / "09-more.yaml").write_text("# One more.\nop: exp\n")
    assert "09-more          One more\n" in gradcheck("guide").out


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
