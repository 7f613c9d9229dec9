"""The settings in pyproject.toml, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.spec.setting_keys import KEYS
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
        ("[tool.gradcheck]\nzzz = 1\n", "known are: specs, allow"),
        ('[tool.gradcheck]\nallow = "mypkg"\n', "must be a list"),
        ("[tool.gradcheck]\nallow = [1]\n", "must be a list"),
        ('[tool.gradcheck]\nallow = ["my pkg"]\n', "name packages"),
        ('[tool.gradcheck]\nallow = ["mypkg", "bädpkg"]\n', "'bädpkg' is none"),
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


EVERYTHING = """\
[project]
name = "mine"
jobs = 3

[tool.gradcheck]
specs = ["specs", "more/one.yaml"]
allow = ["mypkg"]
jobs = 2
timeout = 1.5
budget = 20
memory_limit = "2G"
max_cases = 12
seed = 3
format = "plain"
[tool.gradcheck.reports]
json = "out/report.json"
"""


def test_every_key_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, EVERYTHING)
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    root = tmp_path.resolve()
    settings = read_settings(below)
    assert settings == Settings(
        root,
        ("mypkg",),
        12,
        # (They are meant from the folder of the file, wherever one is called.)
        specs=(f"{root}/specs", f"{root}/more/one.yaml"),
        jobs=2,
        timeout=1.5,
        budget=20,
        memory_limit="2G",
        seed=3,
        format="plain",
        reports={"json": f"{root}/out/report.json"},
    )
    monkeypatch.chdir(root)
    assert read_settings(root).specs == ("specs", "more/one.yaml")
    assert settings.place("jobs") == f"{root}/pyproject.toml:8: `jobs` in [tool.gradcheck]"
    assert settings.place("reports").startswith(f"{root}/pyproject.toml:15: ")


def test_the_test_knows_every_key(tmp_path: Path) -> None:
    write(tmp_path, EVERYTHING)
    assert read_settings(tmp_path).places.keys() == KEYS.keys()


def test_all_that_is_wrong_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, '[tool.gradcheck]\n# a comment\njobs = 0\ntime-out = 3\nformat = ""\n')
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path)
    path = tmp_path.resolve() / "pyproject.toml"
    assert str(caught.value).split("\n") == [
        f"{path}:3: `jobs` in [tool.gradcheck] must be a whole number, 1 or more: jobs = 4",
        f"{path}:4: [tool.gradcheck] has no key `time-out`; did you mean `timeout`?",
        f'{path}:5: `format` in [tool.gradcheck] must be the name of a format: format = "plain"',
    ]
