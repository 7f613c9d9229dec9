"""The shipped specs, loaded once in a process for all tests that go through them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.spec import load

if TYPE_CHECKING:
    from gradcheck.model import Case

SPECS = Path(__file__).parents[1] / "specs"


@cache
def shipped() -> tuple[Case, ...]:
    loaded = load([str(SPECS)], allow=["specs.guide"])
    assert not loaded.problems, "\n".join(map(str, loaded.problems))
    return tuple(loaded.cases)


def of_family(family: str) -> list[Case]:
    """The cases of one folder of `specs/`, in the order of the suite."""
    return [case for case in shipped() if Path(case.path).parent.name == family]
