from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.cli.new_files import NewFiles, write_new

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.yaml"
    assert write_new(path, "one")
    assert not write_new(path, "two")
    assert path.read_text() == "one"


def test_settings_that_cannot_be_changed_are_told(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool]\ngradcheck.allow = ["a"]\n')
    files = NewFiles()
    files.allow(path, ["mine"])
    (line,) = files.told()
    assert 'add allow = ["mine"] to [tool.gradcheck] by hand' in line
    assert "mine" not in path.read_text()
