"""The settings in pyproject.toml, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.spec.settings import Settings, read_settings

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    write(tmp_path, '[tool.gradcheck]\nallow = ["mypkg", "other.layers"]\n')
    write(tmp_path / "a", "[tool.ruff]\nline-length = 100\n")
    below = tmp_path / "a" / "b"
    below.mkdir()
    assert read_settings(below) == Settings(tmp_path.resolve(), ("mypkg", "other.layers"))


def test_without_a_table_nothing_is_allowed(tmp_path: Path) -> None:
    settings = read_settings(tmp_path)
    assert settings.root == tmp_path.resolve()
    assert settings.allow == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.gradcheck]\nalow = []\n", "did you mean `allow`?"),
        ("[tool.gradcheck]\nzzz = 1\n", "known are: allow"),
        ('[tool.gradcheck]\nallow = "mypkg"\n', "must be a list"),
        ("[tool.gradcheck]\nallow = [1]\n", "must be a list"),
        ('[tool.gradcheck]\nallow = ["my pkg"]\n', "names packages"),
        ("[tool]\ngradcheck = 3\n", "must be a table"),
        ("[tool.gradcheck\n", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path)
    assert words in str(caught.value)
    assert "pyproject.toml" in str(caught.value)
