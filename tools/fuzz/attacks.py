"""One attack of each kind, from a generator of random numbers; what raises has succeeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.cli.app import main
from gradcheck.spec import load
from tools.fuzz.expressions import command
from tools.fuzz.spec_texts import spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random


def explain(random: Random, _folder: Path) -> None:
    """A command that must end in an explanation or in a sentence."""
    words = command(random)
    code = main(words)
    if code not in (0, 2):
        raise AssertionError(f"exit code {code} of {words}")


def specs(random: Random, folder: Path) -> None:
    """A spec that must be read as cases or as problems, each with its place."""
    path = folder / "spec.yaml"
    path.write_text(spec(random), encoding="utf-8", errors="replace")
    loaded = load([str(path)])
    if not loaded.cases and not loaded.problems:
        raise AssertionError("neither cases nor problems")
    for problem in loaded.problems:
        if not problem.message or problem.location.line < 1 or problem.location.column < 1:
            raise AssertionError(f"a problem without its place: {problem}")


ATTACKS: dict[str, Callable[[Random, Path], None]] = {"explain": explain, "specs": specs}
