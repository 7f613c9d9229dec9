"""The project around a folder, by what lies there: nothing is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.start import project as project_module
from gradcheck.start.project import Project

if TYPE_CHECKING:
    from pathlib import Path


def lay(root: Path, *files: str, name: str = "") -> Path:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('it was imported')\n")
    if name:
        (root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
    return root


def names(project: Project) -> list[str]:
    return [module.name for module in project.modules]


def test_the_package_that_is_called_like_the_project(tmp_path: Path) -> None:
    files = ("my_pkg/__init__.py", "my_pkg/a/b.py", "other/__init__.py", "my_pkg/tests/test_x.py")
    root = lay(tmp_path, *files, "my_pkg/conftest.py", "my_pkg/a/x_test.py", name="My-Pkg")
    found = Project.find(root / "my_pkg" / "a", None)
    assert (found.root, found.packages, found.installs) == (root, ("my_pkg",), True)
    assert names(found) == ["my_pkg", "my_pkg.a.b"]


def test_packages_that_lie_there_without_a_project(tmp_path: Path) -> None:
    lay(tmp_path, "one/__init__.py", "two/__init__.py", "tests/__init__.py", "docs/__init__.py")
    found = Project.find(tmp_path, None)
    assert (found.packages, found.installs) == (("one", "two"), False)


def test_single_modules_but_those_of_tools(tmp_path: Path) -> None:
    lay(tmp_path, "swish.py", "setup.py", "conftest.py", "test_swish.py", "not-a-name.py")
    found = Project.find(tmp_path, None)
    assert (found.packages, found.installs) == (("swish",), True)


def test_a_src_layout_that_is_not_installed_says_how(tmp_path: Path) -> None:
    lay(tmp_path, "src/gc_unheard_of/__init__.py", name="gc_unheard_of")
    with pytest.raises(UsageError, match=r"pip install -e \."):
        Project.find(tmp_path, None)


def test_a_src_layout_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, "src/gc_unheard_of/__init__.py", "src/gc_unheard_of/ops.py", name="gc-unheard-of")
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    assert names(Project.find(tmp_path, None)) == ["gc_unheard_of", "gc_unheard_of.ops"]
    assert names(Project.find(tmp_path, "src/gc_unheard_of/ops.py")) == ["gc_unheard_of.ops"]


@pytest.mark.parametrize("asked", ["pkg.sub", "pkg/sub", "./pkg/sub/"])
def test_a_part_is_named_as_it_is_imported_or_by_its_folder(tmp_path: Path, asked: str) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/a.py")
    assert names(Project.find(tmp_path, asked)) == ["pkg.sub", "pkg.sub.a"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [("gc_nowhere", "no package 'gc_nowhere'"), ("a b", "no package"), (None, "gradcheck init")],
)
def test_what_is_not_there_is_told(tmp_path: Path, asked: str | None, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Project.find(tmp_path, asked)


def test_settings_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    with pytest.raises(UsageError, match="cannot be read"):
        Project.find(tmp_path, None)


def test_modules_that_are_too_many_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/a.py", "pkg/b.py", name="pkg")
    assert Project.find(tmp_path, None).cut == ""
    monkeypatch.setattr(project_module, "MOST_MODULES", 2)
    found = Project.find(tmp_path, None)
    assert names(found) == ["pkg", "pkg.a"]
    assert "of 3 modules the first 2" in found.cut
    assert "gradcheck init pkg.b" in found.cut
