"""Which files and cases the arguments of the command line name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.spec import load
from tests.spec.conftest import Load, ids

if TYPE_CHECKING:
    from pathlib import Path

SPEC = "op: square\ninputs: {x: [2]}\n"


def test_folders_are_searched_in_order(here: Path) -> None:
    for name in ("b/z.yaml", "b/a.yml", "a.yaml", ".git/x.yaml", "b/notes.txt", "b/.hidden.yaml"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(SPEC)
    expected = ["a.yaml::square-2", "b/a.yml::square-2", "b/z.yaml::square-2"]
    assert ids(load(["."])) == expected
    assert ids(load([str(here)])) == expected
    assert ids(load(["./b/../a.yaml", "b", "a.yaml"])) == expected
    assert ids(load(["b", "a.yaml"])) == [*expected[1:], expected[0]]


def test_a_path_outside_is_kept_as_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.yaml").write_text(SPEC)
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    assert ids(load(["../a.yaml"])) == ["../a.yaml::square-2"]


def test_ids_select_cases(load_text: Load) -> None:
    load_text("op: square\nmode: [eager, graph]\ninputs: {x: [2]}\ncases: [{name: a}, {name: b}]")
    assert ids(load(["s.yaml::b"])) == ["s.yaml::b[eager]", "s.yaml::b[graph]"]
    assert ids(load(["s.yaml::b[graph]", "s.yaml::a[eager]"])) == [
        "s.yaml::a[eager]",
        "s.yaml::b[graph]",
    ]
    assert len(ids(load(["s.yaml::b[graph]", "s.yaml"]))) == 4
    for each in ids(load(["s.yaml"])):
        assert ids(load([each])) == [each]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("t.yaml", "did you mean `s.yaml`?"),
        ("nodir/t.yaml", "no folder `nodir`"),
        ("s.yaml::squar-2", "did you mean `s.yaml::square-2`?"),
        ("s.yaml::square-2[xla]", "no case `square-2[xla]`"),
        ("s.yaml::", "not the id of a case"),
        ("t.yaml::square-2", "no such file"),
        ("empty", "holds no specs"),
        ("/dev/null", "neither a file nor a folder"),
        ("a\0b", "no such file"),
        ("x" * 5000, ""),
        ("", "no such file"),
    ],
)
def test_what_cannot_be_found_is_a_problem(here: Path, argument: str, words: str) -> None:
    (here / "s.yaml").write_text(SPEC)
    (here / "empty").mkdir()
    loaded = load([argument])
    (problem,) = loaded.problems
    assert words in f"{problem.message}\n{problem.hint}"
    assert not loaded.cases
