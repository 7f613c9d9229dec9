"""Specs as texts: written to a file in an empty current folder, and loaded."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Case, SpecProblem
from gradcheck.spec import Loaded, load

if TYPE_CHECKING:
    from pathlib import Path

Load = Callable[..., Loaded]
Problem = Callable[..., SpecProblem]
Good = Callable[..., Case]


def ids(loaded: Loaded) -> list[str]:
    """The ids of the cases of specs that have no problem."""
    assert not loaded.problems, "\n".join(map(str, loaded.problems))
    return [case.id for case in loaded.cases]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, made the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def load_text(here: Path) -> Load:
    """Load a text (dedented) or bytes as `s.yaml`."""

    def run(text: str | bytes, *, allow: tuple[str, ...] = (), seed: int | None = None) -> Loaded:
        data = dedent(text).encode() if isinstance(text, str) else text
        (here / "s.yaml").write_bytes(data)
        return load(["s.yaml"], allow=allow, seed=seed)

    return run


@pytest.fixture
def problem(load_text: Load) -> Problem:
    """The one problem of a text, which then has no case; `at` is its line and column."""

    def run(text: str | bytes, at: tuple[int, int], *words: str) -> SpecProblem:
        loaded = load_text(text)
        listing = "\n".join(map(str, loaded.problems))
        assert len(loaded.problems) == 1, listing or "no problem was found"
        assert not loaded.cases
        (found,) = loaded.problems
        assert (found.location.line, found.location.column) == at, listing
        for word in words:
            assert word in f"{found.message}\n{found.hint}", listing
        return found

    return run


@pytest.fixture
def good(load_text: Load) -> Good:
    """The one case of a text that has no problem."""

    def run(text: str, *, allow: tuple[str, ...] = (), seed: int | None = None) -> Case:
        loaded = load_text(text, allow=allow, seed=seed)
        assert not loaded.problems, "\n".join(map(str, loaded.problems))
        (case,) = loaded.cases
        return case

    return run
