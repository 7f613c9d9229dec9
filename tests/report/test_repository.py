from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.repository import is_inside, line_url, quoted, repository_path

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_without_github_the_working_directory_is_the_root() -> None:
    assert repository_path("specs/a.yaml") == "specs/a.yaml"
    assert is_inside("specs/a.yaml")
    assert not is_inside("../specs/a.yaml")
    assert not is_inside("specs/../../a.yaml")
    assert not is_inside("/specs/a.yaml")
    assert line_url("specs/a.yaml", 3) == ""


def test_the_root_is_that_of_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert repository_path("a.yaml") == "sub/a.yaml"
    assert repository_path("../a.yaml") == "a.yaml"
    assert repository_path(str(tmp_path / "b" / "c.py")) == "b/c.py"
    assert repository_path("/elsewhere/a.py") == "/elsewhere/a.py"
    assert not is_inside(repository_path("../../a.py"))


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/mine")
    monkeypatch.setenv("GITHUB_SHA", "abc")
    assert line_url("a b.py", 3) == "https://github.com/me/mine/blob/abc/a%20b.py#L3"
    assert line_url("/opt/a.py", 3) == ""
    assert quoted("a/(b)|\ud800]#c?.py") == "a/%28b%29%7C%3F%5D%23c%3F.py"
